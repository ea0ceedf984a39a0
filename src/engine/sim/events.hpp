// What happens next: workers by the time at which they go on, equals in the order in which they were put there.
//
// A tournament tree: each worker has at most one time, so that there is a leaf for each, and each inner node has the
// earlier of the two below it. To set a time replays the matches on the way from its leaf to the root. An entry is one
// number (time, order, worker), so that a match is a comparison and a move without a branch, which nobody could predict.
#pragma once

#include "engine/sim/program.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::sim {

class event_queue {
 public:
  static constexpr picoseconds never = ~picoseconds{0};

  /// Nobody is to go on. At most 2^16 workers.
  explicit event_queue(std::size_t workers) : leaves_(workers), nodes_(2 * leaves_, ~entry{0}) {}

  /// The worker goes on at that time, behind those that were set before to go on then too; `never`: it does not.
  void set(std::uint32_t worker, picoseconds at) noexcept {
    std::size_t i = leaves_ + worker;
    entry first = entry{at} << 64 | (order_++ << worker_bits | worker);
    nodes_[i] = first;
    for (; i > 1; i /= 2) {
      const entry other = nodes_[i ^ 1];
      first = other < first ? other : first;
      nodes_[i / 2] = first;
    }
  }
  /// When the first one goes on; `never`: nobody does.
  picoseconds first() const noexcept { return time_of(nodes_[1]); }
  /// REQUIRES: first() is not never.
  std::uint32_t first_worker() const noexcept {
    return static_cast<std::uint32_t>(nodes_[1]) & ((1u << worker_bits) - 1);
  }
  /// When the first of the others goes on.
  picoseconds first_but(std::uint32_t worker) const noexcept {
    picoseconds found = never;
    for (std::size_t i = leaves_ + worker; i > 1; i /= 2) found = std::min(found, time_of(nodes_[i ^ 1]));
    return found;
  }

 private:
  static constexpr unsigned worker_bits = 16;
  __extension__ using entry = unsigned __int128;  // time, number of the call that set it, worker: 64, 48 and 16 bits
  static picoseconds time_of(entry e) noexcept { return static_cast<picoseconds>(e >> 64); }

  std::size_t leaves_;
  // 1 is the root; below node i are 2 i and 2 i + 1; the second half are leaves, at most one level apart.
  std::vector<entry> nodes_;
  std::uint64_t order_ = 0;
};

}  // namespace kith::sim
