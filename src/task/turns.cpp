#include "task/turns.hpp"

#include "task/edges.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

namespace kith {

namespace {

/// The regions that a task takes turns at, in ascending order. A few need no heap memory.
class turn_list {
 public:
  explicit turn_list(const task& t) {
    for (kept_access a : t.access_list()) {
      if (a.how != mode::commutative || a.region == 0) continue;  // 0: no bytes
      if (count_ < few_.size()) {
        few_[count_] = a.region;
      } else {
        if (many_.empty()) many_.assign(few_.begin(), few_.end());
        many_.push_back(a.region);
      }
      ++count_;
    }
    first_ = many_.empty() ? few_.data() : many_.data();
    std::sort(first_, first_ + count_);
    count_ = static_cast<std::size_t>(std::unique(first_, first_ + count_) - first_);
  }
  turn_list(const turn_list&) = delete;
  turn_list& operator=(const turn_list&) = delete;
  const std::uint32_t* begin() const noexcept { return first_; }
  const std::uint32_t* end() const noexcept { return first_ + count_; }

 private:
  std::array<std::uint32_t, 8> few_;
  std::vector<std::uint32_t> many_;
  std::uint32_t* first_;
  std::size_t count_ = 0;
};

/// The regions of the task that was asked for last: a waiting task often gets one region of another after the other,
/// and would otherwise be sorted as often. REQUIRES: the task waits, so that its slot is not used again meanwhile.
class kept_turns {
 public:
  const turn_list& of(const task& t) {
    const std::uint32_t generation = edges::generation_of(t.head.load(relaxed));
    if (task_ != &t || generation_ != generation) {
      turns_.emplace(t);
      task_ = &t;
      generation_ = generation;
    }
    return *turns_;
  }

 private:
  const task* task_ = nullptr;
  std::uint32_t generation_ = 0;
  std::optional<turn_list> turns_;
};

/// The turn of the task's scope at r. REQUIRES: r.guard is held.
std::vector<region::turn>::iterator turn_of(region& r, const task& t) {
  return std::ranges::find(r.turns, t.scope, &region::turn::scope);
}

/// Takes the turns at [from, until).
bool take(const region_table& regions, task& t, const std::uint32_t* from, const std::uint32_t* until) {
  for (; from != until; ++from) {
    region& r = regions[*from];
    std::lock_guard lock(r.guard);
    const auto held = turn_of(r, t);
    if (held == r.turns.end()) {
      r.turns.push_back({t.scope});
      continue;
    }
    set_next(t, nullptr);
    if (held->first == nullptr) {
      held->first = &t;
    } else {
      set_next(*held->last, &t);
    }
    held->last = &t;
    return false;
  }
  return true;
}

/// Gives up the task's turn. Returns the task that has it next; null if none waits.
task* pass_on(region& r, const task& t) {
  std::lock_guard lock(r.guard);
  const auto held = turn_of(r, t);
  task* const next = held->first;
  if (next == nullptr) {
    *held = r.turns.back();
    r.turns.pop_back();
  } else {
    held->first = get_next(*next);
  }
  return next;
}

}  // namespace

bool take_turns(const region_table& regions, task& t) {
  const turn_list needed(t);
  return take(regions, t, needed.begin(), needed.end());
}

void give_turns(const region_table& regions, task& t, std::vector<task*>& ready) {
  kept_turns kept;
  for (std::uint32_t index : turn_list(t)) {
    task* const next = pass_on(regions[index], t);
    if (next == nullptr) continue;
    const turn_list& needed = kept.of(*next);
    if (!take(regions, *next, std::ranges::upper_bound(needed, index), needed.end())) continue;
    edges::forget_predecessors(*next);  // set_next() has overwritten some
    ready.push_back(next);
  }
}

}  // namespace kith
