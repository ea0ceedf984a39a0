// The queues of the policy `auto`, one for each node, and who looks after the tasks that wait there.
//
// A worker robs another node when that pays, or when the workers there make no progress. Both are seen only by a worker
// that looks. So while tasks wait at a node, a worker of another node watches: it does not sleep when it finds nothing.
// If nobody watches, a push rings for a worker that does, and the last watcher that finds something else to do rings
// for the next one. docs/sleep.md has more.
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/home_queue.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

/// Any worker may call anything; `self` is the calling worker.
template <class World>
class watched_queues {
 public:
  using worker = typename World::worker;

  watched_queues(const policy_context& context, queue_order order)
      : team_(context.workers), watches_(static_cast<std::size_t>(team_.size())) {
    for (int n = 0; n < team_.nodes(); ++n) {
      queues_.push_back(make_queue<World>(context, node_id(n), order));
      rounds_.push_back(team_.nodes_by_distance(node_id(n)));
    }
  }

  shared_queue<World>& operator[](node_id n) const noexcept { return *queues_[n.index()]; }
  /// The number of tasks that wait at node `n`.
  std::int64_t waiting(node_id n) const { return queues_[n.index()]->size(); }
  /// The nodes that have workers, by distance from `n`; n first.
  const std::vector<node_id>& around(node_id n) const noexcept { return rounds_[n.index()]; }

  /// Called by a worker that has found nothing. If tasks wait anywhere, it watches from here on. (Those of its own node
  /// were refused to it.)
  bool watch(worker& self) {
    const bool waits = std::ranges::any_of(around(self.node), [&](node_id n) { return waiting(n) > 0; });
    if (!waits) {
      stop_watching(self);
    } else if (!std::exchange(watches_[self.id.index()].now, true)) {
      watching_.fetch_add(1, relaxed);
    }
    return waits;
  }
  /// Called by a worker that has something else to do than to look.
  void stop_watching(worker& self) {
    const bool watched = std::exchange(watches_[self.id.index()].now, false);
    // acq_rel: pairs with find_watcher(). What was pushed before that is seen here.
    const std::int32_t others = watched ? watching_.fetch_sub(1, acq_rel) - 1 : watching_.load(relaxed);
    if (others != 0 || !self.anybody_sleeps()) return;
    for (node_id victim : around(self.node)) {
      if (waiting(victim) > 0 && ring_elsewhere(victim, self)) return;
    }
  }
  /// Called after a push to node `n` for which nobody was rung. If nobody watches, rings for a worker that will.
  void find_watcher(node_id n, worker& self) {
    // acq_rel: pairs with stop_watching(), which is seen here, or sees the push.
    if (self.anybody_sleeps() && watching_.fetch_add(0, acq_rel) == 0) ring_elsewhere(n, self);
  }

  /// Rings for a worker of a node other than `victim` for which wanted(node) is true, the nearest first. True if one
  /// was asleep.
  template <class Wanted>
  bool ring_elsewhere(node_id victim, worker& self, const Wanted& wanted) const {
    return std::ranges::any_of(around(victim),
                               [&](node_id n) { return n != victim && wanted(n) && self.ring(team_.serving(n)); });
  }
  bool ring_elsewhere(node_id victim, worker& self) const {
    return ring_elsewhere(victim, self, [](node_id) { return true; });
  }

 private:
  struct alignas(false_sharing_range) flag {
    bool now = false;  // this worker is one of `watching_`
  };
  const team& team_;
  std::vector<home_queue<World>> queues_;     // by node; those of nodes without workers stay empty
  std::vector<std::vector<node_id>> rounds_;  // from each node, the others by distance
  std::vector<flag> watches_;
  typename World::template shared<std::int32_t> watching_{0};
};

}  // namespace kith
