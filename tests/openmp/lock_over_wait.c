// A lock is held over a wait for children, while unrelated tasks want it. A thread that ran one of those during the
// wait would block itself.
#include "check.h"

#include <omp.h>

enum { tasks = 40 };

static omp_lock_t lock;
static omp_nest_lock_t nest;
static int inside, holders, children;

static void child(void) {
#pragma omp atomic
  children++;
}

/// Creates children and waits for them, in one of three ways.
static void wait_for_children(int how) {
  if (how == 0) {
    for (int i = 0; i < 4; i++) {
#pragma omp task
      child();
    }
#pragma omp taskwait
  } else if (how == 1) {
#pragma omp taskgroup
    for (int i = 0; i < 4; i++) {
#pragma omp task
      child();
    }
  } else {
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 4; i++) child();
  }
}

static void enter(void) { CHECK(++inside == 1, "%d tasks hold the lock", inside); }
static void leave(void) {
  inside--;
  holders++;
}

static void hold(int i) {
  if (i % 4 == 0) {
    omp_set_lock(&lock);
    enter();
    wait_for_children(i % 3);
    leave();
    omp_unset_lock(&lock);
  } else if (i % 4 == 1) {
    omp_set_lock(&lock);
    enter();
    leave();
    omp_unset_lock(&lock);
  } else {
    omp_set_nest_lock(&nest);
#pragma omp critical
    {
      omp_set_lock(&lock);
      enter();
      wait_for_children(i % 3);
#pragma omp taskyield
      leave();
      omp_unset_lock(&lock);
    }
    omp_unset_nest_lock(&nest);
  }
}

int main(void) {
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  int expected = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < tasks; i++) {
    expected += i % 4 == 1 ? 0 : 4;
#pragma omp task
    hold(i);
  }
  CHECK(holders == tasks, "%d of %d tasks had the lock", holders, tasks);
  CHECK(children == expected, "%d children, not %d", children, expected);
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
  return finish();
}
