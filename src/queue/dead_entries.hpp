// Entries of tasks that were taken past their queue: when a queue looks for them, and how a deque drops them.
//
// A worker that claims a task leaves its entry behind, and the task's slot lives until that is dropped. A queue in which
// the owner's end is never empty would keep such entries for ever. Whoever pushes therefore cleans up once it has left
// enough of them behind; what a clean-up costs is paid for by the claims before it.
#pragma once

#include <cstdint>
#include <vector>

namespace kith {

/// Of one worker: what it has left behind since its last clean-up. Its own thread alone uses it.
class dead_entries {
 public:
  void leave_one() noexcept { ++left_; }
  bool too_many() const noexcept { return left_ >= bound_; }
  /// Entries that a clean-up looks at.
  std::size_t budget() const noexcept { return std::size_t{4} * left_; }
  /// A clean-up has dropped so many. Where it found few the others are elsewhere, and the next one is later.
  void cleaned(std::size_t dropped) noexcept {
    bound_ = dropped * 4 >= left_ ? least : bound_ < most ? bound_ * 2 : most;
    left_ = 0;
  }

 private:
  static constexpr std::uint32_t least = 64, most = 512;
  std::uint32_t left_ = 0, bound_ = least;
};

/// Drops dead entries near the owner's end of the deque; the others keep their order. By the owner, who rings for `kept`
/// entries afterwards: for a moment they could not be seen. drop(entry) is true if it was dead, and is dropped.
template <class Deque, class Entry, class Drop>
std::size_t drop_dead(Deque& entries, dead_entries& dead, const Drop& drop, std::vector<Entry*>& kept) {
  kept.clear();
  std::size_t dropped = 0;
  while (kept.size() + dropped < dead.budget()) {
    Entry* const e = entries.pop();
    if (e == nullptr) break;
    if (drop(*e)) {
      ++dropped;
    } else {
      kept.push_back(e);
    }
  }
  for (std::size_t i = kept.size(); i-- > 0;) entries.push(kept[i]);
  dead.cleaned(dropped);
  return kept.size();
}

}  // namespace kith
