// Creators that are far ahead of their tasks, and run some of them meanwhile, on other stacks: they are then the same
// tasks as before.
#include "check.h"

#include <omp.h>

static void spend(int turns) {
  for (volatile int i = 0; i < turns; i++) {
  }
}

/// A task whose body waits for its own ones.
static void make_nested(int* pairs) {
#pragma omp task shared(pairs)
  {
    int a = 0, b = 0;
#pragma omp task shared(a) depend(out : a)
    {
      spend(50);
      a = 1;
    }
#pragma omp task shared(a, b) depend(in : a)
    {
      spend(50);
      b = a;
    }
#pragma omp taskwait
    CHECK(a == 1 && b == 1, "a pair of tasks: %d and %d", a, b);
#pragma omp atomic
    (*pairs)++;
  }
}

int main(void) {
  enum { many = 20000 };
  int pairs = 0;
#pragma omp parallel
  {
    const int mine = 100 + omp_get_thread_num();
    omp_set_num_threads(mine);
#pragma omp for
    for (int i = 0; i < many; i++) {
      make_nested(&pairs);
      CHECK(omp_get_max_threads() == mine, "after the creation of task %d: %d threads, not %d", i, omp_get_max_threads(), mine);
    }
  }
  CHECK(pairs == many, "%d pairs of tasks", pairs);
  return finish();
}
