// The lower triangle of a symmetric, positive definite matrix in tiles, each stored by columns, and the
// tasks of its Cholesky factorisation. For cholesky and inversion.
#pragma once

#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"
#include "square_tiles.hpp"

#include <algorithm>
#include <functional>

namespace kith::apps {

/// The node of tile (i, j).
using tile_owner = std::function<node(std::int64_t i, std::int64_t j)>;

class lower_tiles {
 public:
  /// Sets OpenBLAS to one thread, because the tasks are the parallelism.
  lower_tiles(const char* app, const arguments&);

  std::int64_t size() const noexcept { return all_.size; }
  std::int64_t edge() const noexcept { return all_.edge; }
  /// Tiles on a side of the matrix, and in the triangle.
  std::int64_t count() const noexcept { return all_.count(); }
  std::int64_t total() const noexcept { return total(all_); }
  static std::int64_t total(const square_tiles& all) noexcept { return all.count() * (all.count() + 1) / 2; }

  double* tile(std::int64_t i, std::int64_t j) const noexcept { return data_[index(i, j)]; }
  auto in(std::int64_t i, std::int64_t j) const noexcept { return data_.in(index(i, j)); }
  auto inout(std::int64_t i, std::int64_t j) const noexcept { return data_.inout(index(i, j)); }
  /// The work of `cubes` times the cube of a tile's edge.
  work flops(double cubes) const noexcept { return work_of(cubes * all_.volume(), rate::dense); }

  /// The matrix that fill() sets. Its diagonal outweighs each row, which makes it positive definite.
  double initial(std::int64_t i, std::int64_t j) const noexcept {
    if (i == j) return static_cast<double>(all_.size);
    return hash_unit(seed_, static_cast<std::uint64_t>(std::max(i, j) * all_.size + std::min(i, j))) - 0.5;
  }
  /// The entry in the tiles at row i, column j <= i.
  double held(std::int64_t i, std::int64_t j) const noexcept {
    return tile(i / all_.edge, j / all_.edge)[i % all_.edge + j % all_.edge * all_.edge];
  }

  /// Sets the matrix, with one task for each tile.
  void fill(const target& where, const tile_owner&, const task_type&) const;
  /// Creates the tasks that replace the matrix A by L, where A = L * transpose(L). RIP paper, listing 1.
  /// Must be called inside a task. The tasks throw kith::error if the matrix is not positive definite.
  void spawn_cholesky(const tile_owner&) const;

  std::span<std::byte> bytes() const noexcept { return data_.bytes(); }

 private:
  std::int64_t index(std::int64_t i, std::int64_t j) const noexcept { return i * (i + 1) / 2 + j; }

  const char* app_;
  square_tiles all_;
  std::uint64_t seed_;
  paged<double> data_;
};

}  // namespace kith::apps
