// Where a program's data lies in a simulated run: each region has an address, in whole chunks, and perhaps nodes that it is
// dealt to from the start.
//
// Regions are dealt in the order in which a program that allocates each of them on its own would: allocation by allocation
// of the recorded one, in these by address.
#pragma once

#include "engine/sim/program.hpp"
#include "machine/model.hpp"
#include "memory/placement.hpp"
#include "task/region.hpp"

#include <cstdint>
#include <vector>

namespace kith::sim {

enum class distribution : std::uint8_t {
  first_touch,
  fine,    // chunks (or pages) in turn
  coarse,  // regions in turn
  colors,  // with the owner of the color of the task that writes it first
};

/// Outlives the regions that it settles.
class arena {
 public:
  arena(const program& p, const machine_model& m, distribution d, std::uint64_t chunk_bytes);
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  /// Makes the program's regions, each with the index of its place in the program, and one; they know where they are.
  void settle(region_table& regions) const;
  std::uint64_t chunk_bytes() const noexcept { return fine_.page_bytes; }
  /// Where a chunk of a region is; none: first touch, or a color, decides.
  node_id node_of(std::uint32_t region, std::uint32_t chunk) const noexcept;

 private:
  std::vector<std::uintptr_t> address_;  // by region
  std::vector<std::uint64_t> bytes_;
  std::vector<std::int16_t> home_;  // by region, for coarse
  placement fine_;                  // of the whole arena
};

}  // namespace kith::sim
