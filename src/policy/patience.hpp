// When thieves leave a victim's short tasks alone (docs/decisions/short-tasks-are-not-stolen.md).
//
// If tasks are shorter than the transfer of their cache lines, there and back, an eager thief makes its victim slower
// than it would be alone. A patient one steals while the victim is busy with something else, and otherwise only once in
// many attempts.
#pragma once

#include "base/atomic.hpp"
#include "base/id.hpp"
#include "queue/leveled_deque.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith {

/// Any worker may call anything.
template <class World>
class patience {
 public:
  explicit patience(int workers) : watches_(static_cast<std::size_t>(workers)) {}

  /// Whether to leave the victim's tasks alone at this attempt. Dead entries also count, and their owner may have
  /// ended.
  bool spares(const leveled_deque<World>& victim, worker_id id) {
    return victim.thefts().of_short_tasks() && !is_worth_it(victim, watches_[id.index()]);
  }

 private:
  /// What all thieves together have seen of a victim. Two attempts at once may count as one.
  struct alignas(false_sharing_range) watch {
    typename World::template shared<std::int64_t> bottom{-1};  // the owner's end of the deque at the last attempt
    typename World::template shared<int> since_move{0};        // attempts since that end moved
    typename World::template shared<int> since_theft{0};       // attempts since the last theft
  };

  static bool is_worth_it(const leveled_deque<World>& victim, watch& seen) {
    constexpr int busy_elsewhere = 50, seldom = 2000;
    const std::int64_t bottom = victim.bottom();
    const int since_move = bottom == seen.bottom.load(relaxed) ? seen.since_move.load(relaxed) + 1 : 0;
    const int since_theft = seen.since_theft.load(relaxed) + 1;
    const bool worth = since_move >= busy_elsewhere || since_theft >= seldom;
    seen.bottom.store(bottom, relaxed);
    seen.since_move.store(since_move, relaxed);
    seen.since_theft.store(worth ? 0 : since_theft, relaxed);
    return worth;
  }

  std::vector<watch> watches_;  // by victim
};

}  // namespace kith
