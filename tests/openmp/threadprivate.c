// threadprivate variables: of each thread its own, kept between regions; copyin.
#include "check.h"

#include <omp.h>

struct big {
  int values[50];
};

static int mine = 5;
static struct big copied;
static double in_function(int add) {
  static double kept = 1.5;
#pragma omp threadprivate(kept)
  kept += add;
  return kept;
}
#pragma omp threadprivate(mine, copied)

int main(void) {
  omp_set_dynamic(0);
  const int threads = omp_get_max_threads();
  int* at[64];
#pragma omp parallel
  {
    CHECK(mine == 5, "thread %d begins with %d", omp_get_thread_num(), mine);
    mine = 100 + omp_get_thread_num();
    at[omp_get_thread_num()] = &mine;
    in_function(omp_get_thread_num());
  }
  CHECK(mine == 100, "the first thread's variable is %d after the region", mine);
  for (int i = 0; i < threads; i++)
    for (int j = 0; j < i; j++) CHECK(at[i] != at[j], "threads %d and %d share a threadprivate variable", i, j);
  for (int round = 0; round < 20; round++) {
#pragma omp parallel
    {
      const int n = omp_get_thread_num();
      CHECK(mine == 100 + n + round, "thread %d has %d in region %d", n, mine, round);
      CHECK(in_function(0) == 1.5 + n, "thread %d has %f", n, in_function(0));
      mine++;
    }
  }
  mine = 42;
  for (int i = 0; i < 50; i++) copied.values[i] = i * i;
#pragma omp parallel copyin(mine, copied)
  {
    CHECK(mine == 42, "copyin: thread %d has %d", omp_get_thread_num(), mine);
    for (int i = 0; i < 50; i++) CHECK(copied.values[i] == i * i, "copyin of a struct: %d at %d", copied.values[i], i);
#pragma omp barrier
    mine = omp_get_thread_num();
  }
#pragma omp parallel
  CHECK(mine == omp_get_thread_num(), "thread %d has %d", omp_get_thread_num(), mine);

  // A task stays on its thread over each of its waits.
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 100; i++) {
#pragma omp task
    {
      int* const before = &mine;
      const int n = omp_get_thread_num();
      CHECK(mine == n, "a task on thread %d sees the variable of thread %d", n, mine);
#pragma omp task
      CHECK(mine == omp_get_thread_num(), "an inner task sees another thread's variable");
#pragma omp taskwait
#pragma omp taskyield
      CHECK(before == &mine && n == omp_get_thread_num(), "a tied task changed threads from %d to %d", n, omp_get_thread_num());
    }
  }
  return finish();
}
