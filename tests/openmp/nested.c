// Regions in regions, with one and with two levels that have several threads.
#include "check.h"

#include <omp.h>

static void one_active_level(void) {
  omp_set_max_active_levels(1);
  int inner = 0;
#pragma omp parallel num_threads(3)
  {
    const int mine = omp_get_thread_num();
#pragma omp parallel num_threads(4)
    {
      CHECK(omp_get_num_threads() == 1 && omp_get_thread_num() == 0, "the second level has %d threads", omp_get_num_threads());
      CHECK(omp_get_level() == 2 && omp_get_active_level() == 1, "levels %d, %d", omp_get_level(), omp_get_active_level());
      CHECK(omp_get_ancestor_thread_num(1) == mine && omp_get_team_size(1) == 3, "level 1: thread %d of %d, not %d of 3",
            omp_get_ancestor_thread_num(1), omp_get_team_size(1), mine);
      CHECK(omp_get_ancestor_thread_num(0) == 0 && omp_get_team_size(0) == 1, "level 0");
      CHECK(omp_get_ancestor_thread_num(3) == -1 && omp_get_team_size(3) == -1, "level 3 is not there");
      CHECK(omp_get_ancestor_thread_num(2) == 0 && omp_in_parallel(), "level 2");
      // The constructs bind to the inner team.
#pragma omp for schedule(dynamic)
      for (int i = 0; i < 5; i++) {
#pragma omp atomic
        inner++;
      }
#pragma omp barrier
#pragma omp single
      {
#pragma omp task
        {
          CHECK(omp_get_num_threads() == 1 && omp_get_level() == 2, "in a task of the inner region");
#pragma omp atomic
          inner++;
        }
      }
    }
    CHECK(omp_get_thread_num() == mine && omp_get_num_threads() == 3 && omp_get_level() == 1, "after the inner region");
#pragma omp barrier
  }
  CHECK(inner == 18, "the inner regions counted %d, not 18", inner);
}

static void two_active_levels(void) {
  omp_set_max_active_levels(2);
  CHECK(omp_get_max_active_levels() == 2, "omp_get_max_active_levels() is %d", omp_get_max_active_levels());
  int seen[2][3] = {{0}}, tasks = 0, loops[2][30] = {{0}}, singles = 0;
#pragma omp parallel num_threads(2)
  {
    const int mine = omp_get_thread_num();
    for (int round = 0; round < 5; round++) {
#pragma omp parallel num_threads(3)
      {
        CHECK(omp_get_num_threads() == 3, "the second level has %d threads", omp_get_num_threads());
        CHECK(omp_get_level() == 2 && omp_get_active_level() == 2, "levels %d, %d", omp_get_level(), omp_get_active_level());
        CHECK(omp_get_ancestor_thread_num(1) == mine && omp_get_team_size(1) == 2, "level 1");
        CHECK(omp_get_ancestor_thread_num(2) == omp_get_thread_num(), "level 2");
#pragma omp atomic
        seen[mine][omp_get_thread_num() % 3]++;
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 30; i++) {
#pragma omp atomic
          loops[mine][i]++;
        }
#pragma omp barrier
#pragma omp single
        {
#pragma omp atomic
          singles++;
          for (int t = 0; t < 10; t++) {
#pragma omp task
            {
              CHECK(omp_get_num_threads() == 3 && omp_get_ancestor_thread_num(1) == mine, "in a task of the inner team");
#pragma omp atomic
              tasks++;
            }
          }
        }
#pragma omp parallel num_threads(2)
        CHECK(omp_get_num_threads() == 1 && omp_get_level() == 3 && omp_get_active_level() == 2, "the third level has %d threads",
              omp_get_num_threads());
      }
      CHECK(omp_get_thread_num() == mine && omp_get_num_threads() == 2 && omp_get_level() == 1, "after the inner region");
#pragma omp barrier
    }
  }
  for (int o = 0; o < 2; o++) {
    for (int i = 0; i < 3; i++) CHECK(seen[o][i] == 5, "thread %d of inner team %d ran %d times, not 5", i, o, seen[o][i]);
    for (int i = 0; i < 30; i++) CHECK(loops[o][i] == 5, "inner loop %d, iteration %d: %d times", o, i, loops[o][i]);
  }
  CHECK(tasks == 100 && singles == 10, "%d tasks and %d singles, not 100 and 10", tasks, singles);
}

static void regions_of_tasks(void) {
  omp_set_max_active_levels(2);
  int members = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int t = 0; t < 8; t++) {
#pragma omp task
    {
      const int mine = omp_get_thread_num();
#pragma omp parallel num_threads(2)
      {
        CHECK(omp_get_num_threads() == 2 && omp_get_ancestor_thread_num(1) == mine, "a region that a task opens");
#pragma omp atomic
        members++;
      }
      CHECK(omp_get_thread_num() == mine, "a task runs on one thread");
    }
  }
  CHECK(members == 16, "regions of tasks have %d members, not 16", members);
}

int main(void) {
  omp_set_dynamic(0);
  one_active_level();
  two_active_levels();
  regions_of_tasks();
  omp_set_max_active_levels(1);
  one_active_level();
  return finish();
}
