// The values that the RIP paper prints, by configuration.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kith::tools {

/// A configuration of section 6.
struct rip_place {
  const char* id;       // of the reproduction
  const char* machine;  // of `kith machines`
  const char* way;      // the switch through which one module reaches the others
};
const rip_place& rip_place_of(std::string_view id);

/// `x` is a program, or mean, min or max. None if the paper prints it only in a figure.
std::optional<double> printed_in_rip(std::string_view id, std::string_view series, std::string_view metric,
                                     std::string_view x);
/// The paper's statement where it prints no value; else empty.
std::string said_in_rip(std::string_view id, std::string_view series, std::string_view metric, std::string_view x);

}  // namespace kith::tools
