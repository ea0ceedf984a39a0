// Entries of claimed tasks: when a queue looks for them, and how a deque drops them.
//
// A worker that claims a task leaves its entry in the queue, and the task's slot lives until that entry is
// dropped. A queue whose owner never empties it would keep such entries for ever. So a worker that has left
// enough of them cleans up at its next push. The claims before a clean-up bound its cost.
#pragma once

#include <cstdint>
#include <vector>

namespace kith {

/// Counts the entries that one worker has left since its last clean-up. Only that worker's thread uses it.
class dead_entries {
 public:
  void leave_one() noexcept { --more_; }
  bool too_many() const noexcept { return more_ <= 0; }
  /// How many entries a clean-up examines.
  std::size_t budget() const noexcept { return std::size_t{4} * left(); }
  /// Called after a clean-up has dropped this number of entries. If that is few, the others are elsewhere, and the next
  /// clean-up comes later.
  void cleaned(std::size_t dropped) noexcept {
    bound_ = dropped * 4 >= left() ? least : bound_ < most ? bound_ * 2 : most;
    more_ = bound_;
  }

 private:
  std::size_t left() const noexcept { return static_cast<std::size_t>(bound_ - more_); }

  static constexpr std::int32_t least = 64, most = 512;
  std::int32_t bound_ = least;
  std::int32_t more_ = least;  // entries that it may leave before the next clean-up
};

/// Drops dead entries near the owner's end of the deque; the others keep their order. Returns the number of entries
/// that it pushed again. Called by the owner, which must then ring for these, because thieves could not see them for a
/// moment. drop(entry) returns true if the entry was dead, and drops it.
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
