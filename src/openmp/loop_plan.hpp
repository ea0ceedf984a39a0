// How a loop is cut into chunks, apart from who takes which. Plain arithmetic: safe for all bounds of long and of
// unsigned long long.
#pragma once

#include "base/atomic.hpp"
#include "openmp/icv.hpp"

#include <cstdint>

namespace kith::openmp {

/// The iterations of a loop, numbered from 0. Values of the loop's variable are computed modulo 2^64, so that signed
/// and unsigned variables, and both directions, are one case.
struct iteration_space {
  std::uint64_t first = 0;  // the value in iteration 0
  std::uint64_t end = 0;    // the bound, as the program has it
  std::uint64_t step = 1;
  std::uint64_t count = 0;  // of iterations

  std::uint64_t value(std::uint64_t iteration) const noexcept { return first + iteration * step; }
  /// The bound of a chunk that ends before the iteration. Past the last one it is the program's bound, because the
  /// next value of the variable may overflow.
  std::uint64_t bound(std::uint64_t iteration) const noexcept { return iteration == count ? end : value(iteration); }
};

/// The number of iterations of a loop that has at least one, with its last value instead of a bound. 0: 2^64.
constexpr std::uint64_t inclusive_count(std::uint64_t first, std::uint64_t last, std::uint64_t step, bool up) noexcept {
  return (up ? (last - first) / step : (first - last) / (0 - step)) + 1;
}
/// The space of a loop over signed values: up if step > 0, down if step < 0.
iteration_space signed_space(long first, long end, long step) noexcept;
/// The space of a loop over unsigned values; the step of one that goes down is the negative one modulo 2^64.
iteration_space unsigned_space(bool up, std::uint64_t first, std::uint64_t end, std::uint64_t step) noexcept;

struct loop_plan {
  iteration_space space;
  schedule_kind schedule = schedule_kind::static_;
  bool ordered = false;
  std::uint64_t chunk = 0;  // iterations of a chunk; guided: at least; static: 0 for one block for each member
};

/// The plan; `chunk` as the program gives it, 0 for the default.
loop_plan plan_loop(const iteration_space&, schedule_kind, std::uint64_t chunk, bool ordered = false) noexcept;

struct iteration_range {
  std::uint64_t begin = 0, end = 0;
  bool is_empty() const noexcept { return begin == end; }
};

/// The chunk number `trip` of a member, by the mapping of libgomp. Empty: it has no such one, and none after it.
iteration_range static_chunk(const loop_plan&, std::uint64_t members, std::uint64_t member,
                             std::uint64_t trip) noexcept;
/// Takes the next chunk of a dynamic or guided loop; `taken` are the iterations before it. Empty: none is left. Called
/// by at most `members` threads at a time. Thread-safe.
iteration_range take_chunk(const loop_plan&, std::uint64_t members, atomic<std::uint64_t>& taken) noexcept;

}  // namespace kith::openmp
