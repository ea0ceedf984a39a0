// Ordered regions, and dependences between the iterations of a loop (doacross).
#include "check.h"

#include <omp.h>
#include <string.h>

enum { most = 300, side = 8 };

static int order[most], length;

static void append(int i) {
  // Only one thread at a time is in the ordered region, so nothing here is atomic.
  if (length < most) order[length] = i;
  length++;
}

static void expect(const char* what, int first, int n, int step) {
  CHECK(length == n, "%s: %d ordered regions, not %d", what, length, n);
  for (int i = 0; i < n && i < length; i++)
    CHECK(order[i] == first + i * step, "%s: ordered region %d is of iteration %d", what, i, order[i]);
  length = 0;
}

#define ORDERED(SCHEDULE)                                            \
  do {                                                               \
    _Pragma("omp parallel") {                                        \
      _Pragma(SCHEDULE) for (int i = 0; i < n; i++) {                \
        _Pragma("omp ordered") append(i);                            \
      }                                                              \
    }                                                                \
    expect(SCHEDULE, 0, n, 1);                                       \
    _Pragma("omp parallel") {                                        \
      _Pragma(SCHEDULE) for (int i = n; i > 0; i -= 2) {             \
        _Pragma("omp ordered") append(i);                            \
      }                                                              \
    }                                                                \
    expect(SCHEDULE " down", n, (n + 1) / 2, -2);                    \
    _Pragma("omp parallel") {                                        \
      _Pragma(SCHEDULE) for (unsigned long long i = 3; i < un; i++) { \
        _Pragma("omp ordered") append((int)i);                       \
      }                                                              \
    }                                                                \
    expect(SCHEDULE " of unsigned long long", 3, n - 3, 1);          \
    _Pragma("omp parallel") {                                        \
      _Pragma(SCHEDULE) for (int i = n; i < 3; i++) {                \
        _Pragma("omp ordered") append(i);                            \
      }                                                              \
    }                                                                \
    expect(SCHEDULE " empty", 0, 0, 1);                              \
  } while (0)

static void all_schedules(int n) {
  const unsigned long long un = (unsigned long long)n;
  ORDERED("omp for ordered schedule(static)");
  ORDERED("omp for ordered schedule(static, 3)");
  ORDERED("omp for ordered schedule(dynamic)");
  ORDERED("omp for ordered schedule(dynamic, 7)");
  ORDERED("omp for ordered schedule(guided)");
  ORDERED("omp for ordered schedule(auto)");
  const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  for (int k = 0; k < 4; k++) {
    omp_set_schedule(kinds[k], k);
    ORDERED("omp for ordered schedule(runtime)");
  }
}

static void some_iterations(int n) {
#pragma omp parallel for ordered schedule(dynamic, 2)
  for (int i = 0; i < n; i++) {
    if (i % 3 == 0) {
#pragma omp ordered
      append(i);
    }
  }
  expect("every third iteration", 0, (n + 2) / 3, 3);
#pragma omp parallel for ordered schedule(static)
  for (int i = 0; i < 50; i++) {
#pragma omp ordered
    append(i);
  }
  expect("combined", 0, 50, 1);
#pragma omp parallel
  for (int round = 0; round < 10; round++) {
#pragma omp for ordered schedule(dynamic) nowait
    for (int i = 0; i < 10; i++) {
#pragma omp ordered
#pragma omp atomic
      length++;
    }
  }
  CHECK(length == 100, "ordered nowait: %d regions", length);
  length = 0;
}

#define CHAIN(SCHEDULE)                                                              \
  do {                                                                               \
    long x[most + 2];                                                                \
    x[0] = x[1] = 1;                                                                 \
    _Pragma("omp parallel") {                                                        \
      _Pragma(SCHEDULE) for (int i = 2; i < n; i++) {                                \
        _Pragma("omp ordered depend(sink : i - 1) depend(sink : i - 2)") x[i] = (x[i - 1] + 3 * x[i - 2]) % 1009; \
        _Pragma("omp ordered depend(source)")                                        \
      }                                                                              \
    }                                                                                \
    long a = 1, b = 1;                                                               \
    for (int i = 2; i < n; i++) {                                                    \
      const long c = (b + 3 * a) % 1009;                                             \
      CHECK(x[i] == c, SCHEDULE ": x[%d] is %ld, not %ld", i, x[i], c);              \
      a = b;                                                                         \
      b = c;                                                                         \
    }                                                                                \
  } while (0)

static void chains(int n) {
  CHAIN("omp for ordered(1) schedule(static)");
  CHAIN("omp for ordered(1) schedule(static, 1)");
  CHAIN("omp for ordered(1) schedule(dynamic)");
  CHAIN("omp for ordered(1) schedule(dynamic, 3)");
  CHAIN("omp for ordered(1) schedule(guided)");
  const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided, omp_sched_auto};
  for (int k = 0; k < 4; k++) {
    omp_set_schedule(kinds[k], 2);
    CHAIN("omp for ordered(1) schedule(runtime)");
  }
}

static void grid(int n) {
  static int g[side][side], u[side][side], s[side][side];
  for (int i = 0; i < side; i++)
    for (int j = 0; j < side; j++) g[i][j] = u[i][j] = s[i][j] = i == 0 || j == 0;
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) s[i][j] = (s[i - 1][j] + s[i][j - 1] + s[i - 1][j - 1]) % 10007;
#pragma omp parallel for ordered(2) schedule(dynamic)
  for (int i = 1; i < n; i++)
    for (int j = 1; j < n; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1) depend(sink : i - 1, j - 1)
      g[i][j] = (g[i - 1][j] + g[i][j - 1] + g[i - 1][j - 1]) % 10007;
#pragma omp ordered depend(source)
    }
  const unsigned long long un = (unsigned long long)n;
#pragma omp parallel for ordered(2) collapse(2) schedule(static, 1)
  for (unsigned long long i = 1; i < un; i++)
    for (unsigned long long j = 1; j < un; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1) depend(sink : i - 1, j - 1)
      u[i][j] = (u[i - 1][j] + u[i][j - 1] + u[i - 1][j - 1]) % 10007;
#pragma omp ordered depend(source)
    }
  CHECK(memcmp(g, s, sizeof g) == 0, "ordered(2) of int differs from the loop in order");
  CHECK(memcmp(u, s, sizeof u) == 0, "ordered(2) of unsigned long long differs from the loop in order");
}

int main(void) {
  all_schedules(25);
  all_schedules(7);
  some_iterations(100);
  chains(40);
  chains(5);
  grid(side);
  return finish();
}
