// single with nowait and copyprivate, master, masked.
#include "check.h"

#include <omp.h>

struct pair {
  int a;
  double b;
};

int main(void) {
  enum { rounds = 300 };
  int executed = 0, masters = 0, masked = 0;
  int each[rounds] = {0};
#pragma omp parallel
  {
    for (int r = 0; r < rounds; r++) {
#pragma omp single nowait
      {
        each[r]++;
#pragma omp atomic
        executed++;
      }
    }
#pragma omp barrier
    for (int r = 0; r < rounds; r++) CHECK(each[r] == 1, "single %d ran %d times", r, each[r]);
#pragma omp master
    {
      CHECK(omp_get_thread_num() == 0, "master is thread %d", omp_get_thread_num());
      masters++;
    }
#pragma omp masked filter(omp_get_num_threads() - 1)
    {
      CHECK(omp_get_thread_num() == omp_get_num_threads() - 1, "masked is thread %d", omp_get_thread_num());
      masked++;
    }
    // All threads see what the single has written, after its barrier.
    static int shared_value;
    for (int r = 0; r < 20; r++) {
#pragma omp single
      shared_value = r;
      CHECK(shared_value == r, "after single %d the value is %d", r, shared_value);
#pragma omp barrier
    }
    int x = -1, xs[100] = {0};
    struct pair p = {0, 0};
    for (int r = 0; r < 20; r++) {
#pragma omp single copyprivate(x, xs, p)
      {
        x = r * 3;
        for (int i = 0; i < 100; i++) xs[i] = i + r;
        p.a = r;
        p.b = r / 2.0;
      }
      CHECK(x == r * 3 && p.a == r && p.b == r / 2.0, "copyprivate in round %d: %d, %d, %f", r, x, p.a, p.b);
      for (int i = 0; i < 100; i++) CHECK(xs[i] == i + r, "copyprivate of an array: %d at %d", xs[i], i);
      x = -1;
    }
  }
  CHECK(executed == rounds, "%d singles", executed);
  CHECK(masters == 1 && masked == 1, "master ran %d times, masked %d times", masters, masked);

  // Tasks of a single are done after its barrier.
  int tasks = 0;
#pragma omp parallel
  {
#pragma omp single
    for (int i = 0; i < 100; i++) {
#pragma omp task
#pragma omp atomic
      tasks++;
    }
    int now;
#pragma omp atomic read
    now = tasks;
    CHECK(now == 100, "%d tasks have ended after the single", now);
  }
  return finish();
}
