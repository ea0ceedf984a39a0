// The queues of the global scheduling unit: one for each core, or one for all, and tasks chosen by affinity. Shared
// by the policies of policy/organisation.hpp.
//
// Token and Reference scheduling, sections 3, 4.1.1 and 5.2.1. organisation=deques is the proposed hardware: a double
// ended queue for each core, of which only the two ends can be read and removed. A ready task goes to the queue of the
// core with the highest affinity. A core takes the better end of its own queue; if that is empty, the best end of all
// others, or any end if it has no affinity to them. organisation=global is the upper bound of section 5.2.1: one queue,
// of which a core takes the best task, wherever it is. An affinity only guides: a core gets a task while any is
// ready.
//
// The paper does not say which core gets a task without affinity, which of two equal ends is taken, and what bounds a
// queue. Here: the creator's core, then the shortest queue; of two ends the one queued last, of several queues the one
// of the lowest core; and a queue whose length is `cap` percent of the mean already passes the task to the next best
// core, because tasks that share their data would all wait for one core. So while fewer tasks wait than about three
// quarters of the cores, no queue takes a second one. A task that was claimed past its queue counts for the core that
// takes its entry out.
//
// Not in the paper, which leaves sorting to future work: with `grouped`, a task goes to a queue that has tasks of its
// group, if that has room, and is queued behind the last of them, so not only at an end. Without it, tasks with
// different data that become ready at once stay mixed, and the two ends seldom have the data that a core used last.
//
// Affinity is the policy's rule:
//   task_affinity affinity_of(const task&, const worker&)   what is known of a ready task; a copy, so that a choice
//                                                           reads no task
//   double at(const task_affinity&, worker_id)              its affinity to the core, 0 or more. Under the lock
//   double planned(const task_affinity&, worker_id)         the same, when a queue is chosen for it. Under the lock
//   grouped_by group_of(const task_affinity&)               its group, and the affinity to a queue that has the group.
//                                                           Only with `grouped`
//   void queued(const task_affinity&, worker_id)            it was put into the core's queue. Under the lock
//   void assigned(const task_affinity&, worker_id)          it is on its way to the core. Under the lock
//   bool random_ties                                        whether equal tasks of the global queue leave at random, or
//                                                           the oldest first
//
// Any worker may push and take.
//  A1  guard_ protects the queues, the lengths, the random numbers and the affinities.
//  A2  size_ is written under the lock, and read without it: a worker that reads 0 and sleeps is woken by the push that
//      it did not see (docs/sleep.md).
#pragma once

#include "base/atomic.hpp"
#include "base/rng.hpp"
#include "base/worker_set.hpp"
#include "events/event.hpp"
#include "queue/poll_result.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace kith {

/// Tasks that share `key` are a group; 0: none.
struct grouped_by {
  std::uint64_t key = 0;
  double affinity = 0;  // to a queue that has tasks of the group, added to that to its core
};

struct affinity_queues_shape {
  int cores = 1;
  worker_set everybody;
  bool global = false;     // one queue instead of one for each core
  bool grouped = false;    // only if there is a queue for each core
  std::int64_t cap = 130;  // percent of their mean length that a core's queue may have; at least 100
  std::uint64_t seed = 0;
};

template <class World, class Affinity>
class alignas(false_sharing_range) affinity_queues {
 public:
  using worker = typename World::worker;

  /// The arguments after the shape are those of the rule's constructor.
  template <class... Arguments>
  affinity_queues(const affinity_queues_shape& shape, const Arguments&... of_rule)
      : affinity_(of_rule...),
        global_(shape.global),
        grouped_(shape.grouped),
        cap_(static_cast<std::size_t>(shape.cap)),
        everybody_(shape.everybody),
        queues_(shape.global ? 1 : static_cast<std::size_t>(shape.cores)),
        random_(shape.seed, purpose::pick, 0) {
    for (int w = 0; w < shape.cores; ++w) alone_.push_back(worker_set::only(worker_id(w)));
  }

  void push(std::span<task* const> tasks, worker& self) {
    self.at(this);
    for (task* t : tasks) {
      const typename Affinity::task_affinity affinity = affinity_.affinity_of(*t, self);
      const std::size_t creator = t->creator(static_cast<int>(alone_.size()), self.id).index();
      const grouped_by group = group_of(affinity);
      const auto level = static_cast<std::size_t>(t->level());
      std::size_t to = 0;
      {
        std::lock_guard lock(guard_);
        if (self.dead.too_many()) [[unlikely]]
          clean_up(self);
        if (!global_) to = best_queue(affinity, group, level, creator);
        queues_[to].insert({t, affinity, group.key}, level);
        affinity_.queued(affinity, worker_id(static_cast<int>(to)));
        size_.store(size_.load(relaxed) + 1, relaxed);
      }
      self.meter(event::push, worker_id());
      if (global_ || !self.ring(alone_[to])) self.ring(everybody_);
    }
  }

  poll_result next(worker& self) {
    self.at(this);
    if (size_.load(relaxed) == 0) return {poll_result::empty};
    task* t = nullptr;
    {
      std::lock_guard lock(guard_);
      for (std::size_t level = 0; level < levels && t == nullptr; ++level)
        t = global_ ? take_best(level, self.id) : take_end(level, self.id);
    }
    if (t == nullptr) return {poll_result::empty};
    self.meter(event::pop, worker_id());
    return poll_result::got(*t);
  }

 private:
  static constexpr std::size_t levels = task::levels;
  struct entry {
    task* waiting;
    typename Affinity::task_affinity affinity;
    std::uint64_t group = 0;
  };
  struct core_queue {
    std::array<std::deque<entry>, levels> by_level;
    std::size_t length = 0;                                                     // over all levels
    std::array<std::unordered_map<std::uint64_t, std::size_t>, levels> groups;  // how many tasks each has

    void insert(const entry& e, std::size_t level) {
      std::deque<entry>& all = by_level[level];
      auto behind = all.end();
      if (e.group != 0 && groups[level][e.group]++ != 0)
        behind = std::ranges::find(all.rbegin(), all.rend(), e.group, &entry::group).base();
      all.insert(behind, e);
      ++length;
    }
    /// Called when an entry leaves.
    void forget(const entry& e, std::size_t level) {
      --length;
      if (e.group == 0) return;
      const auto of_it = groups[level].find(e.group);
      if (--of_it->second == 0) groups[level].erase(of_it);
    }
    bool has(const grouped_by& group, std::size_t level) const {
      return group.key != 0 && groups[level].contains(group.key);
    }
  };
  struct choice {
    std::size_t from = 0, place = 0;
    double affinity = -1;
  };

  grouped_by group_of(const typename Affinity::task_affinity& affinity) const {
    if constexpr (requires { affinity_.group_of(affinity); }) {
      if (grouped_) return affinity_.group_of(affinity);
    }
    return {};
  }

  bool has_room(std::size_t length) const {
    const std::size_t total = static_cast<std::size_t>(size_.load(relaxed)) + 1;
    return length * queues_.size() * 100 < cap_ * total;
  }

  /// The core with the highest affinity whose queue has room; of equal ones the creator, then the one with the shortest
  /// queue, then the next one after the creator.
  std::size_t best_queue(const typename Affinity::task_affinity& affinity, const grouped_by& group, std::size_t level,
                         std::size_t creator) {
    std::size_t best = creator;
    double most = -1;
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      const std::size_t q = (creator + i) % queues_.size();
      if (!has_room(queues_[q].length)) continue;
      double here = affinity_.planned(affinity, worker_id(static_cast<int>(q)));
      if (queues_[q].has(group, level)) here += group.affinity;
      const bool shorter = best != creator && queues_[q].length < queues_[best].length;
      if (here < most || (here == most && !shorter)) continue;
      best = q;
      most = here;
    }
    return best;
  }

  task* remove(const choice& c, std::size_t level, worker_id to) {
    std::deque<entry>& all = queues_[c.from].by_level[level];
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(c.place);
    const entry taken = *at;
    all.erase(at);
    queues_[c.from].forget(taken, level);
    size_.store(size_.load(relaxed) - 1, relaxed);
    affinity_.assigned(taken.affinity, to);
    return taken.waiting;
  }

  /// The better end of a queue that is not empty; of equal ones the end queued last.
  choice better_end(std::size_t from, std::size_t level, worker_id to) {
    const std::deque<entry>& all = queues_[from].by_level[level];
    const double first = affinity_.at(all.front().affinity, to), last = affinity_.at(all.back().affinity, to);
    return first > last ? choice{from, 0, first} : choice{from, all.size() - 1, last};
  }

  task* take_end(std::size_t level, worker_id to) {
    if (!queues_[to.index()].by_level[level].empty()) return remove(better_end(to.index(), level, to), level, to);
    choice best;
    std::uint32_t queues = 0;  // the number of those that have tasks of this level
    for (std::size_t q = 0; q < queues_.size(); ++q) {
      if (queues_[q].by_level[level].empty()) continue;
      ++queues;
      const choice here = better_end(q, level, to);
      // Queues without affinity are taken with equal probability.
      if (here.affinity > best.affinity || (best.affinity == 0 && here.affinity == 0 && random_.below(queues) == 0))
        best = here;
    }
    return queues == 0 ? nullptr : remove(best, level, to);
  }

  task* take_best(std::size_t level, worker_id to) {
    const std::deque<entry>& all = queues_[0].by_level[level];
    choice best;
    std::uint32_t equals = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const double here = affinity_.at(all[i].affinity, to);
      if (here < best.affinity) continue;
      equals = here > best.affinity ? 1 : equals + 1;
      if (equals == 1 || (Affinity::random_ties && random_.below(equals) == 0)) best = {0, i, here};
    }
    return all.empty() ? nullptr : remove(best, level, to);
  }

  /// Drops entries of claimed tasks, among those queued last of each queue. REQUIRES: the lock is held.
  [[gnu::noinline, gnu::cold]] void clean_up(worker& self) {
    const std::size_t budget = self.dead.budget() / queues_.size() + 16;  // of each queue
    std::size_t dropped = 0;
    for (core_queue& q : queues_) {
      std::size_t left = budget;
      for (std::size_t level = 0; level < levels; ++level) {
        std::deque<entry>& all = q.by_level[level];
        const std::size_t looked_at = std::min(left, all.size());
        left -= looked_at;
        const auto first = all.end() - static_cast<std::ptrdiff_t>(looked_at);
        const auto end = std::remove_if(first, all.end(), [&](entry& e) {
          const bool gone = self.drop_if_dead(*e.waiting);
          if (gone) q.forget(e, level);
          return gone;
        });
        dropped += static_cast<std::size_t>(all.end() - end);
        all.erase(end, all.end());
      }
    }
    size_.store(size_.load(relaxed) - static_cast<std::int64_t>(dropped), relaxed);
    self.dead.cleaned(dropped);
  }

  typename World::mutex guard_;
  Affinity affinity_;
  bool global_, grouped_;
  std::size_t cap_;
  worker_set everybody_;
  std::vector<worker_set> alone_;  // by worker: the set of that one
  std::vector<core_queue> queues_;
  typename World::template shared<std::int64_t> size_{0};
  rng random_;
};

}  // namespace kith
