// The order in which a worker looks at the children that it may claim, and at the stacks that it has left. Used by both
// engines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

namespace kith::life {

/// The most scopes that are followed from a task up to a wait; a deeper task counts as not below the wait.
inline constexpr int known_levels = 16;

/// Decides which suspended stacks a worker looks at between two tasks: the newest each time, some of the others in
/// turn.
class suspended_turn {
 public:
  /// The index of a stack that may continue, of `count`, oldest first; `count` if none was found. `all`: looks at each
  /// of them.
  template <class May>
  std::size_t find(std::size_t count, bool all, const May& may_go_on) {
    const std::size_t newest = all ? count : std::min(count, newest_looked_at);
    for (std::size_t i = count; i-- > count - newest;) {
      if (may_go_on(i)) return i;
    }
    const std::size_t older = count - newest;
    for (std::size_t i = std::min(older, others_looked_at); i > 0; --i) {
      if (++next_ >= older) next_ = 0;
      if (may_go_on(next_)) return next_;
    }
    return count;
  }

 private:
  static constexpr std::size_t newest_looked_at = 4, others_looked_at = 4;
  std::size_t next_ = 0;
};

/// Takes the newest child that can be claimed out of the list. A child that is not ready ends the search, because it
/// waits for older ones. With `all` the search continues past it.
template <class Child, class IsUnready, class Claim>
std::optional<Child> claim_newest(std::vector<Child>& children, bool all, const IsUnready& is_unready,
                                  const Claim& claim) {
  while (!children.empty()) {
    const Child c = children.back();
    if (is_unready(c)) break;
    children.pop_back();
    if (claim(c)) return c;
  }
  for (std::size_t i = all ? children.size() : 0; i-- > 0;) {
    const Child c = children[i];
    if (!claim(c)) continue;
    children[i] = children.back();
    children.pop_back();
    return c;
  }
  return std::nullopt;
}

/// Takes the newest child, of those that tasks left behind when their bodies ended, that can be claimed; the oldest
/// `down_to` entries stay. A child that cannot be claimed runs from its queue.
template <class Child, class Claim>
std::optional<Child> claim_adopted(std::vector<Child>& adopted, std::size_t down_to, const Claim& claim) {
  while (adopted.size() > down_to) {
    const Child c = adopted.back();
    adopted.pop_back();
    if (claim(c)) return c;
  }
  return std::nullopt;
}

}  // namespace kith::life
