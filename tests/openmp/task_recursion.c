// Recursive tasks: Fibonacci numbers and n-queens, with the clauses if, final, mergeable and untied.
#include "check.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

static int fib_plain(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a)
  a = fib_plain(n - 1);
#pragma omp task shared(b)
  b = fib_plain(n - 2);
#pragma omp taskwait
  return a + b;
}

static int fib_if(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a) if (n > 8)
  a = fib_if(n - 1);
#pragma omp task shared(b) if (n > 8) untied
  b = fib_if(n - 2);
#pragma omp taskwait
  return a + b;
}

static int fib_final(int n, int in_final) {
  CHECK(omp_in_final() == in_final, "omp_in_final() is %d", omp_in_final());
  if (n < 2) return n;
  int a, b;
  const int next = in_final || n < 9;
#pragma omp task shared(a) final(n < 9) mergeable
  a = fib_final(n - 1, next);
#pragma omp task shared(b) final(n < 9) mergeable untied
  b = fib_final(n - 2, next);
#pragma omp taskwait
  return a + b;
}

static int safe(int n, const char* at) {
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      if (at[i] == at[j] || at[i] - at[j] == j - i || at[j] - at[i] == j - i) return 0;
  return 1;
}

static int queens(int size, int placed, const char* at) {
  if (placed == size) return 1;
  int found[12] = {0}, sum = 0;
  for (int i = 0; i < size; i++) {
#pragma omp task firstprivate(i) shared(found, at) if (placed < 4) final(placed >= 3) mergeable
    {
      char next[12];
      memcpy(next, at, (size_t)placed);
      next[placed] = (char)i;
      if (safe(placed + 1, next)) found[i] = queens(size, placed + 1, next);
    }
  }
#pragma omp taskwait
  for (int i = 0; i < size; i++) sum += found[i];
  return sum;
}

// Undeferred and included tasks have run when the construct is left.
static void run_at_once(void) {
  const int here = omp_get_thread_num();
  int done = 0, inner = 0;
#pragma omp task shared(done) if (0)
  {
    CHECK(omp_get_thread_num() == here, "an undeferred task runs on another thread");
    done = 1;
  }
  CHECK(done, "an undeferred task has not run");
#pragma omp task shared(done, inner) final(1) if (0)
  {
    CHECK(omp_in_final(), "not final");
    const int thread = omp_get_thread_num();
#pragma omp task shared(inner)
    {
      CHECK(omp_in_final() && omp_get_thread_num() == thread, "an included task is not final, or on another thread");
#pragma omp task shared(inner)
      inner = 2;
      CHECK(inner == 2, "an included task of an included task has not run");
      inner = 1;
    }
    CHECK(inner == 1, "an included task has not run");
    done = 2;
  }
  CHECK(done == 2 && !omp_in_final(), "after a final task");
  int merged = 7;
#pragma omp task mergeable if (0) firstprivate(merged)
  CHECK(merged == 7, "a mergeable task has %d", merged);
}

int main(void) {
  int a = 0, b = 0, c = 0, q = 0;
#pragma omp parallel
#pragma omp single
  {
    a = fib_plain(15);
    b = fib_if(17);
    c = fib_final(17, 0);
    q = queens(7, 0, "");
    run_at_once();
  }
  CHECK(a == 610 && b == 1597 && c == 1597, "fib: %d, %d, %d", a, b, c);
  CHECK(q == 40, "7 queens have %d solutions", q);
  // All threads create; and tasks outside of any region.
  int sums[64] = {0};
#pragma omp parallel
  sums[omp_get_thread_num()] = fib_plain(10);
  for (int i = 0; i < omp_get_max_threads(); i++) CHECK(sums[i] == 55, "thread %d: fib(10) is %d", i, sums[i]);
  CHECK(fib_plain(10) == 55, "fib(10) outside of a region");
  run_at_once();
  return finish();
}
