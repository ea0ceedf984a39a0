// taskwait, taskgroup, taskyield.
#include "check.h"

#include <omp.h>

static int counter;

static void count(void) {
#pragma omp atomic
  counter++;
}
static int now(void) {
  int n;
#pragma omp atomic read
  n = counter;
  return n;
}

/// A tree of 2^(depth + 1) - 1 tasks, none of which waits.
static void tree(int depth) {
  count();
  if (depth == 0) return;
  for (int i = 0; i < 2; i++) {
#pragma omp task
    tree(depth - 1);
  }
}

static void waits(void) {
  counter = 0;
  for (int round = 1; round <= 20; round++) {
    for (int i = 0; i < 10; i++) {
#pragma omp task
      count();
    }
#pragma omp taskwait
    CHECK(now() == 10 * round, "%d children have ended at taskwait %d", now(), round);
  }
#pragma omp taskwait
  // Children that wait for their own.
  counter = 0;
  for (int i = 0; i < 5; i++) {
#pragma omp task
    {
      for (int j = 0; j < 5; j++) {
#pragma omp task
        {
#pragma omp task
          count();
#pragma omp taskwait
          count();
        }
      }
#pragma omp taskwait
      count();
    }
  }
#pragma omp taskwait
  CHECK(now() == 55, "%d tasks of three levels have ended", now());
}

static void groups(void) {
  counter = 0;
#pragma omp taskgroup
  {
#pragma omp task
    tree(6);
#pragma omp task if (0)
    tree(3);
#pragma omp task final(1)
    tree(2);
  }
  CHECK(now() == 127 + 15 + 7, "%d descendants have ended at the end of the group", now());

  counter = 0;
#pragma omp taskgroup
  {
    tree(3);
    const int before = 15;
#pragma omp taskgroup
    {
      tree(4);
    }
    CHECK(now() >= 31 && now() <= before + 31, "%d after the inner group", now());
#pragma omp task
    {
#pragma omp taskgroup
      {
#pragma omp task
        tree(2);
      }
      count();
    }
  }
  CHECK(now() == 15 + 31 + 7 + 1, "%d after the outer group", now());

  // A group in a task waits for that task's descendants only; an empty one for none.
  for (int i = 0; i < 10; i++) {
#pragma omp task
    {
      int mine = 0;
#pragma omp taskgroup
      {
#pragma omp task shared(mine)
        {
#pragma omp task shared(mine)
#pragma omp atomic
          mine++;
        }
      }
      CHECK(mine == 1, "a group in a task left before its descendant");
#pragma omp taskgroup
      {}
    }
  }
#pragma omp taskwait
}

static void yields(void) {
  counter = 0;
  for (int i = 0; i < 50; i++) {
#pragma omp task
    {
      const int thread = omp_get_thread_num();
      for (int j = 0; j < 5; j++) {
#pragma omp taskyield
      }
      CHECK(thread == omp_get_thread_num(), "a tied task changed threads");
      count();
    }
  }
#pragma omp taskyield
#pragma omp taskwait
  CHECK(now() == 50, "%d tasks that yield have ended", now());
}

int main(void) {
#pragma omp parallel
#pragma omp single
  {
    waits();
    groups();
    yields();
  }
  // Outside of any region.
  waits();
  groups();
  yields();
  // Each thread waits for its own children.
#pragma omp parallel
  {
    int mine = 0;
    for (int i = 0; i < 20; i++) {
#pragma omp task shared(mine)
#pragma omp atomic
      mine++;
    }
#pragma omp taskwait
    CHECK(mine == 20, "thread %d: %d children", omp_get_thread_num(), mine);
#pragma omp taskgroup
    {
      for (int i = 0; i < 20; i++) {
#pragma omp task shared(mine)
        {
#pragma omp task shared(mine)
#pragma omp atomic
          mine++;
        }
      }
    }
    CHECK(mine == 40, "thread %d: %d children and grandchildren", omp_get_thread_num(), mine);
  }
  return finish();
}
