// A queue that several workers push to and pop from: a central queue, or a node's. One source for both worlds.
//
// Any worker may push; the audience pops. A short lock guards it, but a look at an empty queue takes no lock.
// All tasks of a higher priority level leave before those of a lower one.
#pragma once

#include "base/atomic.hpp"
#include "base/rng.hpp"
#include "base/worker_set.hpp"
#include "events/event.hpp"
#include "queue/dead_entries.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <memory_resource>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// Which task of a level leaves a queue first.
enum class queue_order : std::uint8_t {
  fifo,     // the task queued first
  lifo,     // the task queued last
  created,  // the task created first
  random,   // any task, uniformly at random
};

/// Which end of a `fifo` queue a task is taken from.
enum class queue_end : std::uint8_t { first, last };

template <class World>
class alignas(false_sharing_range) shared_queue {
 public:
  using allocator_type = std::pmr::polymorphic_allocator<>;
  using worker = typename World::worker;

  /// `owner` is the worker whose queue it is; none if there is no single one. `audience` pops, and is woken by
  /// a push. `memory` holds the entries; it is used under the queue's lock.
  shared_queue(worker_set audience, queue_order order, worker_id owner = {}, std::uint64_t seed = 0,
               allocator_type memory = std::pmr::new_delete_resource())
      : levels_{level_type(memory), level_type(memory), level_type(memory)},
        audience_(std::move(audience)),
        order_(order),
        owner_(owner),
        random_(seed, purpose::pick, 0) {}

  /// Adds workers that may take from it while more than `backlog` tasks are there. They are woken if no worker
  /// of the audience, and of the thieves added before, sleeps.
  void add_thieves(worker_set thieves, std::int64_t backlog) { thieves_.emplace_back(std::move(thieves), backlog); }

  /// True if a worker was woken for each of them.
  bool push(std::span<task* const> tasks, worker& self) {
    {
      std::lock_guard lock(guard_);
      if (self.dead.too_many()) [[unlikely]]
        clean_up(self);
      for (task* t : tasks) insert(*t);
      size_.store(size_.load(relaxed) + static_cast<std::int64_t>(tasks.size()), relaxed);
    }
    self.at(this);
    bool woken = true;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      self.meter(event::push, owner_);
      woken = ring_for_one(self) && woken;
    }
    return woken;
  }
  bool push(task& t, worker& self) {
    task* one = &t;
    return push(std::span<task* const>(&one, 1), self);
  }

  /// The next task for which willing(const task&) holds, highest priority first; null if none. Only the head of
  /// each level is considered. Counts as a pop.
  template <class Willing>
  [[nodiscard]] task* pop(worker& self, const Willing& willing, queue_end end = queue_end::first) {
    self.at(this);
    task* t = take(willing, end);
    if (t != nullptr) self.meter(event::pop, owner_);
    return t;
  }
  [[nodiscard]] task* pop(worker& self) { return pop(self, any); }

  /// As pop(), for a worker outside the audience.
  template <class Willing>
  [[nodiscard]] task* steal(worker& self, const Willing& willing, queue_end end = queue_end::first) {
    self.at(this);
    self.meter(event::steal_attempt, owner_);
    task* t = take(willing, end);
    if (t != nullptr) self.meter(event::steal, owner_);
    return t;
  }
  [[nodiscard]] task* steal(worker& self, queue_end end) { return steal(self, any, end); }
  [[nodiscard]] task* steal(worker& self) { return steal(self, any); }

  /// The level of the task that leaves next; task::levels if there is none. Takes the lock.
  int highest() {
    if (size_.load(relaxed) == 0) return levels;
    std::lock_guard lock(guard_);
    int level = 0;
    while (level < levels && levels_[static_cast<std::size_t>(level)].empty()) ++level;
    return level;
  }
  /// The number of tasks; may be out of date.
  std::int64_t size() const noexcept { return size_.load(relaxed); }

 private:
  bool ring_for_one(worker& self) {
    if (self.ring(audience_)) return true;
    return std::ranges::any_of(thieves_, [&](const auto& one) { return size() > one.second && self.ring(one.first); });
  }
  using level_type = std::pmr::deque<task*>;
  static constexpr int levels = task::levels;

  static bool created_later(const task* a, const task* b) noexcept {
    return static_cast<std::int32_t>(a->sequence - b->sequence) > 0;  // sequence numbers wrap
  }

  void insert(task& t) {
    level_type& level = levels_[static_cast<std::size_t>(t.level())];
    level.push_back(&t);
    if (order_ == queue_order::created) std::push_heap(level.begin(), level.end(), created_later);
  }

  /// Drops entries of claimed tasks, among those queued last. REQUIRES: guard_ is held.
  [[gnu::noinline, gnu::cold]] void clean_up(worker& self) {
    std::size_t dropped = 0, left = self.dead.budget();
    for (level_type& level : levels_) {
      // A heap does not keep the entries queued last at its end, so all of it is examined.
      const std::size_t looked_at = order_ == queue_order::created ? level.size() : std::min(left, level.size());
      left -= std::min(left, looked_at);
      const auto first = level.end() - static_cast<std::ptrdiff_t>(looked_at);
      const auto end = std::remove_if(first, level.end(), [&](task* t) { return self.drop_if_dead(*t); });
      dropped += static_cast<std::size_t>(level.end() - end);
      level.erase(end, level.end());
      if (order_ == queue_order::created) std::make_heap(level.begin(), level.end(), created_later);
    }
    size_.store(size_.load(relaxed) - static_cast<std::int64_t>(dropped), relaxed);
    self.dead.cleaned(dropped);
  }

  static bool any(const task& /*t*/) noexcept { return true; }

  template <class Willing>
  [[nodiscard]] task* take(const Willing& willing, queue_end end = queue_end::first) {
    if (size_.load(relaxed) == 0) return nullptr;
    std::lock_guard lock(guard_);
    for (level_type& level : levels_) {
      if (level.empty()) continue;
      if (order_ == queue_order::random)
        std::swap(level[random_.below(static_cast<std::uint32_t>(level.size()))], level.back());
      const bool oldest = order_ == queue_order::fifo && end == queue_end::first;
      const bool from_front = oldest || order_ == queue_order::created;
      task* t = from_front ? level.front() : level.back();
      if (!willing(static_cast<const task&>(*t))) continue;
      size_.store(size_.load(relaxed) - 1, relaxed);
      if (oldest) {
        level.pop_front();
        return t;
      }
      if (order_ == queue_order::created) std::pop_heap(level.begin(), level.end(), created_later);
      level.pop_back();
      return t;
    }
    return nullptr;
  }

  typename World::mutex guard_;
  std::array<level_type, levels> levels_;
  typename World::template shared<std::int64_t> size_{0};  // written under the lock, read without it
  worker_set audience_;
  std::vector<std::pair<worker_set, std::int64_t>> thieves_;
  queue_order order_;
  worker_id owner_;
  rng random_;
};

}  // namespace kith
