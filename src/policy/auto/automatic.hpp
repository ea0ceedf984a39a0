// `auto`: finds at run time what a program gains from: homes for its data, evenly dealt, and when to steal.
//
// It starts from `dep` (RIP paper, section 4.1) and decides by itself what the programmer or chance decides
// there:
//  * A task without data of at least a page is queued and stolen as by `steal`. Until the first task with data,
//    and if one node has all workers (list.cpp), `auto` is `steal`.
//  * Every other task waits at the node where most of its data is, without tables that are in all caches
//    (shared_tables.hpp). Untouched data is dealt out evenly: in runs, if tasks initialise it (initial_runs.hpp), else
//    block by block (balanced_placement.hpp).
//  * A worker that has ended a task continues with one that this made ready, if that belongs to its node, or if the
//    worker was the last to write what that task writes and it does not read more at its home (shared_tables.hpp has
//    the exception), or if nothing waits at its node, and so much there that thieves would not wait. The others are
//    queued in the order of their creation.
//  * Of tasks that one has made ready together, a feeder of many others is run next (feeders.hpp).
//  * A node runs no more chains of tasks at once than its caches hold, and takes the task queued last, if that
//    was measured to be faster (chain_bound.hpp, hot_end.hpp).
//  * A worker that finds tasks with data and tasks without runs as many of each.
//  * Among its own tasks and those of its node, a worker takes those of the highest priority first.
//  * A node is robbed when idle workers have waited for as long as they would lose by it (delayed_theft.hpp,
//    watched_queues.hpp).
//  * Data moves to a node whose tasks use or overwrite it again and again (moved_data.hpp).
//  * With window=auto, the first tasks are partitioned as by `rip-dep` (section 4.3.1).
// docs/auto.md has its goals and its results.
#pragma once

#include "partition/windows.hpp"
#include "policy/auto/balanced_placement.hpp"
#include "policy/auto/chain_bound.hpp"
#include "policy/auto/delayed_theft.hpp"
#include "policy/auto/explanation.hpp"
#include "policy/auto/hot_end.hpp"
#include "policy/auto/initial_runs.hpp"
#include "policy/auto/judged_types.hpp"
#include "policy/auto/moved_data.hpp"
#include "policy/auto/shared_tables.hpp"
#include "policy/auto/watched_queues.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/home_queue.hpp"
#include "policy/partition_targets.hpp"
#include "policy/steal.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <optional>
#include <vector>

namespace kith {

template <class World>
class automatic final : public policy<World>, public observer<World> {
 public:
  using worker = typename World::worker;

  static constexpr auto options = joined(
      delayed_theft<World>::options, initial_runs<World>::options, moved_data<World>::options,
      chain_bound<World>::options, hot_end<World>::options,
      std::array{
          ready_order,
          one_of(
              "keeps", "feeder|oldest",
              "of tasks made ready together, the worker runs next: a feeder of many others, or the one created first"),
          one_of("window", "off|auto", "auto: the first tasks are partitioned as a graph, as by rip-dep")});
  static constexpr policy_entry about{
      .name = "auto",
      .paper = "RIP",
      .section = "4.1, with differences",
      .summary = "a task runs where its data is, evenly dealt; idle workers steal where it pays",
      .options = options,
      .explain = explain_automatic<World>,
  };

  automatic(const policy_context& context, const policy_options& given)
      : team_(context.workers),
        memory_(context.memory),
        keeps_feeders_(given.is("keeps", "feeder")),
        dataless_(context, policy_options(keeps_feeders_ ? "steal:follows=own,keeps=feeder" : "steal:follows=own",
                                          steal<World>::options)),
        feeders_(dataless_.feeding()),
        tables_(context),
        place_(context, tables_),
        runs_(context, given),
        moves_(context, given, tables_, place_),
        thefts_(context, given),
        chains_(context, given, tables_),
        ends_(context, order_in(given), given),
        queues_(context, order_in(given)),
        states_(static_cast<std::size_t>(team_.size())),
        types_(team_.nodes()) {
    if (given.is("window", "off")) return;
    windows_.emplace(partition::window_rules{.first_method = partition::available(partition::method::scotch)},
                     targets_on(team_), context.regions, team_.size(), team_.everybody(),
                     [this](task& t, std::int32_t part, worker& self) { send(t, node_id(part), self, false); });
  }

  typename policy<World>::data_needs needs() const override { return {.homes = true, .writers = true}; }
  kith::observer<World>* observer() noexcept override { return this; }
  typename kith::observer<World>::subscriptions subscribes_to() const override {
    return {.created = windows_.has_value() || runs_.deals(),
            .ran = true,
            .idle = true,
            .every_ready = windows_.has_value()};
  }

  void created(task& t, worker& self) override {
    if (!has_data(&t)) return;
    if (windows_) {
      note_data();
      windows_->add(t, self);
    } else if (runs_.open() && !runs_.initialises(t)) {
      try {
        runs_.deal(self, sender(self));
      } catch (const std::bad_alloc&) {  // no reason for this creation to fail: the others are still held
      }
    }
  }
  void waiting(worker& self) override {
    if (windows_) windows_->close(self);
    if (runs_.open()) runs_.deal(self, sender(self));
  }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason why) override {
    if (!keeps_feeders_ || why != ready_reason::completion) return queue_ready(tasks, self, why);
    feeders_.ended(tasks, self);
    task* now = queue_ready(tasks, self, why);
    if (now != nullptr) feeders_.begins(*now, self);
    return now;
  }
  poll_result next(worker& self) override {
    if (!data_seen_.load(relaxed)) return dataless_.next(self);
    if (!keeps_feeders_) return take(self);
    feeders_.ended({}, self);
    const poll_result found = take(self);
    if (found.work != nullptr) feeders_.begins(*found.work, self);
    return found;
  }

  void idle(worker& self) override {
    chains_.end_chain(self);
    ring_for_room(self);
    queues_.stop_watching(self);
  }

  void found_elsewhere(const region& r, node_id assumed, node_id actual) override {
    const std::uint64_t bytes = r.bytes.load(relaxed);
    if (has_home(bytes)) place_.note_moved(assumed, actual, bytes);
  }

  void ran(const task& t, worker& self, std::uint64_t nanoseconds) override {
    const std::uint64_t bytes = placed_bytes(t);
    if (bytes == 0 || states_[self.id.index()].runs != &t) return;
    ends_.ran(t, self, nanoseconds);
    if (chains_.ran(t, self, nanoseconds)) wake_for(self.node, self);
    const node_id from = states_[self.id.index()].robbed;
    thefts_.ran(t.type, bytes, traffic_bytes(t), nanoseconds, self.node, from ? from : self.node);
    ring_for_thief(self.node, self);
  }

 private:
  static constexpr std::int32_t most_lead = 32;
  struct alignas(false_sharing_range) state {
    // The last task with data that the worker was given. That task may be suspended, and other tasks may run on top of
    // it.
    const task* runs = nullptr;
    node_id robbed;         // the node to which it belongs, if not the worker's own
    std::int32_t lead = 0;  // how many more tasks with data than tasks without it has begun
  };

  task* queue_ready(std::span<task* const> tasks, worker& self, ready_reason why) {
    if (std::ranges::none_of(tasks, has_data)) {
      note_dataless();
      task* now = dataless_.ready(tasks, self, why);
      if (now != nullptr && is_outranked(*now, self)) now = dataless_.ready({&now, 1}, self, ready_reason::arrival);
      if (now != nullptr && why == ready_reason::completion) idle(self);
      return now;
    }
    note_data();
    if (why == ready_reason::creation && tasks.size() == 1 && !windows_ && !tasks.front()->has_level() &&
        runs_.initialises(*tasks.front())) {
      runs_.hold(*tasks.front(), self, sender(self));
      return nullptr;
    }
    if (std::ranges::none_of(tasks, [](const task* t) { return t->has_level(); })) [[likely]] {
      return queue_all(tasks, self, why, nullptr);
    }
    // Sorted before any of them is queued, because other workers may run a task as soon as it is queued.
    std::array<std::vector<task*>, task::levels> by_level;
    for (task* t : tasks) by_level[static_cast<std::size_t>(t->level())].push_back(t);
    task* now = nullptr;
    for (const std::vector<task*>& level : by_level) now = queue_all(level, self, why, now);
    return now;
  }

  /// While the worker finds both, it runs as many tasks without data as tasks with data, because the former leave the
  /// memory to others. If it has begun fewer without data, it takes one of these: the newest of its own, or another
  /// worker's. Otherwise it takes one with data, of its node. If there is neither, it takes tasks of other nodes.
  poll_result take(worker& self) {
    chains_.end_chain(self);
    auto& queue = queues_[self.node];
    thefts_.returns(self, queue.size() > 0);
    const bool levels = uses_levels(self);
    const std::int32_t lead = states_[self.id.index()].lead;
    const bool node_first = levels ? queue.highest() < dataless_.own_level(self) : lead < 0;
    if (!node_first) {
      if (task* own = dataless_.take_own(self)) return ring_and_return_dataless(*own, self);
      if (!levels && lead > 0 && queue.size() > 0 && dataless_seen_.load(relaxed)) {
        if (const poll_result polled = dataless_.rob(self); polled.work != nullptr)
          return ring_and_return_dataless(*polled.work, self);
      }
    }
    if (task* t = take_from(queue, self)) {
      begin(*t, self);
      chains_.begin_chain(*t, self);
      types_.taken(self.node, t->type);
      if (self.anybody_sleeps()) {
        if (queue.size() == 0) thefts_.begin_waiting(self.node);  // its other workers wait from here on
        ring_for_thief(self.node, self);
      }
      return ring_and_return(*t, self);
    }
    if (node_first) {
      if (task* own = dataless_.take_own(self)) return ring_and_return_dataless(*own, self);
    }
    if (const poll_result polled = dataless_.rob(self); polled.work != nullptr) {
      return ring_and_return_dataless(*polled.work, self);
    } else if (polled.kind != poll_result::empty && !runs_.holds_any()) {
      return polled;
    }
    thefts_.begin_waiting(self.node);
    if (task* t = rob(self)) return ring_and_return(*t, self);
    if (runs_.holds_any()) {
      if (!runs_.starves(self)) return {poll_result::watch};
      runs_.deal(self, sender(self));
      return {poll_result::retry};
    }
    const bool watches = queues_.watch(self) || (windows_ && windows_->starves(self));
    return {watches ? poll_result::watch : poll_result::empty};
  }

  /// Takes a task of the worker's node. Null if there is none, or if the bound on chains lets none begin. That gives
  /// way if no other task begins: all chains that run may be blocked by one that it keeps from starting.
  task* take_from(shared_queue<World>& queue, worker& self) {
    const queue_end end = ends_.choose(types_.last(self.node), queue.size(), self);
    if (task* t = queue.pop(self, [&](const task& one) { return chains_.may_begin(one, self); }, end)) return t;
    if (queue.size() == 0 || !thefts_.makes_no_progress(self.node, self)) return nullptr;
    return queue.pop(self, [](const task&) { return true; }, end);
  }

  /// Rings once for each task that waits at the node, while a worker there sleeps.
  void wake_for(node_id n, worker& self) {
    for (std::int64_t waiting = queues_.waiting(n); waiting > 0 && self.ring(team_.serving(n)); --waiting) {
    }
  }
  /// Must come before the push: the push wakes a worker that looked while the flag was unset.
  void note_data() {
    if (!data_seen_.load(relaxed)) data_seen_.store(true, relaxed);
  }
  void note_dataless() {
    if (!dataless_seen_.load(relaxed)) dataless_seen_.store(true, relaxed);
  }
  /// Returns a task that take() has found; the worker's last chain has ended. If the bound has kept tasks of its node
  /// from starting, rings for one of them.
  poll_result ring_and_return(task& t, worker& self) {
    ring_for_room(self);
    queues_.stop_watching(self);
    return poll_result::got(t);
  }
  /// As ring_and_return(), for a task without data, which it counts.
  poll_result ring_and_return_dataless(task& t, worker& self) {
    std::int32_t& lead = states_[self.id.index()].lead;
    lead = std::max(lead - 1, -most_lead);
    thefts_.begins_dataless(self);
    return ring_and_return(t, self);
  }
  /// While tasks wait at node `victim`, rings for a worker for which it pays to rob it; that rings for the next one
  /// when it has. A theft may start to pay later, when its cost or the next task is known. True if one was asleep.
  bool ring_for_thief(node_id victim, std::uint16_t type, worker& self) {
    return queues_.waiting(victim) > 0 && self.anybody_sleeps() && queues_.ring_elsewhere(victim, self, [&](node_id n) {
      return thefts_.pays(type, victim, n, queues_.waiting(victim));
    });
  }
  bool ring_for_thief(node_id victim, worker& self) { return ring_for_thief(victim, types_.judged(victim), self); }
  void ring_for_room(worker& self) {
    if (queues_.waiting(self.node) > 0 && chains_.freed(self.node)) self.ring(team_.serving(self.node));
  }

  /// A node of a graph has no data while it is explored.
  static bool has_data(const task* t) noexcept { return t->exploring == 0 && placed_bytes(*t) != 0; }

  /// Whether the tasks that the worker sees may have several levels.
  bool uses_levels(const worker& self) const { return levels_seen_.load(relaxed) || dataless_.has_levels(self); }
  /// Whether one of them has a higher level than `t`.
  bool is_outranked(const task& t, const worker& self) const {
    return uses_levels(self) && (queues_[self.node].highest() < t.level() || dataless_.own_level(self) < t.level());
  }

  /// Queues the tasks. If `now` is null, may keep one of them for the worker to run next, and returns it; else returns
  /// `now`.
  task* queue_all(std::span<task* const> tasks, worker& self, ready_reason why, task* now) {
    const bool keeps = why == ready_reason::completion;
    const auto queue_one = [&](task* t) {
      if (has_data(t)) {
        if (task* kept = queue(*t, self, keeps && now == nullptr)) now = kept;
      } else if (keeps && now == nullptr && !is_outranked(*t, self)) {
        now = t;
        idle(self);
      } else {
        note_dataless();
        dataless_.ready({&t, 1}, self, ready_reason::arrival);
      }
    };
    if (!keeps) {
      for (task* t : tasks) queue_one(t);
      return now;
    }
    if (tasks.empty()) return now;
    // Successors come in list order, the last created first; they are queued in the order of creation.
    const std::size_t oldest = tasks.size() - 1, first = keeps_feeders_ ? feeders_.choose(tasks, oldest) : oldest;
    queue_one(tasks[first]);
    for (std::size_t i = tasks.size(); i-- > 0;) {
      if (i != first) queue_one(tasks[i]);
    }
    return now;
  }

  /// As send(), unless the task's window keeps it.
  task* queue(task& t, worker& self, bool keeps) {
    using answer = typename partition::windows<World>::answer;
    std::int32_t part = -1;
    if (windows_ && windows_->answer_for(t, self, part) == answer::held) return nullptr;
    return send(t, node_id(part), self, keeps);
  }

  /// Queues the initial tasks that are dealt.
  auto sender(worker& self) {
    return [this, &self](task& t, node_id to) { send(t, to, self, false); };
  }

  /// Queues the task at node `to`, or, if there is none, at a node chosen by its data. If `keeps` and the task
  /// belongs here, or to the node that was robbed of its predecessor, returns it instead.
  task* send(task& t, node_id to, worker& self, bool keeps) {
    if (to) {
      place_.settle(t, to, self);
      if (windows_) self.meter(event::task_partitioned, {});
    } else {
      tables_.counts(t);
      to = place_(t, self, keeps, [this](node_id n) { return queues_.waiting(n); });
    }
    if (t.has_level()) [[unlikely]]
      levels_seen_.store(true, relaxed);
    if (keeps && (to == self.node || is_better_here(t, to, self)) && !is_outranked(t, self) &&
        chains_.try_continue(t, self)) {
      begin(t, self, to);
      ends_.note_unmeasured(self);
      return &t;
    }
    types_.queued(to, t.type);
    thefts_.fed(to);
    const std::uint16_t type = t.type;
    const bool has_room = chains_.has_room(t, to);
    if (queues_[to].push(t, self) && has_room) return nullptr;
    if (!ring_for_thief(to, type, self)) queues_.find_watcher(to, self);
    return nullptr;
  }

  /// Whether a worker continues with a task of another node of its machine: because it has written what the task
  /// writes, or because it would rob that node of such a task at once, and nothing waits at its own.
  bool is_better_here(const task& t, node_id home, const worker& self) const {
    if (team_.distance(self.node, home) > team::farthest) return false;
    if (wrote(t, home, self)) return true;
    auto& there = queues_[home];
    return queues_.waiting(self.node) == 0 && thefts_.pays_at_once(t.type, home, self.node, there.size()) &&
           (!uses_levels(self) || there.highest() >= t.level());
  }
  /// Whether the worker was the last that wrote what the task writes, so that its caches have that, and the task reads
  /// less at its home, or what is in the caches of all nodes.
  bool wrote(const task& t, node_id home, const worker& self) const {
    std::uint64_t written = 0, read = 0;
    for (kept_access a : t.access_list()) {
      if (!has_home(a)) continue;
      const region& r = memory_.region_of(a);
      if (a.how == mode::in) {
        const node_id at = r.home_node();
        read += at && memory_.serving(at) == home ? a.bytes() : 0;
      } else if (r.writer.load(relaxed) == self.id.value) {
        written += weight_of(a.how) * a.bytes();
      } else {
        return false;
      }
    }
    return written != 0 && (read <= written || tables_.mostly_uses_tables(t.type));
  }
  /// Called when the worker begins a task with data, which belongs to its own node or to `home`.
  void begin(const task& t, worker& self, node_id home = {}, bool stolen = false) {
    state& mine = states_[self.id.index()];
    tables_.begins(t);
    moves_.begins(t);
    mine.runs = &t;
    mine.lead = std::min(mine.lead + 1, most_lead);
    mine.robbed = home == self.node ? node_id() : home;
    thefts_.begins(self, stolen);
    if (!mine.robbed) {
      moves_.used_locally(t, self.node);
    } else if (stolen || chains_.exceed_caches(self.node)) {
      moves_.used_remotely(t, home, self.node);
    }
  }

  /// Steals a task of the nearest node where that pays; null if it pays nowhere.
  task* rob(worker& self) {
    for (node_id n : queues_.around(self.node)) {
      if (n == self.node || queues_.waiting(n) == 0) continue;
      thefts_.sees_waiting(n, self);
      const bool anyway = thefts_.makes_no_progress(n, self);
      const auto pays_for = [&](std::uint16_t type) { return thefts_.pays_for(self, type, n, queues_.waiting(n)); };
      if (!anyway && !pays_for(types_.judged(n))) continue;
      task* t = queues_[n].steal(self, [&](const task& first) {
        if (anyway) return true;
        if (pays_for(first.type)) return chains_.may_begin(first, self);
        types_.refused(n, first.type);
        return false;
      });
      if (t == nullptr) break;
      begin(*t, self, n, true);
      chains_.begin_chain(*t, self);
      ends_.note_unmeasured(self);
      ring_for_thief(n, self);
      return t;
    }
    return nullptr;
  }

  const team& team_;
  const memory_view memory_;
  bool keeps_feeders_;
  steal<World> dataless_;  // the tasks without data
  feeders<World>& feeders_;
  shared_tables<World> tables_;
  balanced_placement<World> place_;
  initial_runs<World> runs_;
  moved_data<World> moves_;
  delayed_theft<World> thefts_;
  chain_bound<World> chains_;
  typename World::template shared<bool> data_seen_{false};      // a task with data has become ready or was created
  typename World::template shared<bool> dataless_seen_{false};  // a task without data has
  typename World::template shared<bool> levels_seen_{false};    // a task with a priority other than normal has
  hot_end<World> ends_;
  watched_queues<World> queues_;
  std::vector<state> states_;
  judged_types<World> types_;
  std::optional<partition::windows<World>> windows_;
};

}  // namespace kith
