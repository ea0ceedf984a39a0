// A square plate in tiles, shared by gauss_seidel and red_black. Each tile is contiguous, and has a copy of its four
// edges for its neighbours.
//
// RIP paper, section 5.2: "tile contents contiguous in memory, and halos between the tiles". A task writes
// its tile and the tile's borders, and reads only the neighbours' borders, so neighbours do not wait for
// other users of a tile. The frame around the plate never changes and is no region. The expert placement
// divides the columns of tiles into as many groups of neighbours as there are nodes.
#pragma once

#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "square_tiles.hpp"
#include "worst.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

namespace kith::apps {

/// For programs on tiles. The paper prints no sizes; 24 x 24 tiles of 2 MiB on 32 cores, and 30 iterations,
/// are assumed.
inline constexpr parameter tile_grid_parameters[] = {
    {"size", "1024", "256", "rows and columns of the plate; a multiple of the block", "12288"},
    {"iterations", "30", "10", "iterations", "30"},
    {"block", "128", "32", "rows and columns of a tile", "512"},
};

class tile_grid {
 public:
  enum side : std::uint8_t { top, bottom, left, right };
  static constexpr side sides[] = {top, bottom, left, right};

  /// Each tile keeps `sets` sets of borders.
  tile_grid(const square_tiles& tiles, std::uint64_t seed, int sets)
      : tiles_(tiles),
        seed_(seed),
        sets_(sets),
        cells_(tiles.total(), tiles.area()),
        borders_(tiles.total() * 4 * sets, tiles.edge) {
    for (side s : sides) frame_[s].assign(static_cast<std::size_t>(tiles.edge), s == top ? hot : cold);
  }

  /// Tiles on a side of the plate, and cells on a side of a tile.
  std::int64_t count() const noexcept { return tiles_.count(); }
  std::int64_t edge() const noexcept { return tiles_.edge; }
  std::int64_t size() const noexcept { return tiles_.size; }

  double* tile(std::int64_t i, std::int64_t j) const noexcept { return cells_[i * count() + j]; }
  node home(const target& where, std::int64_t j) const noexcept { return where.of(j, count()); }

  /// The cells beside tile (i, j) on side `s`: the border of the neighbour there, or the frame.
  const double* beside(std::int64_t i, std::int64_t j, side s, int set) const noexcept {
    const tile_index p = neighbour(i, j, s);
    return is_outside(p) ? frame_[s].data() : borders_[border(p.i, p.j, opposite(s), set)];
  }
  /// The accesses of a task that updates tile (i, j) and its borders of set `writes` from the neighbours'
  /// borders of set `reads`.
  access_list accesses(std::int64_t i, std::int64_t j, int reads, int writes) const {
    access_list all;
    all.add(cells_.inout(i * count() + j));
    for (side s : sides) {
      const tile_index p = neighbour(i, j, s);
      if (!is_outside(p)) all.add(borders_.in(border(p.i, p.j, opposite(s), reads)));
    }
    for (side s : sides) all.add(borders_.out(border(i, j, s, writes)));
    return all;
  }
  /// Copies the edges of tile (i, j) to its borders.
  void publish(std::int64_t i, std::int64_t j, int set) const noexcept {
    const double* const t = tile(i, j);
    for (std::int64_t c = 0; c < tiles_.edge; ++c) {
      borders_[border(i, j, top, set)][c] = t[c];
      borders_[border(i, j, bottom, set)][c] = t[(tiles_.edge - 1) * tiles_.edge + c];
      borders_[border(i, j, left, set)][c] = t[c * tiles_.edge];
      borders_[border(i, j, right, set)][c] = t[c * tiles_.edge + tiles_.edge - 1];
    }
  }

  /// Fills each tile in a task of its own: its cells, and all its borders.
  void fill(const target& where, const task_type& type) const {
    where.run([&] {
      for (std::int64_t i = 0; i < count(); ++i) {
        for (std::int64_t j = 0; j < count(); ++j) {
          access_list all;
          all.add(cells_.out(i * count() + j));
          for (int set = 0; set < sets_; ++set) {
            for (side s : sides) all.add(borders_.out(border(i, j, s, set)));
          }
          spawn([this, i, j] { fill(i, j); }, type, home(where, j), all, work{0});
        }
      }
    });
  }

  std::uint64_t plain_bytes() const noexcept {
    return sizeof(double) * static_cast<std::uint64_t>((tiles_.size + 2) * (tiles_.size + 2));
  }
  /// The initial state for a serial program: rows of size() + 2 cells, including the frame.
  std::vector<double> plain() const {
    std::vector<double> all;
    all.reserve(plain_bytes() / sizeof(double));
    for (std::int64_t i = -1; i <= tiles_.size; ++i) {
      for (std::int64_t j = -1; j <= tiles_.size; ++j) {
        const bool inside = i >= 0 && i < tiles_.size && j >= 0 && j < tiles_.size;
        all.push_back(inside ? initial(i, j) : i < 0 ? hot : cold);
      }
    }
    return all;
  }
  /// Compares all cells with such rows.
  verdict compare(const std::vector<double>& expected) const {
    double worst = 0;
    for (std::int64_t i = 0; i < tiles_.size; ++i) {
      for (std::int64_t j = 0; j < tiles_.size; ++j) {
        const double is = tile(i / tiles_.edge, j / tiles_.edge)[i % tiles_.edge * tiles_.edge + j % tiles_.edge];
        worst =
            worst_of(worst, std::fabs(is - expected[static_cast<std::size_t>((i + 1) * (tiles_.size + 2) + j + 1)]));
      }
    }
    char text[160];
    std::snprintf(text, sizeof text, "%lld cells differ from the serial program's by at most %.2g (bound 1e-9)",
                  static_cast<long long>(tiles_.size * tiles_.size), worst);
    return {worst <= 1e-9, text};
  }
  /// The mean of all cells, and the counts.
  std::vector<figure> figures(std::int64_t iterations) const {
    double sum = 0;
    for (std::int64_t b = 0; b < count() * count(); ++b) {
      for (std::int64_t c = 0; c < tiles_.edge * tiles_.edge; ++c) sum += cells_[b][c];
    }
    return {{"cells", tiles_.size * tiles_.size},
            {"tiles", count() * count()},
            {"iterations", iterations},
            {"mean_temperature", sum / static_cast<double>(tiles_.size * tiles_.size)}};
  }
  std::span<std::byte> bytes() const noexcept { return cells_.bytes(); }

 private:
  static constexpr double hot = 100, cold = 0;  // the upper edge of the frame, and the other edges
  struct tile_index {
    std::int64_t i, j;
  };
  static tile_index neighbour(std::int64_t i, std::int64_t j, side s) noexcept {
    switch (s) {
      case top: return {i - 1, j};
      case bottom: return {i + 1, j};
      case left: return {i, j - 1};
      case right: break;
    }
    return {i, j + 1};
  }
  static side opposite(side s) noexcept { return static_cast<side>(s ^ 1); }
  bool is_outside(tile_index p) const noexcept { return p.i < 0 || p.i >= count() || p.j < 0 || p.j >= count(); }
  std::int64_t border(std::int64_t i, std::int64_t j, side s, int set) const noexcept {
    return ((i * count() + j) * sets_ + set) * 4 + s;
  }
  double initial(std::int64_t i, std::int64_t j) const noexcept {
    return 40 * hash_unit(seed_, static_cast<std::uint64_t>(i * tiles_.size + j));
  }
  void fill(std::int64_t i, std::int64_t j) const noexcept {
    double* const t = tile(i, j);
    for (std::int64_t r = 0; r < tiles_.edge; ++r) {
      for (std::int64_t c = 0; c < tiles_.edge; ++c)
        t[r * tiles_.edge + c] = initial(i * tiles_.edge + r, j * tiles_.edge + c);
    }
    for (int set = 0; set < sets_; ++set) publish(i, j, set);
  }

  square_tiles tiles_;
  std::uint64_t seed_;
  int sets_;
  paged<double> cells_;    // a block for each tile, by rows
  paged<double> borders_;  // a block for each side of each tile and set
  std::vector<double> frame_[4];
};

}  // namespace kith::apps
