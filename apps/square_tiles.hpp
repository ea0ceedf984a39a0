// A square of `size` rows and columns in tiles of `edge`, from --size and --block. For programs on tiles.
#pragma once

#include "parameters.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

namespace kith::apps {

struct square_tiles {
  std::int64_t size, edge;

  /// Throws kith::error unless the size is a multiple of the block.
  square_tiles(const char* app, const arguments& a)
      : size(a.number("size", 1, 1 << 20)), edge(a.number("block", 1, std::min<std::int64_t>(size, 1 << 14))) {
    if (size % edge == 0) return;
    throw error(std::string(app) + ": --size " + std::to_string(size) + " is no multiple of --block " +
                std::to_string(edge));
  }

  /// Tiles on a side, and in all.
  std::int64_t count() const noexcept { return size / edge; }
  std::int64_t total() const noexcept { return count() * count(); }
  /// Entries of a tile, and the cube of its edge.
  std::int64_t area() const noexcept { return edge * edge; }
  double volume() const noexcept { return static_cast<double>(edge * edge * edge); }
};

}  // namespace kith::apps
