// The event queue: workers, by the time at which they continue; ties in the order of insertion.
//
// A tournament tree. Each worker has at most one time, so it has one leaf, and each inner node has the earlier
// of its two children. Setting a time replays the matches on the way from its leaf to the root. An entry is one
// number (time, order, worker), so that a match is a comparison and a conditional move, without a branch that
// could not be predicted.
#pragma once

#include "engine/sim/program.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::sim {

class event_queue {
 public:
  static constexpr picoseconds never = ~picoseconds{0};

  /// No worker has a time yet. At most 2^20 workers.
  explicit event_queue(std::size_t workers) : leaves_(std::bit_ceil(workers)), nodes_(2 * leaves_, ~entry{0}) {}

  /// The worker continues at that time, after those that were set earlier for the same time. `never`: it does
  /// not continue.
  void set(std::uint32_t worker, picoseconds time) noexcept {
    std::size_t i = leaves_ + worker;
    entry first = entry{time} << 64 | (order_++ << worker_bits | worker);
    nodes_[i] = first;
    for (; i > 1; i /= 2) {
      const entry other = nodes_[i ^ 1];
      first = other < first ? other : first;
      nodes_[i / 2] = first;
    }
  }
  /// When the first worker continues; `never` if none does.
  picoseconds first() const noexcept { return time_of(nodes_[1]); }
  /// REQUIRES: first() is not never.
  std::uint32_t first_worker() const noexcept {
    return static_cast<std::uint32_t>(nodes_[1]) & ((1u << worker_bits) - 1);
  }
  /// When the first of the workers other than this one continues.
  picoseconds first_but(std::uint32_t worker) const noexcept {
    picoseconds found = never;
    for (std::size_t i = leaves_ + worker; i > 1; i /= 2) found = std::min(found, time_of(nodes_[i ^ 1]));
    return found;
  }

 private:
  static constexpr unsigned worker_bits = 20;
  __extension__ using entry = unsigned __int128;  // time, number of the call that set it, worker: 64, 44 and 20 bits
  static picoseconds time_of(entry e) noexcept { return static_cast<picoseconds>(e >> 64); }

  std::size_t leaves_;
  // Node 1 is the root; the children of node i are 2 i and 2 i + 1; the second half are the leaves. All of them are on
  // one level, so that the length of the way to the root can be predicted.
  std::vector<entry> nodes_;
  std::uint64_t order_ = 0;
};

}  // namespace kith::sim
