// Tasks that want a lock are created, and other tasks waited for, by a task that holds it.
#include <omp.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

static omp_lock_t lock;

// A task may run at its creation, but not while its creator holds a lock.
static void created_under_a_lock(void) {
  int ran = 0;
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < 2000; i++) {
    omp_set_lock(&lock);
#pragma omp task shared(ran)
    {
      omp_set_lock(&lock);
      ran++;
      omp_unset_lock(&lock);
    }
    omp_unset_lock(&lock);
#pragma omp taskwait
  }
  CHECK(ran == 2000, "%d tasks", ran);
}

static atomic_int child_runs;

// The lock's holder waits for a child that runs on another thread. What its own thread runs meanwhile must not be a task
// that tries to get the lock for ever.
static void wanted_by_test(void) {
  child_runs = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task
    {
      omp_set_lock(&lock);
#pragma omp task
      {
        child_runs = 1;
        usleep(20000);
      }
      while (omp_get_num_threads() > 1 && !child_runs) usleep(100);
#pragma omp taskwait
      omp_unset_lock(&lock);
    }
    while (omp_get_num_threads() > 1 && !child_runs) usleep(100);
    for (int i = 0; i < 2; i++) {
#pragma omp task
      {
        while (!omp_test_lock(&lock)) {
          usleep(100);
#pragma omp taskyield
        }
        omp_unset_lock(&lock);
      }
    }
  }
}

static atomic_int entered;

// The same where the lock is wanted by a thread of a nested region.
static void wanted_in_a_nested_region(void) {
  child_runs = 0;
  entered = 0;
  omp_set_max_active_levels(3);
#pragma omp parallel num_threads(3)
#pragma omp single
  {
#pragma omp task
    {
#pragma omp critical(x)
      {
#pragma omp task
        {
          child_runs = 1;
          usleep(20000);
        }
        while (omp_get_num_threads() > 1 && !child_runs) usleep(100);
#pragma omp taskwait
      }
    }
    while (omp_get_num_threads() > 1 && !child_runs) usleep(100);
    for (int i = 0; i < 2; i++) {
#pragma omp task
      {
#pragma omp parallel num_threads(2)
        {
#pragma omp critical(x)
          entered++;
        }
      }
    }
  }
  CHECK(entered == 4, "%d threads", entered);
}

int main(void) {
  omp_init_lock(&lock);
  created_under_a_lock();
  for (int i = 0; i < 3; i++) wanted_by_test();
  for (int i = 0; i < 3; i++) wanted_in_a_nested_region();
  omp_destroy_lock(&lock);
  return finish();
}
