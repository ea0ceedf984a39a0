// One thread waits in a critical section for tasks with dependences, while the others want to enter it. A policy may
// have placed these tasks where the other threads are.
#include "check.h"

#include <omp.h>
#include <unistd.h>

enum { size = 8, deep = 4 };

static char data[size * deep * 64];

static void make_tasks(int grandchildren, int *ran) {
  for (int i = 0; i < size; i++) {
#pragma omp task depend(inout : data[i * deep * 64])
    {
#pragma omp atomic
      ++*ran;
      for (int j = 0; j < grandchildren; j++) {
#pragma omp task depend(inout : data[(i * deep + j) * 64])
        {
#pragma omp atomic
          ++*ran;
        }
      }
    }
  }
}

static void wait_in_a_critical_section(int holder, int grandchildren) {
  int ran = 0;
#pragma omp parallel
  {
    const int me = omp_get_thread_num();
    if (me != holder % omp_get_num_threads()) usleep(2000);
#pragma omp critical
    if (me == holder % omp_get_num_threads()) {
      usleep(4000);  // now the others want to enter
#pragma omp taskgroup
      make_tasks(grandchildren, &ran);
    }
  }
  CHECK(ran == size * (1 + grandchildren), "%d tasks", ran);
}

int main(void) {
  for (int i = 0; i < 6; i++) {
    wait_in_a_critical_section(i % 2, 0);
    wait_in_a_critical_section(i % 2, deep);
  }
  return finish();
}
