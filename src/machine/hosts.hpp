// Machines of equal hosts, whose descriptions can be sized to any number of them.
#pragma once

#include "machine/toml_text.hpp"

#include <cstdint>
#include <string>

namespace kith {

/// The nodes that a machine model may have.
inline constexpr std::int64_t most_nodes = 1024;

/// Writes the number of places into a description of equal hosts, as if it had been there. Throws kith::error, which
/// begins with `path`, if the description is of another machine or would have too many nodes.
void size_to(int places, toml::table& root, const std::string& path);

}  // namespace kith
