// Deques of groups: tasks that became ready together stay together, sorted by color, until a worker splits the
// group. One source for both worlds.
//
// NabbitC paper, section III: spawn_colors and spawn_nodes, with work items instead of continuations. An item is a
// range of a group. A worker that takes one halves it, first between colors, then between tasks; it pushes the second
// half and continues with the first, until one task is left. If the worker's color is in the second half, the halves
// change places (the item "morphs"). An item lists its colors, so that a thief can look before it takes. Invariants:
//  G1  An item is written before it is pushed, and never while it is in a deque.
//  G2  Items are recycled, not freed: a thief may look at the colors of an item that another worker has just
//      taken. Then its exchange on the deque's top fails, and what it read does not matter.
//  G3  The worker that drops the last item of a group frees the group.
// Tasks of different priorities are in different groups, with a deque for each level. Only the normal level is used
// until a task with another priority is queued.
#pragma once

#include "base/worker_set.hpp"
#include "events/event.hpp"
#include "queue/dead_entries.hpp"
#include "queue/make_in.hpp"
#include "queue/poll_result.hpp"
#include "queue/recycler.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// A task's color: 0 to colors-1 are the workers' colors; any other number is no worker's.
using color_number = std::int32_t;

/// A worker's preference for what it takes and keeps. `own` is its color, negative for none.
struct color_preference {
  color_number own = -1;
  bool morphs = false;  // halves change places for its color
};

template <class World>
class group_deques {
 public:
  using worker = typename World::worker;

  /// Makes a deque for each of `workers`, whose colors are 0 to colors-1. memory_of(worker_id) is the deque's memory.
  template <class MemoryOf>
  group_deques(int workers, int colors, const MemoryOf& memory_of)
      : colors_(colors), items_(workers), groups_(workers), scratch_(static_cast<std::size_t>(workers)) {
    for (int w = 0; w < workers; ++w) {
      for (auto& level : deques_)
        level.push_back(make_in<typename World::template deque<item>>(memory_of(worker_id(w))));
      // Besides the workers' colors, as many others are distinguished; the rest count as one.
      scratch_[static_cast<std::size_t>(w)].run_of.resize(static_cast<std::size_t>(2 * colors) + 1);
    }
    for (int w = 0; w < workers; ++w) everybody_.insert(worker_id(w));
  }

  // ---- the owner

  /// Queues the tasks as one group, or as one for each level. color_of(task&) is called once for each task.
  template <class ColorOf>
  void push(std::span<task* const> tasks, worker& self, ColorOf&& color_of) {
    if (any_level(tasks)) [[unlikely]] {
      push_levels(tasks, self, color_of);
      return;
    }
    push(group_of(tasks, self, color_of), self);
  }
  /// Queues a group except one task, and returns that. If there are priorities, queues all of it and returns
  /// the first of the worker's own tasks.
  template <class ColorOf>
  [[nodiscard]] task* push_rest(std::span<task* const> tasks, worker& self, color_preference preferred,
                                ColorOf&& color_of) {
    if (has_levels_.load(relaxed) || any_level(tasks)) [[unlikely]] {
      push_levels(tasks, self, color_of);
      return pop(self, preferred);
    }
    if (tasks.size() == 1) return tasks.front();
    return take_apart(group_of(tasks, self, color_of), self, preferred);
  }
  [[nodiscard]] task* pop(worker& self, color_preference preferred) {
    item* const i = has_levels_.load(relaxed) ? pop_highest(self.id) : deques_[normal][self.id.index()]->pop();
    if (i == nullptr) return nullptr;
    self.meter(event::pop, self.id);
    return take_from(*i, self, preferred);
  }

  // ---- thieves

  /// Takes an item from `victim`, returns one task of it in `t`, and queues the rest as the thief's own. If `only` is
  /// not negative, takes only an item with that color, or, with `or_nobodys`, one without any worker's color. Takes
  /// from the highest level that has such an item. allowed() is called when the item was seen, and may refuse it.
  template <class Allowed>
  steal_result steal(task*& t, worker_id victim, worker& self, color_preference preferred, color_number only,
                     bool or_nobodys, const Allowed& allowed) {
    self.meter(event::steal_attempt, victim);
    if (only >= 0) self.meter(event::colored_attempt, {});  // later, so that there are never more of these
    item* i = nullptr;
    const auto steal_at = [&](std::size_t level) {
      auto& there = *deques_[level][victim.index()];
      return there.steal(i, [&](const item& seen) {
        return allowed() && (only < 0 || seen.has(only) || (or_nobodys && seen.is_nobodys(colors_)));
      });
    };
    steal_result outcome = steal_result::empty;
    if (!has_levels_.load(relaxed)) [[likely]] {
      outcome = steal_at(normal);
    } else {
      for (std::size_t level = 0; outcome != steal_result::got && level < levels; ++level) {
        if (const steal_result here = steal_at(level); here != steal_result::empty) outcome = here;
      }
    }
    if (outcome != steal_result::got) return outcome;
    self.meter(event::steal, victim);
    if (only >= 0 && i->has(only)) self.meter(event::colored_steal, {});
    t = take_from(*i, self, preferred);
    return steal_result::got;
  }
  bool empty(worker_id w) const noexcept {
    if (!has_levels_.load(relaxed)) [[likely]]
      return deques_[normal][w.index()]->size() == 0;
    return std::ranges::all_of(deques_, [&](const auto& level) { return level[w.index()]->size() == 0; });
  }

 private:
  static constexpr std::size_t levels = task::levels, normal = task::normal_level;

  /// Tasks of the same color are adjacent: run r has the tasks from begin[r] to begin[r + 1].
  struct group {
    std::vector<task*> tasks;
    std::vector<color_number> color;
    std::vector<std::uint32_t> begin;
    typename World::template shared<std::uint32_t> items{0};
  };

  /// Runs [first, last) of a group; if that is one run, its tasks [from, to).
  struct range {
    group* members = nullptr;  // null: the single task `one`
    task* one = nullptr;
    std::uint32_t first = 0, last = 0, from = 0, to = 0;
    color_number alone = -1;  // the color of `one`
    std::uint32_t level = normal;
  };

  class item {
   public:
    range what;

    bool has(color_number c) const noexcept { return (words()[c / 64].load(relaxed) >> (c % 64) & 1) != 0; }
    bool is_nobodys(int colors) const noexcept {
      for (int w = 0; w * 64 < colors; ++w) {
        if (word_at(w) != 0) return false;
      }
      return true;
    }
    std::uint64_t word_at(int w) const noexcept { return words()[w].load(relaxed); }
    void clear(int colors) {
      if (colors > 64 && more_ == nullptr) {
        more_ = std::make_unique<word[]>(static_cast<std::size_t>(colors + 63) / 64);
      }
      for (int w = 0; w * 64 < colors; ++w) words()[w].store(0, relaxed);
    }
    void add(color_number c) noexcept {
      word& w = words()[c / 64];
      w.store(w.load(relaxed) | std::uint64_t{1} << (c % 64), relaxed);
    }

   private:
    using word = typename World::template shared<std::uint64_t>;
    word* words() noexcept { return more_ != nullptr ? more_.get() : &few_; }
    const word* words() const noexcept { return more_ != nullptr ? more_.get() : &few_; }
    word few_{0};
    std::unique_ptr<word[]> more_;  // made before the item is first pushed
  };

  /// Scratch memory for making a group.
  struct alignas(false_sharing_range) scratch {
    std::vector<std::uint32_t> run_of;  // by color: 1 + the number of its run; all 0 between groups
    std::vector<std::uint32_t> run;     // by task: the number of its run
    worker_set wanted;                  // the colors of the item being pushed
    std::array<std::vector<task*>, levels> of_level;
  };

  std::size_t slot_of(color_number c) const noexcept {
    return c < 0 || c >= 2 * colors_ ? static_cast<std::size_t>(2 * colors_) : static_cast<std::size_t>(c);
  }

  /// Sorts the tasks by color, with colors in the order of their first appearance.
  template <class ColorOf>
  range group_of(std::span<task* const> tasks, worker& self, ColorOf& color_of) {
    if (tasks.size() == 1) return {.one = tasks.front(), .alone = color_of(*tasks.front())};
    group& g = groups_.take(self.id);
    std::vector<std::uint32_t>& run_of = scratch_[self.id.index()].run_of;
    std::vector<std::uint32_t>& run = scratch_[self.id.index()].run;
    run.resize(tasks.size());
    g.color.clear();
    g.begin.assign(1, 0);
    g.tasks.resize(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const color_number c = color_of(*tasks[i]);
      std::uint32_t& known = run_of[slot_of(c)];
      if (known == 0) {
        g.color.push_back(c);
        g.begin.push_back(0);
        known = static_cast<std::uint32_t>(g.color.size());
      }
      run[i] = known - 1;
      ++g.begin[known];
    }
    for (color_number c : g.color) run_of[slot_of(c)] = 0;
    for (std::size_t r = 1; r < g.begin.size(); ++r) g.begin[r] += g.begin[r - 1];
    for (std::size_t i = tasks.size(); i-- > 0;) g.tasks[--g.begin[run[i] + 1]] = tasks[i];
    // Here run r begins at begin[r + 1].
    g.begin.erase(g.begin.begin());
    g.begin.push_back(static_cast<std::uint32_t>(tasks.size()));
    g.items.store(1, relaxed);
    return whole(g, 0, static_cast<std::uint32_t>(g.color.size()));
  }

  static range whole(group& g, std::uint32_t first, std::uint32_t last) noexcept {
    return {.members = &g, .first = first, .last = last, .from = g.begin[first], .to = g.begin[last]};
  }

  static bool any_level(std::span<task* const> tasks) noexcept {
    return std::ranges::any_of(tasks, [](const task* t) { return t->has_level(); });
  }
  template <class ColorOf>
  [[gnu::noinline, gnu::cold]] void push_levels(std::span<task* const> tasks, worker& self, ColorOf& color_of) {
    if (!has_levels_.load(relaxed)) has_levels_.store(true, relaxed);  // before the tasks can be seen
    // Another worker may run a pushed task, and its slot may be reused: no task is read after the first push.
    std::array<std::vector<task*>, levels>& of_level = scratch_[self.id.index()].of_level;
    for (std::vector<task*>& same : of_level) same.clear();
    for (task* t : tasks) of_level[static_cast<std::size_t>(t->level())].push_back(t);
    for (std::size_t level = 0; level < levels; ++level) {
      if (of_level[level].empty()) continue;
      range r = group_of(of_level[level], self, color_of);
      r.level = static_cast<std::uint32_t>(level);
      push(r, self);
    }
  }

  void push(const range& r, worker& self) {
    if (self.dead.too_many()) [[unlikely]]
      clean_up(self, r.level);
    item& i = items_.take(self.id);
    i.what = r;
    i.clear(colors_);
    if (r.members == nullptr) {
      mark(i, r.alone);
    } else {
      for (std::uint32_t run = r.first; run < r.last; ++run) mark(i, r.members->color[run]);
    }
    worker_set& wanted = scratch_[self.id.index()].wanted;  // a thief may have the item when this worker rings
    if (colors_are_workers()) {
      for (int w = 0; w * 64 < colors_; ++w) wanted.set_word(static_cast<std::size_t>(w), i.word_at(w));
    }
    deques_[r.level][self.id.index()]->push(&i);
    self.meter(event::push, self.id);
    if (self.anybody_sleeps()) [[unlikely]]
      ring(wanted, self);
  }
  bool colors_are_workers() const noexcept { return colors_ == static_cast<int>(scratch_.size()); }
  /// If colors are workers, rings first for the workers of its colors: others might not take it.
  [[gnu::noinline]] void ring(const worker_set& wanted, worker& self) {
    if (!colors_are_workers() || !self.ring(wanted)) self.ring(everybody_);
  }
  /// Drops items of a single task that was claimed.
  [[gnu::noinline, gnu::cold]] void clean_up(worker& self, std::size_t level) {
    std::vector<item*> kept;
    const auto drop = [&](item& i) {
      if (i.what.members != nullptr || !self.drop_if_dead(*i.what.one)) return false;
      items_.give(self.id, i);
      return true;
    };
    for (std::size_t n = drop_dead(*deques_[level][self.id.index()], self.dead, drop, kept); n > 0; --n)
      self.ring(everybody_);
  }
  void mark(item& i, color_number c) noexcept {
    if (c >= 0 && c < colors_) i.add(c);
  }
  [[gnu::noinline]] item* pop_highest(worker_id self) {
    item* i = nullptr;
    for (std::size_t level = 0; i == nullptr && level < levels; ++level) i = deques_[level][self.index()]->pop();
    return i;
  }
  /// Returns a task of the item, and queues the rest. Not inline: searches that find nothing stay short.
  [[gnu::noinline]] task* take_from(item& i, worker& self, color_preference preferred) {
    const range r = i.what;
    items_.give(self.id, i);
    return take_apart(r, self, preferred);
  }

  static bool has(const range& r, color_number c) noexcept {
    for (std::uint32_t run = r.first; run < r.last; ++run) {
      if (r.members->color[run] == c) return true;
    }
    return false;
  }

  task* take_apart(range r, worker& self, color_preference preferred) {
    if (r.members == nullptr) return r.one;
    group& g = *r.members;
    while (r.to - r.from > 1) {
      range rest = r;
      if (r.last - r.first > 1) {
        const std::uint32_t middle = r.first + (r.last - r.first) / 2;
        rest = whole(g, middle, r.last);
        rest.level = r.level;
        r = whole(g, r.first, middle);
        r.level = rest.level;
        if (preferred.morphs && has(rest, preferred.own)) std::swap(r, rest);
      } else {
        const std::uint32_t middle = r.from + (r.to - r.from) / 2;
        rest.from = r.to = middle;
      }
      if (rest.to - rest.from == 1) {
        rest = {.one = g.tasks[rest.from], .alone = g.color[rest.first], .level = r.level};
      } else {
        g.items.fetch_add(1, relaxed);  // relaxed: this item is still counted, so the count cannot reach 0
      }
      push(rest, self);
    }
    task* const t = g.tasks[r.from];
    // acq_rel: the worker that drops the last item comes after all reads of the others.
    if (g.items.fetch_add(static_cast<std::uint32_t>(-1), acq_rel) == 1) groups_.give(self.id, g);
    return t;
  }

  int colors_;
  std::array<std::vector<std::shared_ptr<typename World::template deque<item>>>, levels> deques_;
  typename World::template shared<bool> has_levels_{false};  // a task with a priority other than normal was queued
  recycler<World, item> items_;
  recycler<World, group> groups_;
  std::vector<scratch> scratch_;
  worker_set everybody_;
};

}  // namespace kith
