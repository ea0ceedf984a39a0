// Where in the program's source a construct is.
#pragma once

#include "openmp/kmpc/types.hpp"

#include <optional>
#include <string_view>

namespace kith::openmp::kmpc {

struct source_location {
  std::string_view file, function, line;
};
/// Nothing: the program has been compiled without -g.
std::optional<source_location> source_location_of(const location*) noexcept;

}  // namespace kith::openmp::kmpc
