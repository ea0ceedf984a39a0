// Sections: each runs once; nowait, lastprivate, reduction; parallel sections.
#include "check.h"

#include <omp.h>

static int times[6];

static void ran(int i) {
#pragma omp atomic
  times[i]++;
}

int main(void) {
  enum { rounds = 100 };
  int last = 0, sum = 0, after = 0;
#pragma omp parallel
  {
    for (int r = 0; r < rounds; r++) {
#pragma omp sections nowait
      {
#pragma omp section
        ran(0);
#pragma omp section
        ran(1);
#pragma omp section
        ran(2);
#pragma omp section
        ran(3);
#pragma omp section
        ran(4);
#pragma omp section
        ran(5);
      }
#pragma omp sections nowait
      { ran(0); }
    }
#pragma omp barrier
#pragma omp sections lastprivate(last) reduction(+ : sum)
    {
#pragma omp section
      {
        last = 1;
        sum += 10;
      }
#pragma omp section
      {
        last = 2;
        sum += 20;
      }
#pragma omp section
      {
        last = 3;
        sum += 30;
      }
    }
    CHECK(last == 3 && sum == 60, "after the sections: last %d, sum %d", last, sum);
#pragma omp atomic
    after++;
  }
  CHECK(times[0] == 2 * rounds, "section 0 ran %d times", times[0]);
  for (int i = 1; i < 6; i++) CHECK(times[i] == rounds, "section %d ran %d times", i, times[i]);
  CHECK(after == omp_get_max_threads(), "%d threads came out", after);

  int a = 0, b = 0, c = 0;
#pragma omp parallel sections num_threads(2)
  {
#pragma omp section
    a++;
#pragma omp section
    b++;
#pragma omp section
    c++;
  }
  CHECK(a == 1 && b == 1 && c == 1, "parallel sections ran %d, %d, %d times", a, b, c);

  // Sections that create tasks: the barrier at the end waits for them.
  int tasks = 0;
#pragma omp parallel
  {
#pragma omp sections
    {
#pragma omp section
      for (int i = 0; i < 20; i++) {
#pragma omp task
#pragma omp atomic
        tasks++;
      }
#pragma omp section
      for (int i = 0; i < 20; i++) {
#pragma omp task
#pragma omp atomic
        tasks++;
      }
    }
    int now;
#pragma omp atomic read
    now = tasks;
    CHECK(now == 40, "%d tasks have ended at the barrier of the sections", now);
  }
  return finish();
}
