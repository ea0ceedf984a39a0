// The event queue: workers, by the time at which they continue; ties in the order of insertion.
//
// A tournament tree. Each worker has at most one time, so it has one leaf, and each inner node has the earliest of its
// four children. Setting a time replays the matches on the way from its leaf to the root. A match is a comparison of
// one long number (time, order, worker) and conditional moves, without a branch that could not be predicted. The next
// event waits for the matches on that way, which wait for each other; the matches between siblings wait for nothing,
// so that with four children there is less to wait for than with two.
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

  /// No worker has a time yet. At most 2^20 workers.
  explicit event_queue(std::size_t workers)
      : leaves_(leaves_for(workers)), times_(2 * leaves_, never), ranks_(2 * leaves_, ~std::uint64_t{0}) {}

  /// The worker continues at that time, after those that were set earlier for the same time. `never`: it does
  /// not continue.
  void set(std::uint32_t worker, picoseconds time) noexcept {
    std::size_t i = leaves_ + worker;
    entry first = joined(time, order_++ << worker_bits | worker);
    put(i, first);
    for (; i > 1; i /= 4) {
      first = earlier(first, earlier(earlier(at(i ^ 1), at(i ^ 2)), at(i ^ 3)));
      put(i / 4, first);
    }
  }
  /// When the first worker continues; `never` if none does.
  picoseconds first() const noexcept { return times_[1]; }
  /// REQUIRES: first() is not never.
  std::uint32_t first_worker() const noexcept {
    return static_cast<std::uint32_t>(ranks_[1]) & ((1u << worker_bits) - 1);
  }
  /// When the first of the workers other than this one continues.
  picoseconds first_but(std::uint32_t worker) const noexcept {
    picoseconds found = never;
    for (std::size_t i = leaves_ + worker; i > 1; i /= 4)
      found = std::min(found, std::min(std::min(times_[i ^ 1], times_[i ^ 2]), times_[i ^ 3]));
    return found;
  }

 private:
  static constexpr unsigned worker_bits = 20;
  __extension__ using entry = unsigned __int128;  // time and rank
  static entry joined(picoseconds time, std::uint64_t rank) noexcept { return entry{time} << 64 | rank; }
  static entry earlier(entry a, entry b) noexcept { return b < a ? b : a; }
  entry at(std::size_t node) const noexcept { return joined(times_[node], ranks_[node]); }
  void put(std::size_t node, entry e) noexcept {
    times_[node] = static_cast<picoseconds>(e >> 64);
    ranks_[node] = static_cast<std::uint64_t>(e);
  }
  /// The next power of four.
  static std::size_t leaves_for(std::size_t workers) noexcept {
    std::size_t leaves = 1;
    while (leaves < workers) leaves *= 4;
    return leaves;
  }

  std::size_t leaves_;
  // Node 1 is the root; the children of node i are 4 i to 4 i + 3; the second half are the leaves. All of them are on
  // one level, so that the length of the way to the root can be predicted. Some nodes are not used.
  std::vector<picoseconds> times_;
  std::vector<std::uint64_t> ranks_;  // the number of the call that set the time, and the worker: 44 and 20 bits
  std::uint64_t order_ = 0;
};

}  // namespace kith::sim
