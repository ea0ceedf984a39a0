// `steal`: every worker has a deque; a worker with an empty one steals. Help-first: a new task is queued, and its
// creator continues.
//
// MIR's `ws`, `ws-de` and `ws-de-node` (thesis ch. 3, artifact) with the choice of victims and the owner's end as
// options: these are victim=cyclic,end=fifo; victim=cyclic; victim=nodes; all with looks=one. Distances decide, not
// the artifact's own table. Not in the paper:
//  * One of the tasks that a completion makes ready runs at once; of several a feeder (keeps=feeder, feeders.hpp), or
//    one whose predecessors mostly ended on the worker (follows=own).
//  * A theft takes several tasks, at most half of the victim's. With near=one, workers that share the thief's cache are
//    robbed before others, and of one task, or as many short ones as take much longer than the theft, unless the victim
//    has a large group: more tasks made ready by one completion than there are workers.
//  * An idle worker looks at all victims before it pauses (looks=all). It leaves short tasks alone (patience=on,
//    patience.hpp).
//  * A worker takes tasks of the highest priority first, from its own deque and from a victim's.
#pragma once

#include "base/rng.hpp"
#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/feeders.hpp"
#include "policy/patience.hpp"
#include "queue/leveled_deque.hpp"
#include "queue/make_in.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace kith {

template <class World>
class steal final : public policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{
      one_of("victim", "nearest|cyclic|random|nodes", "which worker an idle worker steals from first"),
      one_of("end", "lifo|fifo", "which of its own tasks a worker takes: the newest, or the oldest"),
      number("batch", 32, 1, 1024, "maximum number of tasks per theft; never more than half of the victim's"),
      one_of("near", "half|one",
             "what a theft takes of a worker that is known to use the same last-level cache: up to half; or one, or as "
             "many as take much longer than a theft, unless one completion made more ready than there are workers; "
             "victim=nearest then robs these workers first"),
      one_of("looks", "all|one", "at how many victims an idle worker looks before it pauses"),
      one_of("keeps", "oldest|feeder",
             "of tasks made ready together, the worker runs next: the one created first, or a feeder of many others"),
      one_of("follows", "any|own",
             "own: of a few tasks made ready together that are not long beside a theft, a worker keeps those whose "
             "predecessors mostly ended on it, and thieves take the others first (not with end=fifo)"),
      one_of("patience", "on|off", "leaves a busy victim's tasks alone while they are shorter than a theft"),
  };
  [[gnu::cold]] static void explain(explainer& e) {
    const placement_facts& f = e.facts;
    if (e.say_origin()) return;
    const std::string worker = e.worker_text(f.worker);
    if (f.released_here) {
      e.say_of_policy(worker + " ended its last predecessor (" + f.released_by + "), and ran it next");
    } else if (e.is_created_here()) {
      e.say_of_policy(worker + " created it, and had it in its own deque");
    } else if (f.stolen) {
      e.say_of_policy(worker + " neither created it nor ended its last predecessor: it came with the tasks of an " +
                      "earlier theft (the last one " + e.text(f.stolen->before_ns) + " ns before)");
    } else {
      e.say_of_policy(worker + " neither created it nor ended its last predecessor, and has stolen nothing: it came " +
                      "from outside, or was claimed past its queue");
    }
  }

  static constexpr policy_entry about{
      .name = "steal",
      .paper = "MIR",
      .section = "ch. 3 (ws, ws-de)",
      .summary = "a deque for each worker, work stealing, help-first",
      .options = options,
      .explain = explain,
  };

  steal(const policy_context& context, const policy_options& given)
      : order_(given.word("victim",
                          {victim_order::nearest, victim_order::cyclic, victim_order::random, victim_order::nodes})),
        own_end_fifo_(given.is("end", "fifo")),
        batch_(given.number("batch")),
        looks_at_all_(given.is("looks", "all")),
        spares_short_(given.is("patience", "on")),
        keeps_feeders_(context.workers.size() > 1 && given.is("keeps", "feeder")),
        follows_own_(context.workers.size() > 1 && !own_end_fifo_ && given.is("follows", "own")),
        feeders_(context.workers.size()),
        large_groups_(static_cast<std::size_t>(context.workers.size())),
        patience_(context.workers.size()) {
    const bool one_near = given.is("near", "one");
    const victim_order fixed = order_ == victim_order::random                ? victim_order::cyclic
                               : order_ == victim_order::nearest && one_near ? victim_order::caches
                                                                             : order_;
    for (int w = 0; w < context.workers.size(); ++w) {
      caches_.push_back(one_near ? context.workers.cache_of(worker_id(w)) : -1);
      deques_.push_back(
          make_in<leveled_deque<World>>(context.memory_of(worker_id(w)), worker_id(w), context.workers.everybody()));
      states_.emplace_back(rng(context.seed, purpose::victim, static_cast<std::uint32_t>(w)),
                           context.workers.victims(worker_id(w), fixed));
    }
  }

  typename policy<World>::data_needs needs() const override { return {.accesses = false}; }
  bool leaves_short_tasks() const override { return !own_end_fifo_; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason why) override {
    if (tasks.size() != 1) [[unlikely]]
      return ready_together(tasks, self, why);
    return ready_alone(*tasks.front(), self, why);
  }

  poll_result next(worker& self) override {
    leveled_deque<World>& own = *deques_[self.id.index()];
    if (own_end_fifo_ || keeps_feeders_ || own.has_levels()) [[unlikely]]
      return next_in_order(own, self);
    if (task* t = own.pop_normal(self)) return poll_result::got(*t);
    return look_elsewhere(self);
  }

  // ---- for a policy that has other queues besides these
  /// Takes a task from the worker's own deque.
  [[gnu::always_inline]] task* take_own(worker& self) { return take_own(*deques_[self.id.index()], self); }
  /// The level of the next task there, and whether the deque has had several levels.
  int own_level(const worker& self) const { return deques_[self.id.index()]->highest(); }
  bool has_levels(const worker& self) const { return deques_[self.id.index()]->has_levels(); }
  /// With keeps=feeder: the types that feed most others.
  feeders<World>& feeding() noexcept { return feeders_; }
  /// Steals from the first other worker that has tasks, if any. Looks at as many as there are in one call
  /// (victim=random may draw one twice, and miss another): a look at a deque that did not change costs next to nothing.
  [[gnu::noinline]] poll_result rob(worker& self) {
    worker_state& mine = states_[self.id.index()];
    const std::size_t all = mine.victims.size(), from = mine.probes;
    mine.probes = 0;
    for (std::size_t k = 0; k < all; ++k) {
      const std::size_t i = (from + k) % all;
      const worker_id victim = choose(mine, i);
      if (deques_[victim.index()]->size() == 0) continue;
      const poll_result polled = look_at(victim, self);
      const std::size_t next = (i + 1) % all;
      // The next round begins after it. If it gave tasks, then only in the same cache: the nearest are robbed first.
      if (polled.kind != poll_result::found || (takes_one(victim, self) && takes_one(mine.victims[next], self)))
        mine.probes = next;
      return polled;
    }
    const bool missed = order_ == victim_order::random && anything_left(mine);
    return {missed ? poll_result::retry : poll_result::empty};
  }

 private:
  /// As in the papers: looks at one victim.
  [[gnu::noinline]] poll_result probe(worker& self) {
    worker_state& mine = states_[self.id.index()];
    if (mine.victims.empty()) return {poll_result::empty};
    const worker_id victim = choose(mine, mine.probes);
    const poll_result polled = look_at(victim, self);
    if (polled.kind != poll_result::found && ++mine.probes < mine.victims.size()) return polled;
    mine.probes = 0;
    return polled.kind == poll_result::found || anything_left(mine) ? polled : poll_result{poll_result::empty};
  }

  /// A task of the victim; without one, `later` if a theft would not pay at present, else `retry`.
  poll_result look_at(worker_id victim, worker& self) {
    leveled_deque<World>& there = *deques_[victim.index()];
    if (spares_short_ && patience_.spares(there, victim)) return {poll_result::later};
    task* t = visit(there, victim, *deques_[self.id.index()], self);
    if (t != nullptr && keeps_feeders_) feeders_.begins(*t, self);
    return poll_result::at(t, poll_result::retry);
  }

  static constexpr std::size_t most_released = 16;  // tasks made ready together, for follows=own
  static constexpr std::uint32_t sample = 16;       // of this many tasks from the own deque, one is measured

  struct alignas(false_sharing_range) worker_state {
    worker_state(rng r, std::vector<worker_id> v) : random(r), victims(std::move(v)) {}
    rng random;
    std::vector<worker_id> victims;
    std::size_t probes = 0;   // the next victim, by its index in a round
    std::uint32_t taken = 0;  // tasks that it took from its own deque
  };
  struct alignas(false_sharing_range) large_group {
    typename World::template shared<bool> waits{false};  // one was queued since the deque was empty
  };

  // What frequent calls rarely need is not inlined, and comes last in them, so that they save no registers.
  [[gnu::always_inline]] task* ready_alone(task& t, worker& self, ready_reason why) {
    leveled_deque<World>& own = *deques_[self.id.index()];
    if (why != ready_reason::completion) {
      own.push(t, self);
      return nullptr;
    }
    if (keeps_feeders_ && feeders_.measures(self)) [[unlikely]]
      return ready_measured(t, self);
    return own.prefer(t, self);
  }
  [[gnu::noinline]] task* ready_measured(task& t, worker& self) {
    task* const released = &t;
    feeders_.ended({&released, 1}, self);
    return deques_[self.id.index()]->prefer(t, self);
  }

  /// keeps=feeder. What tasks make ready is measured for those that were stolen or kept, and for some others, so that
  /// each type is measured.
  [[gnu::noinline]] task* ready_with_feeder(std::span<task* const> tasks, worker& self) {
    feeders_.ended(tasks, self);
    const std::size_t kept = feeders_.choose(tasks, usual_of(tasks, self));
    const bool differ = tasks.front()->type != tasks.back()->type;  // read before a push: then others may run them
    push_others(tasks, kept, self);
    task* t = deques_[self.id.index()]->prefer(*tasks[kept], self);
    if (t != nullptr && differ) feeders_.begins(*t, self);
    return t;
  }
  /// Of tasks that one completion made ready, the one to run next: the one created first, which is the last, or with
  /// follows=own the first of the worker's own.
  std::size_t usual_of(std::span<task* const> tasks, const worker& self) const {
    const std::size_t oldest = tasks.size() - 1;
    if (!follows_own(tasks, self)) return oldest;
    for (std::size_t i = tasks.size(); i-- > 0;) {
      if (is_own(*tasks[i], self)) return i;
    }
    return oldest;
  }
  /// Queues all but one. With follows=own, the worker's own come last, so that it takes them first.
  void push_others(std::span<task* const> tasks, std::size_t kept, worker& self) {
    leveled_deque<World>& own = *deques_[self.id.index()];
    const bool follows = follows_own(tasks, self);
    std::array<task*, most_released> last;
    std::size_t held = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (i == kept) continue;
      if (follows && is_own(*tasks[i], self)) {
        last[held++] = tasks[i];
      } else {
        own.push(*tasks[i], self);
      }
    }
    for (task* t : std::span(last).first(held)) own.push(*t, self);
  }
  /// Where a worker ended most predecessors of a task, its caches have most of what the task reads, and the counters of
  /// what it makes ready. If tasks are long, or many, that is worth less than the order of creation.
  bool follows_own(std::span<task* const> tasks, const worker& self) const {
    return follows_own_ && tasks.size() <= most_released && self.thefts.tasks() > 1;
  }
  static bool is_own(const task& t, const worker& self) { return t.mostly_follows(self.id); }
  [[gnu::noinline]] task* ready_together(std::span<task* const> tasks, worker& self, ready_reason why) {
    leveled_deque<World>& own = *deques_[self.id.index()];
    if (why == ready_reason::completion) {
      if (tasks.size() > large_groups_.size()) large_groups_[self.id.index()].waits.store(true, relaxed);
      if (keeps_feeders_) return ready_with_feeder(tasks, self);
      const std::size_t kept = usual_of(tasks, self);
      push_others(tasks, kept, self);
      return own.prefer(*tasks[kept], self);
    }
    for (task* t : tasks) own.push(*t, self);
    return nullptr;
  }
  [[gnu::noinline]] poll_result next_in_order(leveled_deque<World>& own, worker& self) {
    feeders_.ended({}, self);
    if (task* t = take_own(own, self)) {
      if (keeps_feeders_ && ++states_[self.id.index()].taken % sample == 0) feeders_.begins(*t, self);
      return poll_result::got(*t);
    }
    return look_elsewhere(self);
  }
  poll_result look_elsewhere(worker& self) {
    if (auto& waits = large_groups_[self.id.index()].waits; waits.load(relaxed)) waits.store(false, relaxed);
    return looks_at_all_ ? rob(self) : probe(self);
  }

  [[gnu::always_inline]] task* take_own(leveled_deque<World>& own, worker& self) {
    return own_end_fifo_ ? take_oldest(own, self) : own.pop(self);
  }
  /// `end=fifo`: the owner also takes its oldest task (MIR's ws).
  [[gnu::noinline]] task* take_oldest(leveled_deque<World>& own, worker& self) {
    task* t = nullptr;
    while (own.size() > 0) {
      if (own.take_oldest(t, self)) return t;
    }
    return nullptr;
  }

  /// The i-th victim of a round.
  worker_id choose(worker_state& mine, std::size_t i) const {
    if (order_ == victim_order::random) i = mine.random.below(static_cast<std::uint32_t>(mine.victims.size()));
    return mine.victims[i];
  }

  /// Random victims may miss a worker that has work, so every deque is checked before the answer is `empty`.
  bool anything_left(const worker_state& mine) const {
    return std::ranges::any_of(mine.victims, [this](worker_id v) { return deques_[v.index()]->size() > 0; });
  }

  /// With near=one: whether both use the same cache.
  bool takes_one(worker_id victim, const worker& self) const {
    const int there = caches_[victim.index()];
    return there >= 0 && there == caches_[self.id.index()];
  }
  task* visit(leveled_deque<World>& victim, worker_id id, leveled_deque<World>& own, worker& self) {
    const std::int64_t there = victim.size();
    if (there == 0) {
      self.meter(event::steal_attempt, id);
      return nullptr;
    }
    task* first = nullptr;
    if (victim.steal(first, self) != steal_result::got) return nullptr;
    // Takes several in one visit, because the victim's cache line is already here. Neighbouring tasks mostly use
    // neighbouring data: within one cache, workers far apart in a program displace each other's data. But if the tasks
    // of a large group were taken one by one, all would go through the data in the same order each time: if it is a
    // little more than the cache holds, none of it would still be there.
    const theft_size few = victim.thefts();
    const bool takes_few =
        takes_one(id, self) && !few.of_short_tasks() && !large_groups_[id.index()].waits.load(relaxed);
    const std::int64_t most = takes_few ? std::min<std::int64_t>(batch_, few.tasks()) : batch_;
    for (std::int64_t more = std::min(most, there / 2) - 1; more > 0; --more) {
      task* t = nullptr;
      if (victim.steal(t, self) != steal_result::got) break;
      own.push(*t, self);
    }
    return first;
  }

  victim_order order_;
  bool own_end_fifo_;
  std::int64_t batch_;
  bool looks_at_all_;
  bool spares_short_;
  bool keeps_feeders_;
  bool follows_own_;
  std::vector<std::shared_ptr<leveled_deque<World>>> deques_;
  std::vector<worker_state> states_;
  feeders<World> feeders_;
  std::vector<large_group> large_groups_;  // by worker
  patience<World> patience_;
  std::vector<int> caches_;  // with near=one: by worker, its last-level cache; -1: not known
};

}  // namespace kith
