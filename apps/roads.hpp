// Road networks that are divided into regions: generated, or from files of the DIMACS challenge on shortest paths. For
// routing.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kith::apps {

struct road {
  std::uint32_t from, to, length;
};

/// INVARIANTS: no road leaves a region; places of region r are numbered from first[r] on.
struct road_map {
  std::vector<road> roads;           // by `from`
  std::vector<std::uint32_t> first;  // by region, and their total
};

/// A grid of regions of edge x edge crossings, with roads of differing length between neighbours; some roads
/// are missing.
road_map generated_roads(std::int64_t regions, std::int64_t edge, std::uint64_t seed);

/// A graph of "p sp PLACES ROADS" and "a FROM TO LENGTH" lines, cut into regions of equal numbers of places in the
/// order of the file; roads between regions are left out. Throws kith::error, with file and line, for any other file.
road_map read_roads(const std::string& path, std::int64_t regions);

}  // namespace kith::apps
