// What happens next: workers by the time at which they go on, equals in the order in which they were put there.
//
// A tournament tree: each worker has at most one time, so that there is a leaf for each, and each inner node has the earlier
// of the two below it. To set a time replays the matches on the way from its leaf to the root, without a branch that
// depends on their outcome; a heap's sifting mispredicts most of them.
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

  /// Nobody is to go on. At most 2^16 workers.
  explicit event_queue(std::size_t workers) : leaves_(std::bit_ceil(workers)), nodes_(2 * leaves_) {
    for (std::size_t w = 0; w < leaves_; ++w) nodes_[leaves_ + w].worker = w;
  }
  /// The worker goes on at that time, behind those that were set before to go on then too; `never`: it does not.
  void set(std::uint32_t worker, picoseconds at) noexcept {
    std::size_t i = leaves_ + worker;
    match winner{at, order_++ << worker_bits | worker};
    nodes_[i] = winner;
    for (; i > 1; i /= 2) {
      winner = earlier(winner, nodes_[i ^ 1]);
      nodes_[i / 2] = winner;
    }
  }
  /// When the first one goes on; `never`: nobody does.
  picoseconds first() const noexcept { return nodes_[1].at; }
  /// REQUIRES: first() is not never.
  std::uint32_t first_worker() const noexcept {
    return static_cast<std::uint32_t>(nodes_[1].worker & ((1u << worker_bits) - 1));
  }
  /// When the first of the others goes on.
  picoseconds first_but(std::uint32_t worker) const noexcept {
    picoseconds found = never;
    for (std::size_t i = leaves_ + worker; i > 1; i /= 2) found = std::min(found, nodes_[i ^ 1].at);
    return found;
  }

 private:
  static constexpr unsigned worker_bits = 16;
  struct match {
    picoseconds at = never;
    std::uint64_t worker = 0;  // below the number of the call that set it
  };
  static match earlier(const match& a, const match& b) noexcept {
    const bool second = (b.at < a.at) | ((b.at == a.at) & (b.worker < a.worker));
    return {second ? b.at : a.at, second ? b.worker : a.worker};
  }

  std::size_t leaves_;
  std::vector<match> nodes_;  // 1: the root; below node i: 2 i and 2 i + 1
  std::uint64_t order_ = 0;
};

}  // namespace kith::sim
