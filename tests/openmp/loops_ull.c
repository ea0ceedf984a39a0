// Work-sharing loops over unsigned long long: up, down, near the limits, under every schedule.
#include "iterations.h"

#include <limits.h>
#include <omp.h>
#include <string.h>

typedef unsigned long long ull;

#define LOOPS(clause)                                                                                             \
  static void loops_##clause(ull n, ull high, ull step) {                                                         \
    _Pragma("omp parallel") {                                                                                     \
      _Pragma(SCHEDULE) for (ull i = 0; i < n; i++) ran(i);                                                       \
    }                                                                                                             \
    expect(SCHEDULE, 0, (int)n, 1);                                                                               \
    _Pragma("omp parallel") {                                                                                     \
      _Pragma(SCHEDULE) for (ull i = n; i > 4; i -= 3) ran(i);                                                    \
    }                                                                                                             \
    expect(SCHEDULE " down", 5 + (int)(n - 5) % 3, (int)n + 1, 3);                                                \
    _Pragma("omp parallel") {                                                                                     \
      _Pragma(SCHEDULE) for (ull i = high; i < ULLONG_MAX - 10; i += 3) ran(i - high);                            \
    }                                                                                                             \
    expect(SCHEDULE " near ULLONG_MAX", 0, 990, 3);                                                               \
    _Pragma("omp parallel") {                                                                                     \
      _Pragma(SCHEDULE) for (ull i = ULLONG_MAX - 11; i >= high; i -= 1) ran(i - high);                           \
    }                                                                                                             \
    expect(SCHEDULE " down from ULLONG_MAX", 0, 990, 1);                                                          \
    _Pragma("omp parallel") {                                                                                     \
      _Pragma(SCHEDULE) for (ull i = 0; i < ULLONG_MAX - step; i += step) ran(i / step);                          \
    }                                                                                                             \
    expect(SCHEDULE " of a wide range", 0, 41, 1);                                                                \
    _Pragma("omp parallel") {                                                                                     \
      _Pragma(SCHEDULE) for (ull i = n; i < 5; i++) ran(i);                                                       \
      _Pragma(SCHEDULE) for (ull i = high; i < high; i++) ran(i);                                                 \
      _Pragma(SCHEDULE) for (ull i = 7; i < 8; i++) ran(i);                                                       \
    }                                                                                                             \
    expect(SCHEDULE " empty", 7, 8, 1);                                                                           \
  }
#define SCHEDULE "omp for schedule(static)"
LOOPS(static)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(static, 4)"
LOOPS(static_4)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(dynamic)"
LOOPS(dynamic)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(monotonic : dynamic, 30)"
LOOPS(dynamic_30)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(guided)"
LOOPS(guided)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(monotonic : guided, 5)"
LOOPS(guided_5)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(runtime)"
LOOPS(runtime)
#undef SCHEDULE

int main(void) {
  const ull high = ULLONG_MAX - 1000, step = ULLONG_MAX / 41;
  loops_static(1000, high, step);
  loops_static_4(1000, high, step);
  loops_dynamic(1000, high, step);
  loops_dynamic_30(1000, high, step);
  loops_guided(1000, high, step);
  loops_guided_5(1000, high, step);
  const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  for (int k = 0; k < 4; k++) {
    omp_set_schedule(kinds[k], k);
    loops_runtime(1000, high, step);
  }
  return finish();
}
