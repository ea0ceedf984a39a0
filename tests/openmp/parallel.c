// Parallel regions: thread numbers, num_threads, if, data clauses, many regions in a row.
#include "check.h"

#include <omp.h>

enum { most = 8 };

static __thread int of_thread;

static void count_members(int asked) {
  int seen[most] = {0}, size = 0;
#pragma omp parallel num_threads(asked)
  {
    const int n = omp_get_thread_num();
    CHECK(n >= 0 && n < omp_get_num_threads() && n < most, "thread %d of %d", n, omp_get_num_threads());
#pragma omp atomic
    seen[n]++;
#pragma omp atomic write
    size = omp_get_num_threads();
  }
  CHECK(size == asked, "num_threads(%d): %d threads", asked, size);
  for (int i = 0; i < most; i++) CHECK(seen[i] == (i < asked), "num_threads(%d): thread %d ran %d times", asked, i, seen[i]);
}

static void orphaned(int* sum) {
#pragma omp atomic
  *sum += omp_get_thread_num();
}

int main(void) {
  omp_set_dynamic(0);
  CHECK(omp_get_thread_num() == 0 && omp_get_num_threads() == 1 && !omp_in_parallel(), "before the first region");
  for (int asked = 1; asked <= most; asked++) count_members(asked);

  int size = 0, sum = 0;
#pragma omp parallel
  {
#pragma omp atomic write
    size = omp_get_num_threads();
    orphaned(&sum);
  }
  CHECK(size == omp_get_max_threads(), "%d threads, omp_get_max_threads() is %d", size, omp_get_max_threads());
  CHECK(sum == size * (size - 1) / 2, "numbers of %d threads have the sum %d", size, sum);

  volatile int no = 0, yes = 1;
  int ran = 0;
#pragma omp parallel if (no) num_threads(3)
  {
    CHECK(omp_get_num_threads() == 1 && omp_get_thread_num() == 0 && !omp_in_parallel(), "if(0): %d threads",
          omp_get_num_threads());
#pragma omp atomic
    ran++;
  }
  CHECK(ran == 1, "if(0): ran %d times", ran);
  ran = 0;
#pragma omp parallel if (yes) num_threads(3) proc_bind(close)
  {
    CHECK(omp_in_parallel(), "omp_in_parallel() in a region of %d threads", omp_get_num_threads());
#pragma omp atomic
    ran++;
  }
  CHECK(ran == 3, "if(1) num_threads(3): ran %d times", ran);

  // The thread that meets the construct is number 0 of its team.
  of_thread = 77;
  int first = 5, total = 0, both[2] = {1, 2};
#pragma omp parallel default(none) firstprivate(first, both) shared(total) reduction(+ : sum)
  {
    if (omp_get_thread_num() == 0) {
      CHECK(of_thread == 77, "thread 0 is another thread than the one that met the region");
    } else {
      CHECK(of_thread == 0, "thread %d has another thread's variable", omp_get_thread_num());
    }
    CHECK(first == 5 && both[1] == 2, "firstprivate: %d, %d", first, both[1]);
    first += omp_get_thread_num();
    both[1] = first;
#pragma omp atomic
    total += first;
    sum += 1;
  }
  CHECK(first == 5 && both[1] == 2, "firstprivate changed the original");
  CHECK(total == 5 * size + size * (size - 1) / 2, "the sum of private variables is %d", total);

  int members = 0, expected = 0;
  for (int i = 0; i < 100; i++) {
    const int asked = 1 + i % 4;
    expected += asked;
#pragma omp parallel num_threads(asked)
    {
#pragma omp atomic
      members++;
    }
  }
  CHECK(members == expected, "100 regions in a row had %d members instead of %d", members, expected);
  return finish();
}
