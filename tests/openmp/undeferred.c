// Tasks that run at once (`if(0)`): what they leave behind, and what they take over.
#include <omp.h>
#include <stdatomic.h>

#include "check.h"

// The end of such a task does not wait for its children.
static void leaves_a_detached_child(void) {
  omp_event_handle_t event;
  int ran = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task if (0) shared(event, ran)
    {
#pragma omp task detach(event) shared(ran)
      ran = 1;
    }
    omp_fulfill_event(event);
  }
  CHECK(ran == 1, "the child has not run");
}

// Its children have the settings that it took over from its creator, whatever the creator sets later.
static void hands_on_settings(void) {
  atomic_int may_look = 0, threads = -1;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    omp_set_num_threads(3);
#pragma omp task if (0) shared(may_look, threads)
    {
#pragma omp task shared(may_look, threads)
      {
        while (omp_get_num_threads() > 1 && !may_look) {
        }
        threads = omp_get_max_threads();
      }
    }
    omp_set_num_threads(5);
    may_look = 1;
#pragma omp taskwait
    CHECK(omp_get_max_threads() == 5, "%d", omp_get_max_threads());
  }
  CHECK(threads == 3, "%d", threads);
}

// In a team of one thread, tasks run at once; a detached one is complete only when its event is fulfilled.
static void detached_in_a_team_of_one(void) {
#pragma omp parallel num_threads(1)
  {
    int ran = 0;
    omp_event_handle_t event;
#pragma omp task detach(event) shared(ran)
    ran = 1;
    omp_fulfill_event(event);
#pragma omp taskwait
    CHECK(ran == 1, "it has not run");
  }
}

int main(void) {
  for (int i = 0; i < 50; i++) {
    leaves_a_detached_child();
    hands_on_settings();
    detached_in_a_team_of_one();
  }
  return finish();
}
