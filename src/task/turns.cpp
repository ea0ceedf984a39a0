#include "task/turns.hpp"

#include <algorithm>
#include <mutex>

namespace kith {

namespace {

std::vector<std::uint32_t> commutative_regions(const task& t) {
  std::vector<std::uint32_t> found;
  for (kept_access a : t.access_list()) {
    if (a.how == mode::commutative) found.push_back(a.region);
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// REQUIRES: r.guard is held.
std::vector<region::turn>::iterator turn_of(region& r, const task& t) {
  return std::ranges::find(r.turns, t.scope, &region::turn::scope);
}

/// Takes the turns from the `from`-th region on.
bool take_rest(const region_table& regions, task& t, const std::vector<std::uint32_t>& needed, std::size_t from) {
  for (std::size_t i = from; i < needed.size(); ++i) {
    region& r = regions[needed[i]];
    std::lock_guard lock(r.guard);
    const auto held = turn_of(r, t);
    if (held != r.turns.end()) {
      held->next.push_back(&t);
      return false;
    }
    r.turns.push_back({t.scope, {}});
  }
  return true;
}

}  // namespace

bool take_turns(const region_table& regions, task& t) { return take_rest(regions, t, commutative_regions(t), 0); }

void give_turns(const region_table& regions, task& t, std::vector<task*>& ready) {
  for (std::uint32_t index : commutative_regions(t)) {
    region& r = regions[index];
    task* next = nullptr;
    {
      std::lock_guard lock(r.guard);
      const auto held = turn_of(r, t);
      if (held->next.empty()) {
        r.turns.erase(held);
      } else {
        next = held->next.front();
        held->next.erase(held->next.begin());
      }
    }
    if (next == nullptr) continue;
    const std::vector<std::uint32_t> needed = commutative_regions(*next);
    const auto at = std::ranges::lower_bound(needed, index) - needed.begin();
    if (take_rest(regions, *next, needed, static_cast<std::size_t>(at) + 1)) ready.push_back(next);
  }
}

}  // namespace kith
