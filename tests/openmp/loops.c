// Work-sharing loops: each iteration runs exactly once, under every schedule.
#include "iterations.h"

#include <limits.h>
#include <omp.h>
#include <string.h>

/// The same loops with each clause; `n` is not known to the compiler.
#define LOOPS(clause)                                                                                      \
  static void loops_##clause(int n) {                                                                      \
    _Pragma("omp parallel") {                                                                              \
      _Pragma(SCHEDULE) for (int i = 0; i < n; i++) ran(i);                                                \
    }                                                                                                      \
    expect_times(SCHEDULE, 0, n, 1, 1);                                                                          \
    _Pragma("omp parallel") {                                                                              \
      _Pragma(SCHEDULE) for (long i = n; i >= 3; i -= 7) ran(i);                                           \
    }                                                                                                      \
    expect_times(SCHEDULE " down", 3 + (n - 3) % 7, n + 1, 7, 1);                                                \
    _Pragma("omp parallel") {                                                                              \
      _Pragma(SCHEDULE) for (int i = 5; i < n; i += 11) ran(i);                                            \
    }                                                                                                      \
    expect_times(SCHEDULE " by 11", 5, n, 11, 1);                                                                \
    _Pragma("omp parallel") {                                                                              \
      _Pragma(SCHEDULE) for (int i = n + 5; i < 5; i++) ran(i);                                               \
      _Pragma(SCHEDULE) for (int i = n; i < n; i++) ran(i);                                                \
      _Pragma(SCHEDULE) for (int i = 0; i > n; i--) ran(i);                                                \
      _Pragma(SCHEDULE) for (int i = 0; i < 1; i++) ran(i);                                                \
    }                                                                                                      \
    expect_times(SCHEDULE " empty", 0, 1, 1, 1);                                                                 \
  }
#define SCHEDULE "omp for schedule(static)"
LOOPS(static)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(static, 3)"
LOOPS(static_3)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(dynamic)"
LOOPS(dynamic)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(dynamic, 5)"
LOOPS(dynamic_5)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(monotonic : dynamic, 2)"
LOOPS(monotonic)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(guided)"
LOOPS(guided)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(guided, 4)"
LOOPS(guided_4)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(monotonic : guided)"
LOOPS(monotonic_guided)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(auto)"
LOOPS(auto)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(runtime)"
LOOPS(runtime)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(monotonic : runtime)"
LOOPS(monotonic_runtime)
#undef SCHEDULE
#define SCHEDULE "omp for schedule(nonmonotonic : runtime)"
LOOPS(nonmonotonic_runtime)
#undef SCHEDULE

static void all_runtime(void) {
  const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  for (int k = 0; k < 4; k++) {
    for (int chunk = 0; chunk < 8; chunk += 7) {
      omp_set_schedule(kinds[k], chunk);
      loops_runtime(500);
      loops_monotonic_runtime(500);
      loops_nonmonotonic_runtime(500);
    }
  }
  // schedule(static, chunk) says which thread has which iteration.
  omp_set_schedule(omp_sched_static, 6);
  int owner[300];
#pragma omp parallel for schedule(runtime)
  for (int i = 0; i < 300; i++) owner[i] = omp_get_thread_num();
  const int threads = omp_get_max_threads();
  for (int i = 0; i < 300; i++) CHECK(owner[i] == i / 6 % threads, "static, 6: thread %d has iteration %d", owner[i], i);
}

// With constant bounds a loop and its region are one call.
static void combined(void) {
#pragma omp parallel for schedule(dynamic, 3) num_threads(3)
  for (int i = 0; i < 1000; i++) ran(i);
#pragma omp parallel for schedule(guided)
  for (int i = 0; i < 1000; i++) ran(i);
#pragma omp parallel for schedule(runtime)
  for (int i = 999; i >= 0; i--) ran(i);
#pragma omp parallel for schedule(static, 9)
  for (int i = 0; i < 1000; i++) ran(i);
#pragma omp parallel for schedule(monotonic : dynamic)
  for (int i = 0; i < 1000; i++) ran(i);
#pragma omp parallel for schedule(monotonic : guided, 2)
  for (int i = 0; i < 1000; i++) ran(i);
  expect_times("combined", 0, 1000, 1, 6);
}

static void collapsed(int n) {
#pragma omp parallel for collapse(2) schedule(dynamic, 4)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < 40; j++) ran(i * 40 + j);
  expect_times("collapse(2)", 0, n * 40, 1, 1);
#pragma omp parallel for collapse(3) schedule(guided)
  for (int i = n - 1; i >= 0; i--)
    for (int j = 0; j < 4; j++)
      for (int k = 9; k >= 0; k--) ran(i * 40 + j * 10 + k);
  expect_times("collapse(3)", 0, n * 40, 1, 1);
#pragma omp parallel for collapse(2)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) ran(i * (i - 1) / 2 + j);
  expect_times("collapse(2) of a triangle", 0, n * (n - 1) / 2, 1, 1);
}

// Threads may be several loops apart.
static void chain(int n) {
  int sum = 0;
#pragma omp parallel reduction(+ : sum)
  for (int round = 0; round < 60; round++) {
#pragma omp for schedule(dynamic) nowait
    for (int i = 0; i < n; i++) ran(i);
#pragma omp for schedule(guided) nowait
    for (int i = 0; i < n; i++) ran(i);
#pragma omp for schedule(static, 2) nowait
    for (int i = 0; i < n; i++) ran(i);
#pragma omp for schedule(runtime) nowait
    for (int i = 0; i < n; i++) ran(i);
#pragma omp for schedule(dynamic, 100) nowait
    for (int i = 5; i < 5; i++) ran(i);
    sum++;
  }
  CHECK(sum == 60 * omp_get_max_threads(), "%d rounds", sum);
  expect_times("nowait", 0, n, 1, 240);
}

static void last(int n) {
  int x = -1, y = -1, z = -1;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic) lastprivate(x)
    for (int i = 0; i < n; i++) x = i * 2;
    CHECK(x == 2 * (n - 1), "lastprivate: %d", x);
#pragma omp for schedule(guided) lastprivate(y)
    for (int i = n; i > 0; i -= 3) y = i;
  }
  CHECK(y == (n - 1) % 3 + 1, "lastprivate down: %d", y);
#pragma omp parallel for schedule(dynamic, 2) lastprivate(conditional : z)
  for (int i = 0; i < n; i++)
    if (i % 10 == 7) z = i;
  CHECK(z == (n - 8) / 10 * 10 + 7, "lastprivate(conditional): %d", z);
}

static void at_the_limits(void) {
  const long high = LONG_MAX - 1000;
#pragma omp parallel for schedule(dynamic, 5000)
  for (long i = high; i < LONG_MAX - 10; i += 3) ran(i - high);
  expect_times("near LONG_MAX", 0, 990, 3, 1);
  const long low = LONG_MIN + 10;
#pragma omp parallel for schedule(dynamic, 5000)
  for (long i = low + 990; i > low; i -= 3) ran(i - low);
  expect_times("near LONG_MIN", 3, 991, 3, 1);
#pragma omp parallel for schedule(guided)
  for (long i = high; i < LONG_MAX - 10; i += 3) ran(i - high);
  expect_times("near LONG_MAX, guided", 0, 990, 3, 1);
  const long step = LONG_MAX / 50, begin = -(LONG_MAX / 2);
#pragma omp parallel for schedule(dynamic)
  for (long i = begin; i < LONG_MAX / 2 - step; i += step) ran((i - begin) / step);
  expect_times("of a wide range", 0, 50, 1, 1);
}

int main(void) {
  const int sizes[] = {3, 64, 1000};
  for (int k = 0; k < 3; k++) {
    const int n = sizes[k];
    loops_static(n);
    loops_static_3(n);
    loops_dynamic(n);
    loops_dynamic_5(n);
    loops_monotonic(n);
    loops_guided(n);
    loops_guided_4(n);
    loops_monotonic_guided(n);
    loops_auto(n);
  }
  all_runtime();
  combined();
  collapsed(50);
  chain(20);
  last(998);
  at_the_limits();
  return finish();
}
