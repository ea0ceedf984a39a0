// Places a task by its data, as `dep` does, but deals new data out evenly.
//
// RIP paper, section 4.1, draws the node of new data uniformly. Some node then gets much more than its share, and
// the run takes as long as that node. Here untouched data is dealt to the nodes in turn (dealing_order.hpp),
// unless that node already has clearly more than another one. Each task type has its own turn, so that blocks
// with the same number in several arrays meet. If the task has other data too, such as the state of a producer, the
// node that got the last block of this type gets the next one as well, until it has clearly more than another: the
// state then moves once for each run of blocks, not with every block. Data that a task reads and writes counts twice,
// because its bytes move twice (once while it has no home: there is nothing to read). If several nodes have equally
// many bytes of a task, it stays where its last predecessor ended, or goes to the one with the shortest queue.
// Tables (shared_tables.hpp) count only for tasks that have nothing else.
// Regions smaller than a page have no home of their own and do not count.
#pragma once

#include "events/event.hpp"
#include "policy/auto/dealing_order.hpp"
#include "policy/auto/node_shares.hpp"
#include "policy/auto/placed_data.hpp"
#include "policy/auto/shared_tables.hpp"
#include "policy/contract/policy.hpp"
#include "policy/type_table.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

template <class World>
class balanced_placement {
 public:
  using worker = typename World::worker;

  /// How much more than another a node may have been dealt, as a share of the mean; half of the task's data is
  /// always allowed.
  static constexpr double slack = 0.1;

  balanced_placement(const policy_context& context, const shared_tables<World>& tables)
      : team_(context.workers),
        memory_(context.memory),
        tables_(tables),
        order_(context.workers),
        shares_(context.workers),
        dealt_(static_cast<std::size_t>(team_.nodes())),
        states_(static_cast<std::size_t>(team_.size())) {
    for (state& mine : states_) {
      mine.bytes.resize(dealt_.size());
      mine.changed.resize(dealt_.size());
    }
  }

  /// The node for the task. REQUIRES: it has data that can have a home; all of that has a home afterwards. waiting(n)
  /// is the number of tasks queued at node n. `stays`: of equally good nodes, the worker's is best.
  template <class Waiting>
  node_id operator()(task& t, worker& self, bool stays, const Waiting& waiting) {
    const auto& [bytes, changed] = states_[self.id.index()];
    const std::uint64_t nowhere = weigh(t, states_[self.id.index()]);
    const std::uint64_t most = *std::ranges::max_element(bytes);
    node_id chosen;
    if (nowhere > most) {
      chosen = deal(t.type, static_cast<double>(nowhere), most != 0);
    } else if (stays && bytes[self.node.index()] == most) {
      chosen = self.node;
    } else {
      for (node_id n : team_.inhabited()) {
        if (bytes[n.index()] == most && (!chosen || waiting(n) < waiting(chosen))) chosen = n;
      }
    }
    settle(t, chosen, self);
    return chosen;
  }

  /// Whether node `n` has clearly more data than its share, and more than `other`, so that it should give it a block of
  /// so many bytes.
  bool has_more(node_id n, node_id other, std::uint64_t bytes) const {
    return share(n) - share(other) > most_ahead(n, static_cast<double>(bytes));
  }
  /// Called when data moves from one node to another, or was found there.
  void note_moved(node_id from, node_id to, std::uint64_t bytes) {
    dealt_[from.index()].fetch_sub(static_cast<std::int64_t>(bytes), relaxed);
    dealt_[to.index()].fetch_add(static_cast<std::int64_t>(bytes), relaxed);
  }

  /// Makes this node, where the task will run, the home of its data without one.
  void settle(task& t, node_id chosen, worker& self) {
    for (kept_access a : t.access_list()) {
      if (!has_home(a) || !memory_.set_home(a, chosen)) continue;
      self.meter(event::region_placed, {});
      dealt_[chosen.index()].fetch_add(static_cast<std::int64_t>(a.bytes()), relaxed);
    }
  }

 private:
  struct shared_node : World::template shared<std::int32_t> {
    shared_node() : World::template shared<std::int32_t>(-1) {}
  };
  struct alignas(false_sharing_range) state {
    std::vector<std::uint64_t> bytes, changed;  // scratch, by node
  };

  /// Sums the task's bytes by the nodes that serve them, with their weights. Returns the bytes without a home. Tables
  /// are left out, unless there is nothing else.
  std::uint64_t weigh(const task& t, state& scratch) const {
    auto& [bytes, changed] = scratch;
    std::ranges::fill(bytes, 0);
    std::ranges::fill(changed, 0);
    std::uint64_t nowhere = 0;
    bool found = false;
    for (const bool all : {false, true}) {
      for (kept_access a : t.access_list()) {
        if (!has_home(a) || (!all && tables_.is_table(a))) continue;
        nowhere += memory_.add_bytes(a, changes(a.how) ? changed : bytes);
        found = true;
      }
      if (found) break;
    }
    for (std::size_t n = 0; n < bytes.size(); ++n) bytes[n] += weight_of_changed * changed[n];
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      const std::size_t self = team_.served_by()[n].index();
      if (self != n) bytes[self] += std::exchange(bytes[n], 0);
    }
    return nowhere;
  }

  /// `has_others`: the task has data with a home, too.
  node_id deal(std::uint16_t type, double bytes, bool has_others) {
    const std::vector<node_id>& all = team_.inhabited();
    auto& latest = latest_[type];
    node_id turn(has_others ? latest.load(relaxed) : -1);
    if (!turn) turn = order_(turns_[type].fetch_add(1, relaxed));
    const node_id least = *std::ranges::min_element(all, {}, [this](node_id n) { return share(n); });
    const node_id chosen = share(turn) - share(least) <= most_ahead(turn, bytes) ? turn : least;
    if (latest.load(relaxed) != chosen.value) latest.store(chosen.value, relaxed);
    return chosen;
  }
  /// By how much the node may be ahead of another before a block of so many bytes.
  double most_ahead(node_id n, double bytes) const {
    double sum = 0;
    for (node_id each : team_.inhabited()) sum += share(each);
    return std::max(slack * sum / static_cast<double>(team_.inhabited().size()), bytes / shares_.weight(n) / 2);
  }
  /// Bytes dealt to the node, over its weight.
  double share(node_id n) const { return static_cast<double>(dealt_[n.index()].load(relaxed)) / shares_.weight(n); }

  const team& team_;
  const memory_view memory_;
  const shared_tables<World>& tables_;
  const dealing_order order_;
  const node_shares shares_;
  // By node. Below 0 if more has moved away than was dealt, such as data that a thief was the first to touch.
  std::vector<typename World::template shared<std::int64_t>> dealt_;
  type_table<typename World::template shared<std::uint32_t>> turns_;
  type_table<shared_node> latest_;  // the node that got the last block
  std::vector<state> states_;
};

}  // namespace kith
