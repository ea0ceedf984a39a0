// The orderings stronger than relaxed that a run used, one of which may be weakened. For tests, and for the checker.
//
// A test that passes with a weakened ordering does not test that ordering: see expect.hpp.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

namespace kith::interleave {

enum class side { acquire, release, fence };

/// One side (acquire, release or fence) of the operations on one source line.
struct ordering {
  std::string file;
  unsigned line = 0;
  side what = side::fence;

  /// "deque.hpp:57 (release): the line"
  std::string text() const;
  auto operator<=>(const ordering&) const = default;
};

/// Line `line` of a file, without indentation; empty if it cannot be read.
std::string source_line(const std::string& file, unsigned line);

inline bool acquires(std::memory_order o) noexcept {
  return o != std::memory_order_relaxed && o != std::memory_order_release;
}
inline bool releases(std::memory_order o) noexcept {
  return o == std::memory_order_release || o == std::memory_order_acq_rel || o == std::memory_order_seq_cst;
}

/// The orderings that operations use, over all runs of one exploration.
class orderings {
 public:
  /// `weakened` has no effect.
  explicit orderings(std::optional<ordering> weakened) : weakened_(std::move(weakened)) {}

  /// The order that the operation must have instead of `order`.
  std::memory_order load(std::memory_order order, const std::source_location&);
  std::memory_order store(std::memory_order order, const std::source_location&);
  std::memory_order modify(std::memory_order order, const std::source_location&);
  /// False if the fence must be left out.
  bool fence(const std::source_location&);

  std::vector<ordering> used() const;

 private:
  bool drop(side, const std::source_location&);

  std::optional<ordering> weakened_;
  std::map<std::pair<const char*, unsigned>, unsigned> used_;  // bit set of sides
};

}  // namespace kith::interleave
