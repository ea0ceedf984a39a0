// Random programs whose tasks name ranges that contain each other, and the orders that these require, byte by byte.
#pragma once

#include "base/rng.hpp"

#include <kith/access.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::test {

struct named_range {
  std::size_t begin, end;
  bool contains(const named_range& r) const { return begin <= r.begin && r.end <= end; }
  bool operator==(const named_range&) const = default;
};
struct range_access {
  named_range of;
  mode how;
};
using range_task = std::vector<range_access>;

/// Ranges of `bytes` bytes, no two of which overlap in part. They are cut at random, recursively; the first
/// is the whole.
inline void cut(rng& random, named_range whole, int depth, std::vector<named_range>& into) {
  into.push_back(whole);
  const std::size_t size = whole.end - whole.begin;
  if (depth == 0 || size < 2) return;
  std::vector<std::size_t> at{whole.begin, whole.end};
  for (std::uint32_t n = 1 + random.below(3); n > 0; --n)
    at.push_back(whole.begin + random.below(static_cast<std::uint32_t>(size)));
  std::ranges::sort(at);
  for (std::size_t i = 0; i + 1 < at.size(); ++i) {
    const named_range part{at[i], at[i + 1]};
    if (part.begin == part.end || part == whole || random.below(8) == 0) continue;  // not all bytes are in a tile
    cut(random, part, depth - 1, into);
  }
}

/// `often`: out of ten accesses, this many have the mode `mostly`, so that groups grow.
inline std::vector<range_task> random_range_tasks(std::uint64_t seed, std::size_t tasks, std::size_t bytes, int depth) {
  rng random(seed, purpose::test, 2);
  std::vector<named_range> ranges;
  cut(random, {0, bytes}, depth, ranges);
  const auto count = static_cast<std::uint32_t>(ranges.size());
  std::vector<range_task> all(tasks);
  auto mostly = mode::in;
  for (range_task& t : all) {
    if (random.below(6) == 0) mostly = static_cast<mode>(random.below(5));
    for (std::uint32_t n = 1 + random.below(3) / 2 + random.below(5) / 4; n > 0; --n) {
      const mode how = random.below(10) < 6 ? mostly : static_cast<mode>(random.below(5));
      t.push_back({ranges[random.below(count)], how});
    }
  }
  return all;
}

/// Which tasks must come before which: before[t][b] is true if task b must end before task t starts. Each byte
/// is examined separately. The tasks that use it follow each other in the order of their creation, except for
/// members of one group: readers, concurrent tasks, and tasks that name the same range as commutative.
inline std::vector<std::vector<bool>> orders_of(const std::vector<range_task>& tasks, std::size_t bytes) {
  std::vector<std::vector<bool>> before(tasks.size(), std::vector<bool>(tasks.size()));
  for (std::size_t byte = 0; byte < bytes; ++byte) {
    std::vector<std::size_t> earlier, group;  // tasks before the group; tasks in it
    range_access last{{0, 0}, mode::out};
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      for (const range_access& a : tasks[t]) {
        if (byte < a.of.begin || byte >= a.of.end) continue;
        const bool joins = a.how == last.how && (a.how == mode::in || a.how == mode::concurrent ||
                                                 (a.how == mode::commutative && a.of == last.of));
        if (!joins) {
          earlier.insert(earlier.end(), group.begin(), group.end());
          group.clear();
        }
        last = a;
        for (std::size_t b : earlier) {
          if (b != t) before[t][b] = true;
        }
        group.push_back(t);
      }
    }
  }
  for (std::size_t t = 0; t < tasks.size(); ++t) {  // earlier tasks already have everything that is before them
    for (std::size_t b = t; b-- > 0;) {
      if (!before[t][b]) continue;
      for (std::size_t c = 0; c < b; ++c) {
        if (before[b][c]) before[t][c] = true;
      }
    }
  }
  return before;
}

}  // namespace kith::test
