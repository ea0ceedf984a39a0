// The entry points of loops.
//
// A name says the schedule, whether there are ordered regions, and the type of the loop's variable: long, or unsigned
// long long (ull). The modifiers of the schedule make no difference here: whatever is allowed in any order is also
// right in the order of the iterations.
#include "openmp/abi.hpp"
#include "openmp/loop.hpp"

using namespace kith::openmp;

using ull = unsigned long long;

namespace {

constexpr auto static_ = schedule_kind::static_, dynamic = schedule_kind::dynamic, guided = schedule_kind::guided;

const std::uint64_t* numbers(const long* counts) noexcept { return reinterpret_cast<const std::uint64_t*>(counts); }
const std::uint64_t* numbers(const ull* counts) noexcept { return reinterpret_cast<const std::uint64_t*>(counts); }

template <class Value>
bool start_full(construct c, Value* begin, Value* end, std::uintptr_t* reductions, void** memory) {
  c.reductions = reductions;
  c.memory = memory;
  return start_loop(c, begin, end);
}

}  // namespace

// NAME, schedule, ordered
#define KITH_FIXED(X)                     \
  X(static, static_, false)               \
  X(dynamic, dynamic, false)              \
  X(guided, guided, false)                \
  X(nonmonotonic_dynamic, dynamic, false) \
  X(nonmonotonic_guided, guided, false)   \
  X(ordered_static, static_, true)        \
  X(ordered_dynamic, dynamic, true)       \
  X(ordered_guided, guided, true)

// NAME, ordered
#define KITH_RUNTIME(X)                \
  X(runtime, false)                    \
  X(nonmonotonic_runtime, false)       \
  X(maybe_nonmonotonic_runtime, false) \
  X(ordered_runtime, true)

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are parts of names

#define KITH_NEXT(NAME)                                                                                   \
  KITH_OPENMP_API bool GOMP_loop_##NAME##_next(long* begin, long* end) { return next_chunk(begin, end); } \
  KITH_OPENMP_API bool GOMP_loop_ull_##NAME##_next(ull* begin, ull* end) { return next_chunk(begin, end); }

#define KITH_LOOP(NAME, SCHEDULE, ORDERED)                                                                             \
  KITH_OPENMP_API bool GOMP_loop_##NAME##_start(long first, long bound, long step, long chunk, long* begin,            \
                                                long* end) {                                                           \
    return start_loop(loop_construct(signed_space(first, bound, step), fixed_schedule(SCHEDULE, chunk), ORDERED),      \
                      begin, end);                                                                                     \
  }                                                                                                                    \
  KITH_OPENMP_API bool GOMP_loop_ull_##NAME##_start(bool up, ull first, ull bound, ull step, ull chunk, ull* begin,    \
                                                    ull* end) {                                                        \
    return start_loop(                                                                                                 \
        loop_construct(unsigned_space(up, first, bound, step), fixed_schedule(SCHEDULE, chunk), ORDERED), begin, end); \
  }                                                                                                                    \
  KITH_NEXT(NAME)
KITH_FIXED(KITH_LOOP)

#define KITH_RUNTIME_LOOP(NAME, ORDERED)                                                                             \
  KITH_OPENMP_API bool GOMP_loop_##NAME##_start(long first, long bound, long step, long* begin, long* end) {         \
    return start_loop(loop_construct(signed_space(first, bound, step), runtime_schedule(), ORDERED), begin, end);    \
  }                                                                                                                  \
  KITH_OPENMP_API bool GOMP_loop_ull_##NAME##_start(bool up, ull first, ull bound, ull step, ull* begin, ull* end) { \
    return start_loop(loop_construct(unsigned_space(up, first, bound, step), runtime_schedule(), ORDERED), begin,    \
                      end);                                                                                          \
  }                                                                                                                  \
  KITH_NEXT(NAME)
KITH_RUNTIME(KITH_RUNTIME_LOOP)

#define KITH_NEST(NAME)                                                                                          \
  KITH_OPENMP_API bool GOMP_loop_doacross_##NAME##_start(unsigned loops, long* counts, long chunk, long* begin,  \
                                                         long* end) {                                            \
    return start_loop(nest_construct(loops, numbers(counts), fixed_schedule(NAME, chunk)), begin, end);          \
  }                                                                                                              \
  KITH_OPENMP_API bool GOMP_loop_ull_doacross_##NAME##_start(unsigned loops, ull* counts, ull chunk, ull* begin, \
                                                             ull* end) {                                         \
    return start_loop(nest_construct(loops, numbers(counts), fixed_schedule(NAME, chunk)), begin, end);          \
  }
KITH_NEST(dynamic)
KITH_NEST(guided)

KITH_OPENMP_API bool GOMP_loop_doacross_static_start(unsigned loops, long* counts, long chunk, long* begin, long* end) {
  return start_loop(nest_construct(loops, numbers(counts), fixed_schedule(static_, chunk)), begin, end);
}

KITH_OPENMP_API bool GOMP_loop_ull_doacross_static_start(unsigned loops, ull* counts, ull chunk, ull* begin, ull* end) {
  return start_loop(nest_construct(loops, numbers(counts), fixed_schedule(static_, chunk)), begin, end);
}

KITH_OPENMP_API bool GOMP_loop_doacross_runtime_start(unsigned loops, long* counts, long* begin, long* end) {
  return start_loop(nest_construct(loops, numbers(counts), runtime_schedule()), begin, end);
}

KITH_OPENMP_API bool GOMP_loop_ull_doacross_runtime_start(unsigned loops, ull* counts, ull* begin, ull* end) {
  return start_loop(nest_construct(loops, numbers(counts), runtime_schedule()), begin, end);
}

// The entry points that take everything as arguments: of loops with task reductions, or with memory of all members.

#define KITH_FULL_LOOP(NAME, ORDERED)                                                                                 \
  KITH_OPENMP_API bool GOMP_loop_##NAME(long first, long bound, long step, long schedule, long chunk, long* begin,    \
                                        long* end, std::uintptr_t* reductions, void** memory) {                       \
    return start_full(loop_construct(signed_space(first, bound, step), schedule_of(schedule, chunk), ORDERED), begin, \
                      end, reductions, memory);                                                                       \
  }                                                                                                                   \
  KITH_OPENMP_API bool GOMP_loop_ull_##NAME(bool up, ull first, ull bound, ull step, long schedule, ull chunk,        \
                                            ull* begin, ull* end, std::uintptr_t* reductions, void** memory) {        \
    return start_full(loop_construct(unsigned_space(up, first, bound, step), schedule_of(schedule, chunk), ORDERED),  \
                      begin, end, reductions, memory);                                                                \
  }
KITH_FULL_LOOP(start, false)
KITH_FULL_LOOP(ordered_start, true)

KITH_OPENMP_API bool GOMP_loop_doacross_start(unsigned loops, long* counts, long schedule, long chunk, long* begin,
                                              long* end, std::uintptr_t* reductions, void** memory) {
  return start_full(nest_construct(loops, numbers(counts), schedule_of(schedule, chunk)), begin, end, reductions,
                    memory);
}

KITH_OPENMP_API bool GOMP_loop_ull_doacross_start(unsigned loops, ull* counts, long schedule, ull chunk, ull* begin,
                                                  ull* end, std::uintptr_t* reductions, void** memory) {
  return start_full(nest_construct(loops, numbers(counts), schedule_of(schedule, chunk)), begin, end, reductions,
                    memory);
}

// A region that is one loop.

#define KITH_REGION(NAME, SCHEDULE)                                                                             \
  KITH_OPENMP_API void GOMP_parallel_loop_##NAME(void (*body)(void*), void* data, unsigned threads, long first, \
                                                 long bound, long step, long chunk, unsigned) {                 \
    run_construct(body, data, threads,                                                                          \
                  loop_construct(signed_space(first, bound, step), fixed_schedule(SCHEDULE, chunk)));           \
  }
KITH_REGION(static, static_)
KITH_REGION(dynamic, dynamic)
KITH_REGION(guided, guided)
KITH_REGION(nonmonotonic_dynamic, dynamic)
KITH_REGION(nonmonotonic_guided, guided)

#define KITH_RUNTIME_REGION(NAME)                                                                               \
  KITH_OPENMP_API void GOMP_parallel_loop_##NAME(void (*body)(void*), void* data, unsigned threads, long first, \
                                                 long bound, long step, unsigned) {                             \
    run_construct(body, data, threads, loop_construct(signed_space(first, bound, step), runtime_schedule()));   \
  }
KITH_RUNTIME_REGION(runtime)
KITH_RUNTIME_REGION(nonmonotonic_runtime)
KITH_RUNTIME_REGION(maybe_nonmonotonic_runtime)

// NOLINTEND(bugprone-macro-parentheses)

KITH_OPENMP_API void GOMP_loop_end() { here().team->barrier(); }
KITH_OPENMP_API bool GOMP_loop_end_cancel() { return here().team->barrier_or_cancelled(); }
KITH_OPENMP_API void GOMP_loop_end_nowait() {}  // a member leaves a construct when it enters the next one
