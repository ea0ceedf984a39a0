// Barriers: many in a row, and with tasks that are still to be run.
#include "check.h"

#include <omp.h>

enum { most = 64 };

static void in_a_row(void) {
  static int slot[most];
#pragma omp parallel
  {
    const int mine = omp_get_thread_num(), size = omp_get_num_threads();
    for (int round = 1; round <= 60; round++) {
      slot[mine] = round;
#pragma omp barrier
      for (int i = 0; i < size; i++) CHECK(slot[i] == round, "round %d: thread %d is in round %d", round, i, slot[i]);
#pragma omp barrier
    }
  }
}

/// Creates a tree of tasks and waits for none of them.
static void tree(int depth, int* count) {
#pragma omp atomic
  ++*count;
  if (depth == 0) return;
  for (int i = 0; i < 2; i++) {
#pragma omp task
    tree(depth - 1, count);
  }
}

static void with_tasks(void) {
  int count = 0, size = 1;
#pragma omp parallel
  {
#pragma omp single
    size = omp_get_num_threads();
    for (int round = 1; round <= 10; round++) {
      for (int i = 0; i < 10; i++) {
#pragma omp task
#pragma omp atomic
        count++;
      }
#pragma omp barrier
      int now;
#pragma omp atomic read
      now = count;
      CHECK(now == 10 * round * size, "%d tasks have ended at barrier %d", now, round);
#pragma omp barrier
    }
  }
  CHECK(count == 100 * size, "%d tasks", count);

  count = 0;
#pragma omp parallel
  {
    // One thread creates while the others are at the barrier.
    if (omp_get_thread_num() == omp_get_num_threads() - 1) tree(7, &count);
#pragma omp barrier
    int now;
#pragma omp atomic read
    now = count;
    CHECK(now == 255, "%d tasks of a tree have ended at the barrier", now);
#pragma omp barrier
#pragma omp master
    tree(5, &count);
    // The region's end waits for these.
  }
  CHECK(count == 255 + 63, "%d tasks of trees at the region's end", count);

  count = 0;
#pragma omp parallel
  {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 30; i++) {
#pragma omp task firstprivate(i)
#pragma omp atomic
      count += i;
    }
    int now;
#pragma omp atomic read
    now = count;
    CHECK(now == 435, "tasks of a loop have the sum %d at its barrier", now);
  }
}

int main(void) {
  in_a_row();
  with_tasks();
  return finish();
}
