// When a node's idle workers rob another node: when they have waited for as long as they would lose by it.
//
// Not in the papers. The rule is that of the ski rental problem: if it is not known how long something is needed,
// renting until the rent paid equals the price, and then buying, costs at most twice the least possible. Waiting is the
// rent. The price is the time that the task takes longer elsewhere, and that bringing back what it wrote takes
// (task_times.hpp), divided by the share of thefts that were useful. A theft was not useful if the thief finds tasks of
// its own node waiting afterwards: it could have waited for them. The price is at least the share of thefts that were
// not useful, times a task's time: where thefts have been useful, a long wait only loses time. Time is counted in tasks
// that the victim's workers begin. If several times as many wait, the queue will outlast the wait, and the theft is
// made at once. All workers of the thief's node pay the rent. If they are more than the victim's workers, the wait is
// shorter by that ratio: a large socket does not idle until each worker of a small one has begun a task.
//
// Two waits count, and the longer one decides. That of a node began when one of its workers found no task there; it
// ends when a task is queued at the node. That of a worker began when it found none there itself and first saw that
// tasks wait at the victim; it ends when the worker takes a task from a queue (not when it runs halves of joins, or its
// own children). So a worker that finds nothing pays its own rent, also while its node gets a few tasks that others
// take. It counts only if a theft, with what has to come back and with those that are of no use, loses no more than the
// time of one of the victim's tasks. Tasks that lose more are better run where their data is, as long as the thief's
// node has anything to do.
#pragma once

#include "policy/auto/task_times.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_options.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith {

/// Any worker may call anything; `self` is the calling worker.
template <class World>
class delayed_theft {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{
      number("caution", 1, 0, 1000,
             "a node is robbed by workers that have waited for this many times what a task loses elsewhere"),
  };

  delayed_theft(const policy_context& context, const policy_options& given)
      : team_(context.workers),
        caution_(static_cast<float>(given.number("caution"))),
        nodes_(static_cast<std::size_t>(team_.nodes())),
        states_(static_cast<std::size_t>(team_.size())) {
    for (node_state& n : nodes_) n.begun_before = std::vector<count>(nodes_.size());
    for (state& each : states_) each.views.resize(nodes_.size());
  }

  /// Called when a task was queued at the node.
  void fed(node_id n) {
    auto& fed = nodes_[n.index()].fed;
    if (!fed.load(relaxed)) fed.store(true, relaxed);
  }
  /// Called when a worker of the node finds no task there from now on.
  void begin_waiting(node_id n) {
    node_state& here = nodes_[n.index()];
    if (!here.fed.load(relaxed)) return;
    for (node_id other : team_.inhabited()) here.begun_before[other.index()].store(begun_at(other), relaxed);
    here.fed.store(false, relaxed);
  }
  /// Called when the worker has found no task at its node, and looks at node `victim`, where tasks wait.
  void sees_waiting(node_id victim, worker& self) {
    state& mine = states_[self.id.index()];
    view& there = mine.views[victim.index()];
    if (std::exchange(there.wait, mine.wait) != mine.wait) there.begun_before = begun_at(victim);
  }
  /// Called when the worker begins a task with data, of its own node or stolen from another.
  void begins(worker& self, bool stolen) {
    state& mine = states_[self.id.index()];
    mine.begun.store(mine.begun.load(relaxed) + 1, relaxed);
    mine.away = stolen;
    ++mine.wait;
    if (!stolen) ++mine.own;
  }
  /// Called when the worker has taken a task without data from a queue.
  void begins_dataless(worker& self) { ++states_[self.id.index()].wait; }
  /// Called when the worker looks for a task again. `own_wait`: tasks of its own node wait; used if it was stealing.
  void returns(worker& self, bool own_wait) {
    if (!std::exchange(states_[self.id.index()].away, false)) return;
    nodes_[self.node.index()].missed.add(own_wait);
  }

  /// Whether any worker of node `thief` should run a task of this type that waits at `victim` with others, `waiting` in
  /// all. They must take the workers there longer than the task loses elsewhere.
  bool pays(std::uint16_t type, node_id victim, node_id thief, std::int64_t waiting) const {
    if (nodes_[thief.index()].fed.load(relaxed)) return false;
    return pays_after(waited(victim, thief), type, waiting, price(type, victim, thief));
  }
  /// As pays(), for a worker that has called sees_waiting() for the victim.
  bool pays_for(const worker& self, std::uint16_t type, node_id victim, std::int64_t waiting) const {
    const cost c = price(type, victim, self.node);
    const bool own_counts = c.each <= most_alone, node_waits = !nodes_[self.node.index()].fed.load(relaxed);
    if (!own_counts && !node_waits) return false;
    const std::uint32_t own =
        own_counts ? begun_at(victim) - states_[self.id.index()].views[victim.index()].begun_before : 0;
    const std::uint32_t of_node = node_waits ? waited(victim, self.node) : 0;
    return pays_after(std::max(own, of_node), type, waiting, c);
  }
  /// Whether so many tasks wait at `victim` that a worker of node `thief` need not wait before it runs one of this
  /// type.
  bool pays_at_once(std::uint16_t type, node_id victim, node_id thief, std::int64_t waiting) const {
    return outlasts(type, waiting, price(type, victim, thief));
  }
  /// Called when the worker looks at node `victim`, where tasks wait, and gets none. True if it has done so many times
  /// in a row, and no worker of that node has begun a task meanwhile: all of them may be in long tasks, or blocked. The
  /// worker then takes one, whatever the price, until it finds a task of its own node.
  bool makes_no_progress(node_id victim, worker& self) {
    state& mine = states_[self.id.index()];
    view& there = mine.views[victim.index()];
    const std::uint32_t now = begun_at(victim) + mine.own;
    if (std::exchange(there.begun, now) != now) there.looks = 0;
    if (there.looks < most_looks) ++there.looks;
    return there.looks == most_looks;
  }

  /// Adds the time of a task of this type with `bytes` of data, of which `traffic` move if it is stolen. It ran at
  /// `ran_at`; most of its data is at `home`.
  void ran(std::uint16_t type, std::uint64_t bytes, std::uint64_t traffic, std::uint64_t nanoseconds, node_id ran_at,
           node_id home) {
    times_.note_traffic(type, bytes, traffic);
    if (ran_at != home) {
      times_.ran_far(type, bytes, nanoseconds, team_.distance(ran_at, home));
      return;
    }
    times_.ran_near(type, bytes, nanoseconds);
    nodes_[home.index()].time.add(static_cast<float>(nanoseconds));
  }

 private:
  using count = typename World::template shared<std::uint32_t>;
  static constexpr float least_price = 0.25F;  // in times of a task of the victim
  static constexpr float most_alone = 1;       // likewise: what a theft may lose for which a worker's own wait counts
  static constexpr float certain = 4;          // a queue of so many waits will outlast one
  static constexpr float least_useful = 0.2F;  // of all thefts: a node whose thieves all miss tasks still learns
  static constexpr std::uint32_t most_looks = 256;

  /// What a worker has seen of a node.
  struct view {
    std::uint32_t begun = 0;         // tasks by the workers of the node, and own ones by this worker, at its last look
    std::uint32_t looks = 0;         // in a row that have seen the same number
    std::uint32_t wait = 0;          // the latest wait of this worker in which it saw tasks waiting there
    std::uint32_t begun_before = 0;  // tasks by the workers of the node when it first saw them in that wait
  };
  struct alignas(false_sharing_range) state {
    count begun{0};  // tasks with data; written by this worker only
    bool away = false;
    std::uint32_t wait = 1;   // the number of its own wait; grows when it takes a task
    std::uint32_t own = 0;    // tasks with data that were not stolen
    std::vector<view> views;  // by node
  };
  struct alignas(false_sharing_range) node_state {
    // `fed`: whether a task was queued since a worker of the node looked in vain. If not, `begun_before` says how many
    // tasks the workers of each node had begun at that time.
    typename World::template shared<bool> fed{false};
    std::vector<count> begun_before;
    running_mean<World> time;  // nanoseconds of the tasks that ran there, on data of the node
    // The share of thieves that found tasks of their own node waiting when they returned; the last 8 count most. Starts
    // at half.
    running_share<World> missed{0.5F};
  };

  /// What a task of this type loses at `thief`, and how long thieves have to wait, in tasks that the workers of
  /// `victim` begin; and what a useful theft loses in all, in times of such a task.
  struct cost {
    float lost, wait, each;
  };
  cost price(std::uint16_t type, node_id victim, node_id thief) const {
    const auto working = static_cast<float>(team_.working_at(victim));
    const float idle_for_each = std::max(static_cast<float>(team_.working_at(thief)) / working, 1.0F);
    const float lost = times_.longer(type, team_.distance(thief, victim)) * relative_time(type, victim);
    const float missed = nodes_[thief.index()].missed.get();
    const float each = lost * times_.traffic(type) / std::max(1 - missed, least_useful);
    return {lost * working, caution_ * std::max({each, missed, least_price}) * working / idle_for_each, each};
  }
  bool pays_after(std::uint32_t waited, std::uint16_t type, std::int64_t waiting, const cost& c) const {
    if (static_cast<float>(waiting) <= c.lost) return false;
    return static_cast<float>(waited) + 1 > c.wait || outlasts(type, waiting, c);
  }
  /// Whether some of the waiting tasks will be left after the wait. Not before a task of this type was timed.
  bool outlasts(std::uint16_t type, std::int64_t waiting, const cost& c) const {
    return static_cast<float>(waiting) > std::max(c.lost, certain * c.wait) && times_.time(type) != 0;
  }
  /// The time of a task of this type over that of the tasks which the node has run lately; 1 at most, because a longer
  /// one keeps a worker there for as long itself.
  float relative_time(std::uint16_t type, node_id n) const {
    const float of_type = times_.time(type), of_node = nodes_[n.index()].time.get();
    return of_type == 0 || of_node == 0 ? 1 : std::min(of_type / of_node, 1.0F);
  }
  std::uint32_t begun_at(node_id n) const {
    std::uint32_t sum = 0;
    for (worker_id w : team_.workers_at(n)) sum += states_[w.index()].begun.load(relaxed);
    return sum;
  }
  /// How many tasks the workers of `victim` have begun since node `thief` waits. REQUIRES: it does.
  std::uint32_t waited(node_id victim, node_id thief) const {
    return begun_at(victim) - nodes_[thief.index()].begun_before[victim.index()].load(relaxed);
  }

  const team& team_;
  float caution_;
  task_times<World> times_;
  std::vector<node_state> nodes_;
  std::vector<state> states_;
};

}  // namespace kith
