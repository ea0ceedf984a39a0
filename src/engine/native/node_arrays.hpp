// A graph that is known before it runs, as arrays: what a node does, its successors, how many predecessors it has.
//
// One thread builds it; array_run.hpp runs it. Invariant:
//  A1  Between two runs, each join counter is the number of the node's predecessors. The worker that counts it down to
//      zero restores it: no other thread uses it any more in this run. So a run begins without a pass over the nodes.
#pragma once

#include "base/atomic.hpp"

#include <kith/detail/creation.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace kith::native {

/// A predecessor of the node has ended. True if it was the last one: the node is ready.
[[gnu::always_inline]] inline bool count_down(atomic<std::uint32_t>& join, std::uint32_t predecessors) noexcept {
  // If 1 is left, no other thread changes the counter. acquire and acq_rel pair with the fetch_sub of the other
  // predecessors: the node sees what they wrote.
  if (join.load(acquire) != 1 && join.fetch_sub(1, acq_rel) != 1) return false;
  join.store(predecessors, relaxed);  // A1
  return true;
}

class node_arrays {
 public:
  using node = std::uint32_t;
  static constexpr node none = ~node{0};
  static constexpr std::uint16_t no_home = 0xffff;

  /// All that is read of a node when it runs, in half a cache line. Join counters are elsewhere, because other workers
  /// write them.
  struct alignas(32) step {
    detail::task_code code;  // what the node does: code(closure, run)
    void* closure;
    std::uint32_t first = 0, last = 0;  // where its successors are
    std::uint32_t predecessors = 0;     // their number
    std::uint16_t home = no_home;       // the memory node where it ran under the policy
  };
  /// The code of a node that only orders others.
  static detail::outcome nothing(void*, detail::action) { return detail::outcome::ended; }

  std::vector<step> steps;
  std::vector<node> successors;
  std::vector<node> sources;
  std::unique_ptr<atomic<std::uint32_t>[]> join;  // A1
  std::unique_ptr<atomic<node>[]> next;           // links of the lists in array_run
  std::uint64_t homes_in = 0;                     // the engine that homes are known for; 0: none

  bool linked() const noexcept { return linked_; }
  /// Called before the steps or edges change.
  void unlink() noexcept {
    linked_ = false;
    homes_in = 0;
  }
  /// Sorts the edges (before, after) into the arrays. An edge that is given twice counts twice.
  void link(std::span<const std::pair<node, node>> edges) {
    const std::size_t n = steps.size();
    join = std::make_unique<atomic<std::uint32_t>[]>(n);
    next = std::make_unique<atomic<node>[]>(n);
    successors.resize(edges.size());
    for (step& s : steps) s = {s.code, s.closure};
    for (const auto& [before, after] : edges) {
      ++steps[before].last;
      ++steps[after].predecessors;
    }
    std::uint32_t from = 0;
    for (step& s : steps) {
      s.first = from;
      from += s.last;
      s.last = s.first;
    }
    for (const auto& [before, after] : edges) successors[steps[before].last++] = after;
    sources.clear();
    for (node i = 0; i < n; ++i) {
      if (steps[i].predecessors == 0) sources.push_back(i);
    }
    reset_joins();
    linked_ = true;
  }
  /// Establishes A1 after a run by tasks, which count down as well.
  void reset_joins() noexcept {
    for (node i = 0; i < steps.size(); ++i) join[i].store(steps[i].predecessors, relaxed);
  }

 private:
  bool linked_ = false;
};

}  // namespace kith::native
