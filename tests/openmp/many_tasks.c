// Very many tasks: one creator that is ahead of all others, many creators, priorities, tiny bodies.
#include "check.h"

#include <omp.h>

int main(void) {
  enum { many = 20000 };
  int ran = 0, by_all = 0, prioritised = 0;
  static char seen[many];
#pragma omp parallel
  {
#pragma omp single nowait
    for (int i = 0; i < many; i++) {
#pragma omp task
      {
        seen[i]++;
#pragma omp atomic
        ran++;
      }
    }
    for (int i = 0; i < 2000; i++) {
#pragma omp task
#pragma omp atomic
      by_all++;
    }
#pragma omp barrier
#pragma omp single
    for (int i = 0; i < 1000; i++) {
#pragma omp task priority(i % 5) untied
#pragma omp atomic
      prioritised++;
    }
  }
  CHECK(ran == many && by_all == 2000 * omp_get_max_threads() && prioritised == 1000, "%d, %d, %d tasks", ran, by_all, prioritised);
  for (int i = 0; i < many; i++) CHECK(seen[i] == 1, "task %d ran %d times", i, seen[i]);
  return finish();
}
