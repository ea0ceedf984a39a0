// A program that iterates on a plate in tiles (tile_grid.hpp): its data, and the check against a serial program on the
// whole plate. gauss_seidel and red_black define the update of a tile and the serial program.
#pragma once

#include "tile_grid.hpp"

#include <vector>

namespace kith::apps {

class plate_app : public app {
 public:
  std::uint64_t verifying_bytes() const override { return grid_.plain_bytes(); }
  verdict verify() override {
    if (expected_.empty()) {
      expected_ = grid_.plain();
      for (std::int64_t t = 0; t < iterations_; ++t) iterate(expected_, static_cast<std::size_t>(grid_.size()) + 2);
    }
    return grid_.compare(expected_);
  }
  std::vector<figure> figures() const override { return grid_.figures(iterations_); }
  std::span<std::byte> output() override { return grid_.bytes(); }

 protected:
  /// Each tile keeps `sets` sets of borders.
  plate_app(const char* name, const arguments& a, int sets)
      : grid_(square_tiles(name, a), a.seed(), sets), iterations_(a.number("iterations", 1, 1 << 20)) {}

  /// One iteration of the serial program, on rows of `wide` cells, including the frame.
  virtual void iterate(std::vector<double>& u, std::size_t wide) const = 0;
  /// The mean of a cell's four neighbours.
  static double mean(const std::vector<double>& u, std::size_t c, std::size_t wide) noexcept {
    return (u[c - wide] + u[c - 1] + u[c + 1] + u[c + wide]) / 4;
  }

  tile_grid grid_;
  std::int64_t iterations_;

 private:
  std::vector<double> expected_;
};

}  // namespace kith::apps
