// Work-sharing loops and `distribute`.
//
// A static loop is arithmetic in each thread: __kmpc_for_static_init. All others are dispatched, chunk by chunk. Bounds
// are the first and the last value, and the loop's variable has one of four types.
#include "openmp/abi.hpp"
#include "openmp/kmpc/types.hpp"
#include "openmp/loop.hpp"
#include "openmp/ordered.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

using namespace kith::openmp;
using namespace kith::openmp::kmpc;

namespace {

/// The numbers of the ABI (enum sched_type).
namespace number {
constexpr std::uint32_t modifiers = 1U << 29 | 1U << 30,  // monotonic and not
    unordered = 32, ordered = 64, distribute = 91, merged = 160, merged_ordered = 192;
// From one of these bases.
constexpr std::uint32_t static_chunked = 1, dynamic = 3, guided = 4, runtime = 5, trapezoidal = 7,
                        guided_iterative = 10, guided_analytical = 11, static_steal = 12, static_balanced_chunked = 13,
                        guided_simd = 14, runtime_simd = 15;
}  // namespace number

struct wanted_loop {
  loop_schedule how;
  bool ordered;
};

wanted_loop read_schedule(std::int32_t given, std::int64_t chunk) noexcept {
  std::uint32_t n = static_cast<std::uint32_t>(given) & ~number::modifiers;
  bool ordered = false;
  for (const std::uint32_t base : {number::merged_ordered, number::merged, number::ordered, number::unordered}) {
    if (n < base) continue;
    ordered = base == number::ordered || base == number::merged_ordered;
    n -= base;
    break;
  }
  switch (n) {
    case number::dynamic:
    case number::static_steal: return {fixed_schedule(schedule_kind::dynamic, chunk), ordered};
    case number::guided:
    case number::trapezoidal:
    case number::guided_iterative:
    case number::guided_analytical:
    case number::guided_simd: return {fixed_schedule(schedule_kind::guided, chunk), ordered};
    case number::runtime:
    case number::runtime_simd: return {runtime_schedule(), ordered};
    case number::static_chunked:
    case number::static_balanced_chunked: return {fixed_schedule(schedule_kind::static_, chunk), ordered};
    default: return {fixed_schedule(schedule_kind::static_, 0L), ordered};  // and `auto`
  }
}

bool is_chunked(std::int32_t given) noexcept {
  const std::uint32_t n = static_cast<std::uint32_t>(given) & ~number::modifiers;
  return n == number::unordered + number::static_chunked || n == number::unordered + number::static_balanced_chunked ||
         n == number::distribute || n == number::merged + number::static_chunked;
}

bool is_distribute(std::int32_t given) noexcept {
  const std::uint32_t n = static_cast<std::uint32_t>(given) & ~number::modifiers;
  return n == number::distribute || n == number::distribute + 1;
}

/// Values as 64 bits, by which iteration_space computes.
template <class T>
std::uint64_t widened(T value) noexcept {
  return static_cast<std::uint64_t>(
      static_cast<std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>(value));
}

/// From `first` to `last`; neither direction overflows.
template <class T>
iteration_space space_of(T first, T last, std::make_signed_t<T> step) noexcept {
  const std::uint64_t by = widened(step);
  std::uint64_t count = 0;
  if (step > 0 ? first <= last : first >= last) count = inclusive_count(widened(first), widened(last), by, step > 0);
  // An empty loop may be passed as one from 0 to -1, which is the largest number.
  if (sizeof(T) < sizeof count && count > std::numeric_limits<std::make_unsigned_t<T>>::max()) count = 0;
  return {widened(first), widened(first) + count * by, by, count};
}

/// One of the threads of a team, or of the teams of a league.
struct sharer {
  std::uint64_t number, size;
};
sharer this_thread() noexcept {
  const context& c = here();
  return {static_cast<std::uint64_t>(c.thread), static_cast<std::uint64_t>(c.team->size)};
}
sharer this_team() noexcept {
  const icv_set& icv = here().icv();
  return {static_cast<std::uint64_t>(icv.team_number), static_cast<std::uint64_t>(icv.teams > 0 ? icv.teams : 1)};
}

/// Sets the bounds of the sharer's first chunk, and the distance to its next one. If it has none, the first value is
/// past the last.
template <class T>
void give_static_part(sharer who, std::int32_t schedule, std::int32_t* is_last, T* first, T* last,
                      std::make_signed_t<T>* stride, std::make_signed_t<T> step, std::make_signed_t<T> chunk) noexcept {
  const iteration_space all = space_of(*first, *last, step);
  if (is_last != nullptr) *is_last = 0;
  *stride = step;
  if (all.count == 0) return;
  const loop_plan plan = plan_loop(all, schedule_kind::static_,
                                   is_chunked(schedule) ? static_cast<std::uint64_t>(chunk > 1 ? chunk : 1) : 0);
  const iteration_range mine = static_chunk(plan, who.size, who.number, 0);
  const std::uint64_t round = plan.chunk != 0 ? plan.chunk * who.size : all.count;
  *stride = static_cast<std::make_signed_t<T>>(round * all.step);
  if (is_last != nullptr) {
    const bool has_last =
        plan.chunk != 0 ? (all.count - 1) / plan.chunk % who.size == who.number : mine.end == all.count;
    *is_last = has_last && !mine.is_empty();
  }
  if (mine.is_empty()) {  // nothing, by values that exist
    using wrapping = std::make_unsigned_t<T>;
    const T before = static_cast<T>(static_cast<wrapping>(*first) - static_cast<wrapping>(step));
    const T after = static_cast<T>(static_cast<wrapping>(*first) + static_cast<wrapping>(step));
    const bool has_before = step > 0 ? before < *first : before > *first;
    *last = has_before ? before : *first;
    if (!has_before) *first = after;
    return;
  }
  *first = static_cast<T>(all.value(mine.begin));
  *last = static_cast<T>(all.value(mine.end - 1));
}

template <class T>
void start_static(std::int32_t schedule, std::int32_t* is_last, T* first, T* last, std::make_signed_t<T>* stride,
                  std::make_signed_t<T> step, std::make_signed_t<T> chunk) noexcept {
  give_static_part(is_distribute(schedule) ? this_team() : this_thread(), schedule, is_last, first, last, stride, step,
                   chunk);
}

/// The part of the team, and in it that of the thread.
template <class T>
void start_distributed(std::int32_t schedule, std::int32_t* is_last, T* first, T* last, T* last_of_team,
                       std::make_signed_t<T>* stride, std::make_signed_t<T> step,
                       std::make_signed_t<T> chunk) noexcept {
  std::int32_t is_last_team = 0;
  give_static_part(this_team(), number::distribute + 1, &is_last_team, first, last, stride, step, chunk);
  *last_of_team = *last;
  give_static_part(this_thread(), schedule, is_last, first, last, stride, step, chunk);
  if (is_last != nullptr) *is_last = *is_last != 0 && is_last_team != 0;
}

template <class T>
void start_dispatched(std::int32_t schedule, T first, T last, std::make_signed_t<T> step, std::make_signed_t<T> chunk) {
  const wanted_loop wanted = read_schedule(schedule, chunk);
  enter(loop_construct(space_of(first, last, step), wanted.how, wanted.ordered));
}

template <class T>
std::int32_t next_dispatched(std::int32_t* is_last, T* first, T* last, std::make_signed_t<T>* step) {
  const iteration_range chunk = next_chunk();
  if (chunk.is_empty()) return 0;
  const iteration_space& space = member_of(here()).shares.loop.space;
  *first = static_cast<T>(space.value(chunk.begin));
  *last = static_cast<T>(space.value(chunk.end - 1));
  if (step != nullptr) *step = static_cast<std::make_signed_t<T>>(space.step);
  if (is_last != nullptr) *is_last = chunk.end == space.count;
  return 1;
}

}  // namespace

// The end of the name, and the type of the loop's variable.
#define KITH_TYPES(X)  \
  X(4, std::int32_t)   \
  X(4u, std::uint32_t) \
  X(8, std::int64_t)   \
  X(8u, std::uint64_t)

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are parts of names, and types

#define KITH_LOOP(END, T)                                                                                              \
  KITH_OPENMP_API void __kmpc_for_static_init_##END(                                                                   \
      const location*, std::int32_t, std::int32_t schedule, std::int32_t* is_last, T* first, T* last,                  \
      std::make_signed_t<T>* stride, std::make_signed_t<T> step, std::make_signed_t<T> chunk) {                        \
    start_static(schedule, is_last, first, last, stride, step, chunk);                                                 \
  }                                                                                                                    \
  KITH_OPENMP_API void __kmpc_team_static_init_##END(const location*, std::int32_t, std::int32_t* is_last, T* first,   \
                                                     T* last, std::make_signed_t<T>* stride,                           \
                                                     std::make_signed_t<T> step, std::make_signed_t<T> chunk) {        \
    start_static(number::distribute, is_last, first, last, stride, step, chunk);                                       \
  }                                                                                                                    \
  KITH_OPENMP_API void __kmpc_dist_for_static_init_##END(                                                              \
      const location*, std::int32_t, std::int32_t schedule, std::int32_t* is_last, T* first, T* last, T* last_of_team, \
      std::make_signed_t<T>* stride, std::make_signed_t<T> step, std::make_signed_t<T> chunk) {                        \
    start_distributed(schedule, is_last, first, last, last_of_team, stride, step, chunk);                              \
  }                                                                                                                    \
  KITH_OPENMP_API void __kmpc_dispatch_init_##END(const location*, std::int32_t, std::int32_t schedule, T first,       \
                                                  T last, std::make_signed_t<T> step, std::make_signed_t<T> chunk) {   \
    start_dispatched(schedule, first, last, step, chunk);                                                              \
  }                                                                                                                    \
  KITH_OPENMP_API void __kmpc_dist_dispatch_init_##END(const location*, std::int32_t, std::int32_t schedule,           \
                                                       std::int32_t* is_last, T first, T last,                         \
                                                       std::make_signed_t<T> step, std::make_signed_t<T> chunk) {      \
    std::make_signed_t<T> stride = 0;                                                                                  \
    start_static(number::distribute + 1, is_last, &first, &last, &stride, step, chunk);                                \
    start_dispatched(schedule, first, last, step, chunk);                                                              \
  }                                                                                                                    \
  KITH_OPENMP_API std::int32_t __kmpc_dispatch_next_##END(const location*, std::int32_t, std::int32_t* is_last,        \
                                                          T* first, T* last, std::make_signed_t<T>* step) {            \
    return next_dispatched(is_last, first, last, step);                                                                \
  }                                                                                                                    \
  KITH_OPENMP_API void __kmpc_dispatch_fini_##END(const location*, std::int32_t) {}
KITH_TYPES(KITH_LOOP)

// NOLINTEND(bugprone-macro-parentheses)

KITH_OPENMP_API void __kmpc_for_static_fini(const location*, std::int32_t) {}
KITH_OPENMP_API void __kmpc_dispatch_deinit(const location*, std::int32_t) {}

// The turn is the chunk's: the next one has it when the thread asks for more (dispatch_fini comes after each
// iteration).
KITH_OPENMP_API void __kmpc_ordered(const location*, std::int32_t) { await_turn(); }
KITH_OPENMP_API void __kmpc_end_ordered(const location*, std::int32_t) {}
