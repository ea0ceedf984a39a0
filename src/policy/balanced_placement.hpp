// Where a task goes by its data, as `dep` has it, but with new data dealt out evenly.
//
// RIP paper, section 4.1, where the node of new data is drawn uniformly: some node gets much more than its share then, and
// the run lasts as long as that node. Here data that nobody has touched is dealt to the nodes in turn (dealing_order.hpp), for
// each type of task by itself, so that blocks with the same number of several arrays meet; unless that node has got clearly
// more than another one already. Bytes that a task writes count twice, as in Nanos6: where all neighbours of a block are on another
// node, it stays at home. Of nodes with equally many bytes of a task, the one with the shortest queue is taken. Regions
// smaller than a page have no home of their own and count for nothing.
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/dealing_order.hpp"
#include "recording/event.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

/// A page: smaller data has no home of its own.
inline constexpr std::uint64_t least_placed = 4096;
inline bool has_home(std::uint64_t bytes) noexcept { return bytes >= least_placed; }
inline bool has_home(kept_access a) noexcept { return has_home(a.bytes()); }
/// What a byte of an access counts.
inline std::uint64_t weight_of(mode how) noexcept { return how == mode::in ? 1 : 2; }
/// The bytes of the task's data that can have a home; if there are none, any node is as good.
inline std::uint64_t placed_bytes(const task& t) noexcept {
  std::uint64_t sum = 0;
  for (kept_access a : t.access_list()) sum += has_home(a) ? a.bytes() : 0;
  return sum;
}

template <class World>
class balanced_placement {
 public:
  using worker = typename World::worker;

  /// What a node may have been dealt beyond another, of the mean; half of the task's data in any case.
  static constexpr double slack = 0.1;

  explicit balanced_placement(const policy_context& s)
      : team_(s.workers),
        memory_(s.memory),
        order_(s.workers),
        dealt_(static_cast<std::size_t>(team_.nodes())),
        turns_(different),
        states_(static_cast<std::size_t>(team_.size())) {
    for (state& mine : states_) mine.bytes.resize(dealt_.size());
  }

  /// The node for the task, which has data with a home; all of it has one afterwards. waiting(n): tasks queued at node n.
  template <class Waiting>
  node_id operator()(task& t, worker& self, const Waiting& waiting) {
    std::vector<std::uint64_t>& bytes = states_[self.id.index()].bytes;
    const std::uint64_t nowhere = weigh(t, bytes);
    const std::uint64_t most = *std::ranges::max_element(bytes);
    node_id chosen;
    if (nowhere > most) {
      chosen = deal(t.type, static_cast<double>(nowhere));
    } else {
      for (node_id n : team_.inhabited()) {
        if (bytes[n.index()] == most && (!chosen || waiting(n) < waiting(chosen))) chosen = n;
      }
    }
    settle(t, chosen, self);
    return chosen;
  }

  /// The task runs on this node: data without a home gets it.
  void settle(task& t, node_id chosen, worker& self) {
    for (kept_access a : t.access_list()) {
      if (!has_home(a) || !memory_.place(a, chosen)) continue;
      self.meter(event::region_placed, {});
      dealt_[chosen.index()].fetch_add(a.bytes(), relaxed);
    }
  }

 private:
  static constexpr std::size_t different = 256;  // types; those that fall together take turns together

  struct alignas(false_sharing_range) state {
    std::vector<std::uint64_t> bytes;  // scratch
  };

  /// By the nodes that serve them, written ones twice; returns those that are nowhere yet.
  std::uint64_t weigh(const task& t, std::vector<std::uint64_t>& bytes) const {
    std::ranges::fill(bytes, 0);
    std::uint64_t nowhere = 0;
    for (kept_access a : t.access_list()) {
      if (!has_home(a)) continue;
      nowhere += memory_.add_bytes(a, bytes);
      if (a.how != mode::in) memory_.add_bytes(a, bytes);
    }
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      const std::size_t self = team_.served_by()[n].index();
      if (self != n) bytes[self] += std::exchange(bytes[n], 0);
    }
    return nowhere;
  }

  node_id deal(std::uint16_t type, double bytes) {
    const std::vector<node_id>& all = team_.inhabited();
    const node_id turn = order_(turns_[type % different].fetch_add(1, relaxed));
    node_id least = turn;
    double sum = 0;
    for (node_id n : all) {
      sum += share(n);
      if (share(n) < share(least)) least = n;
    }
    const double allowed = std::max(slack * sum / static_cast<double>(all.size()), bytes / team_.working_at(turn) / 2);
    return share(turn) - share(least) <= allowed ? turn : least;
  }
  /// Bytes dealt to the node, for each of its workers.
  double share(node_id n) const { return static_cast<double>(dealt_[n.index()].load(relaxed)) / team_.working_at(n); }

  const team& team_;
  const memory_view memory_;
  const dealing_order order_;
  std::vector<typename World::template shared<std::uint64_t>> dealt_;
  std::vector<typename World::template shared<std::uint32_t>> turns_;  // by type
  std::vector<state> states_;
};

}  // namespace kith
