// The orderings stronger than relaxed that a run used, and one of them made weaker. For tests, and the
// checker's own files.
//
// A test that passes although an ordering was weakened does not test that ordering: see needed.hpp.
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

/// One side of the operations on one line of source.
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

/// What operations use, across the runs of one exploration.
class orderings {
 public:
  /// `weakened` loses its effect.
  explicit orderings(std::optional<ordering> weakened) : weakened_(std::move(weakened)) {}

  /// The order that an operation there is to have instead of `order`.
  std::memory_order load(std::memory_order order, const std::source_location&);
  std::memory_order store(std::memory_order order, const std::source_location&);
  std::memory_order modify(std::memory_order order, const std::source_location&);
  /// False if the fence there is to be left out.
  bool fence(const std::source_location&);

  std::vector<ordering> used() const;

 private:
  bool drop(side, const std::source_location&);

  std::optional<ordering> weakened_;
  std::map<std::pair<const char*, unsigned>, unsigned> used_;  // bit set of sides
};

}  // namespace kith::interleave
