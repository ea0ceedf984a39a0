// cancel and cancellation points of loops, sections, task groups and regions. OMP_CANCELLATION says whether they do
// anything; both are right.
#include "check.h"

#include <omp.h>

#include <memory>

namespace {

bool enabled;

void of_loops(int n) {
  for (int round = 0; round < 20; round++) {
    int ran = 0, after_cancel = 0, complete = 0;
#pragma omp parallel
    {
      bool i_cancelled = false;  // private
#pragma omp for schedule(dynamic)
      for (int i = 0; i < n; i++) {
#pragma omp cancellation point for
        if (i_cancelled) {
#pragma omp atomic
          after_cancel++;
        }
        i_cancelled = i == 5;
        if (i == 5) {
#pragma omp cancel for
        }
#pragma omp atomic
        ran++;
      }
      // The next loop is not concerned.
#pragma omp for schedule(dynamic)
      for (int i = 0; i < n; i++) {
#pragma omp atomic
        complete++;
      }
#pragma omp for schedule(static)
      for (int i = 0; i < n; i++) {
        if (i == n / 2) {
#pragma omp cancel for if (i < 0)
        }
#pragma omp atomic
        complete++;
      }
    }
    CHECK(complete == 2 * n, "%d iterations of loops that were not cancelled", complete);
    if (enabled) {
      CHECK(ran < n, "all iterations of a cancelled loop ran");
      CHECK(after_cancel == 0, "a thread went on after its cancel");
    } else {
      CHECK(ran == n, "cancellation is off, and %d of %d iterations ran", ran, n);
    }
  }
  int ran = 0;
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (int i = 0; i < n; i++) {
#pragma omp atomic
      ran++;
#pragma omp cancel for
    }
    CHECK(!enabled || (ran >= 1 && ran <= omp_get_num_threads()),
          "each thread left after its first iteration, but %d ran", ran);
#pragma omp barrier
  }
}

void of_sections() {
  for (int round = 0; round < 20; round++) {
    int beyond = 0, sections = 0, later = 0;
#pragma omp parallel
    {
#pragma omp sections
      {
#pragma omp section
        {
#pragma omp atomic
          sections++;
#pragma omp cancel sections
#pragma omp atomic
          beyond++;
        }
#pragma omp section
        {
#pragma omp cancellation point sections
#pragma omp atomic
          sections++;
        }
      }
#pragma omp sections
      {
#pragma omp section
        later++;
      }
    }
    CHECK(beyond == !enabled && sections >= 1 && sections <= 2 && later == 1, "sections: %d beyond, %d, %d later",
          beyond, sections, later);
    CHECK(enabled || sections == 2, "cancellation is off, and %d sections ran", sections);
  }
}

void of_regions() {
  for (int round = 0; round < 20; round++) {
    int reached = 0, threads = 0;
#pragma omp parallel
    {
#pragma omp atomic
      threads++;
      if (omp_get_thread_num() == omp_get_num_threads() - 1) {
#pragma omp cancel parallel
      }
      // Those that are here wait for the thread that has left, until they leave, too.
#pragma omp barrier
#pragma omp atomic
      reached++;
    }
    CHECK(threads == omp_get_max_threads(), "%d threads", threads);
    CHECK(reached == (enabled ? 0 : threads), "%d threads passed the barrier of a cancelled region", reached);
    int whole = 0;
#pragma omp parallel
    {
#pragma omp barrier
#pragma omp atomic
      whole++;
    }
    CHECK(whole == threads, "%d threads passed the barrier of the region after it", whole);
  }
}

void of_task_groups(int n) {
  for (int round = 0; round < 10; round++) {
    int begun = 0, beyond = 0, other = 0, next = 0;
    auto shared_by_tasks = std::make_shared<int>(round);
#pragma omp parallel
#pragma omp single
    {
#pragma omp task shared(other)
      {
        for (int i = 0; i < 5; i++) {
#pragma omp task shared(other)
#pragma omp atomic
          other++;
        }
      }
#pragma omp taskgroup
      {
        for (int i = 0; i < n; i++) {
#pragma omp task firstprivate(shared_by_tasks) shared(begun, beyond)
          {
            CHECK(*shared_by_tasks == round, "a task's object");
#pragma omp cancellation point taskgroup
#pragma omp atomic
            begun++;
            if (i == 3) {
#pragma omp cancel taskgroup
#pragma omp atomic
              beyond++;
            }
          }
        }
      }
#pragma omp taskgroup
      {
        for (int i = 0; i < 20; i++) {
#pragma omp task shared(next)
          {
#pragma omp cancellation point taskgroup
#pragma omp atomic
            next++;
          }
        }
      }
    }
    CHECK(beyond == !enabled, "%d tasks went on after their cancel", beyond);
    CHECK(begun >= 1 && (enabled ? begun <= n : begun == n), "%d of %d tasks of the group", begun, n);
    CHECK(other == 5 && next == 20, "tasks of other groups: %d, %d", other, next);
  }
}

// Tasks that depend on those that are cancelled, and taskloops.
void of_more_tasks() {
  int x = 0, ran = 0, after = 0;
#pragma omp parallel
#pragma omp single
  {
#pragma omp taskgroup
    {
#pragma omp task depend(out : x) shared(x)
      {
        x = 1;
#pragma omp cancel taskgroup
        x = 2;
      }
      omp_event_handle_t event;  // nobody else fulfils it, and a cancelled task does not wait for it
#pragma omp task depend(inout : x) detach(event)
      omp_fulfill_event(event);
      for (int i = 0; i < 20; i++) {
#pragma omp task depend(inout : x) shared(ran)
        {
#pragma omp atomic
          ran++;
        }
      }
    }
#pragma omp task depend(in : x) shared(x, after)
    after = x;
#pragma omp taskwait
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < 50; i++) {
#pragma omp cancel taskgroup
      x = 3;
    }
  }
  CHECK(after == (enabled ? 1 : 2), "a successor outside of the group has seen %d", after);
  CHECK(enabled ? x != 3 : x == 3 && ran == 20, "taskloop: %d, %d", x, ran);
}

}  // namespace

int main() {
  enabled = omp_get_cancellation() != 0;
  of_loops(100);
  of_sections();
  of_regions();
  of_task_groups(100);
  of_more_tasks();
  return finish();
}
