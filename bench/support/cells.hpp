// The data that programs name: one cache line for each cell, as systems that track addresses expect of
// data. (Cells of one byte, side by side, cause collisions in the hash tables of some of them.) The cells
// are named but never written.
#pragma once

#include <cstdint>
#include <vector>

namespace kith::bench {

struct alignas(64) cell {
  char bytes[64];
};

template <class Program>
std::vector<cell> cells_of(const Program& program) {
  return std::vector<cell>(static_cast<std::size_t>(program.cells()));
}

}  // namespace kith::bench
