// Locks and nestable locks: exclusion, tests, owners.
#include "check.h"

#include <omp.h>

int main(void) {
  enum { rounds = 200 };
  omp_lock_t l;
  omp_nest_lock_t n, m;
  omp_init_lock(&l);
  omp_init_nest_lock(&n);
  omp_init_nest_lock(&m);

  CHECK(omp_test_lock(&l), "a free lock is not given");
  CHECK(!omp_test_lock(&l), "a held lock is given again");
  omp_unset_lock(&l);
  CHECK(omp_test_nest_lock(&n) == 1 && omp_test_nest_lock(&n) == 2, "a nestable lock counts");
  omp_set_nest_lock(&n);
  omp_unset_nest_lock(&n);
  CHECK(omp_test_nest_lock(&n) == 3, "a nestable lock counts down");
  for (int i = 0; i < 3; i++) omp_unset_nest_lock(&n);
  CHECK(omp_test_nest_lock(&n) == 1, "a nestable lock is free again");
  omp_unset_nest_lock(&n);

  int counted = 0, tried = 0, nested = 0;
#pragma omp parallel
  for (int r = 0; r < rounds; r++) {
    omp_set_lock(&l);
    counted++;
    omp_unset_lock(&l);
    while (!omp_test_lock(&l)) {
    }
    tried++;
    omp_unset_lock(&l);
    omp_set_nest_lock(&n);
    omp_set_nest_lock(&n);
    nested++;
    omp_unset_nest_lock(&n);
    nested++;
    omp_unset_nest_lock(&n);
    while (!omp_test_nest_lock(&m)) {
    }
    omp_set_nest_lock(&m);
    omp_unset_nest_lock(&m);
    omp_unset_nest_lock(&m);
  }
  const int all = rounds * omp_get_max_threads();
  CHECK(counted == all && tried == all && nested == 2 * all, "%d, %d, %d of %d", counted, tried, nested, all);

  // A lock belongs to a task, not to a thread.
  int refused = 0, plain_refused = 0, after = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_set_nest_lock(&n);
    omp_set_lock(&l);
    for (int i = 0; i < 20; i++) {
#pragma omp task if (i % 2)
      {
        const int got = omp_test_nest_lock(&n), got_plain = omp_test_lock(&l);
#pragma omp atomic
        refused += got == 0;
#pragma omp atomic
        plain_refused += got_plain == 0;
      }
    }
#pragma omp taskwait
    CHECK(omp_test_nest_lock(&n) == 2, "the owner gets a nestable lock again");
    omp_unset_nest_lock(&n);
    omp_unset_nest_lock(&n);
    omp_unset_lock(&l);
    for (int i = 0; i < 20; i++) {
#pragma omp task
      {
        omp_set_nest_lock(&n);
        omp_set_lock(&l);
        after++;
        omp_unset_lock(&l);
        omp_unset_nest_lock(&n);
      }
    }
  }
  CHECK(refused == 20, "a child got its parent's nestable lock %d times", 20 - refused);
  CHECK(plain_refused == 20, "a child got its parent's lock %d times", 20 - plain_refused);
  CHECK(after == 20, "%d tasks had the locks", after);

  omp_destroy_lock(&l);
  omp_destroy_nest_lock(&n);
  omp_destroy_nest_lock(&m);
  return finish();
}
