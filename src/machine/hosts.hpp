// Machines of equal hosts, whose descriptions can be sized to any number of them.
#pragma once

#include "machine/model.hpp"
#include "machine/toml_text.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace kith {

/// The most nodes for which a machine model has tables.
inline constexpr std::int64_t most_nodes = 1024;
/// The most hosts of a machine whose hosts form a torus.
inline constexpr int most_hosts = 65536;

/// Writes the number of places into a description of equal hosts. Hosts in a torus have one node each; the sides of the
/// torus become as equal as its size allows. If it has more nodes than most_nodes, the description becomes that of one
/// host, and the torus is returned. Throws kith::error, which begins with `path`, if the description is of another
/// machine or would have too many nodes.
std::optional<host_grid> size_to(int places, toml::table& root, const std::string& path);

/// A torus of that many vertices, with the least sum of sides.
grid torus_of(int vertices);

}  // namespace kith
