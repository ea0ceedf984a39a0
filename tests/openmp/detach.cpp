// detach: a task ends when its body has ended and its event is fulfilled, in either order, by any thread.
#include "check.h"

#include <omp.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

extern "C" void omp_fulfill_event_(omp_event_handle_t);  // Fortran's

namespace {

void fulfilled_in_the_body() {
  int ran = 0;
  for (int i = 0; i < 20; i++) {
    omp_event_handle_t event;
#pragma omp task detach(event) shared(ran) firstprivate(i)
    {
      if (i % 2 == 0) {
        omp_fulfill_event(event);
      } else {
        omp_fulfill_event_(event);
      }
#pragma omp atomic
      ran++;
    }
  }
#pragma omp taskwait
  CHECK(ran == 20, "%d tasks that fulfil their own event have ended", ran);
}

// An undeferred task has completed before its creator goes on.
void undeferred() {
  std::atomic<bool> begun{false}, fulfilled{false};
  omp_event_handle_t event;
  std::thread other;
#pragma omp task detach(event) if (0) shared(begun, fulfilled, other)
  {
    other = std::thread([event, &fulfilled] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      fulfilled = true;
      omp_fulfill_event(event);
    });
    begun = true;
  }
  CHECK(begun.load(), "an undeferred task has not run");
  CHECK(fulfilled.load(), "the creator of an undeferred task did not wait for its event");
  other.join();
}

enum class wait { children, some, group };

// Other threads, which no region has, fulfil while the body runs or long after it.
void fulfilled_by_other_threads(wait how) {
  std::vector<std::thread> others;
  std::atomic<int> done{0};
  int after = 0;
#pragma omp taskgroup
  {
    for (int i = 0; i < 10; i++) {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(others, done) depend(out : done)
      {
        others.emplace_back([event, i, &done] {
          if (i % 2) std::this_thread::yield();
          ++done;
          omp_fulfill_event(event);
        });
      }
#pragma omp task shared(done, after) depend(inout : done)
      {
        CHECK(done.load() == i + 1, "a successor ran before the event: %d, not %d", done.load(), i + 1);
        after++;
      }
    }
    if (how == wait::children) {
#pragma omp taskwait
      CHECK(done.load() == 10 && after == 10, "taskwait: %d events, %d successors", done.load(), after);
    } else if (how == wait::some) {
#pragma omp taskwait depend(in : done)
      CHECK(done.load() == 10 && after == 10, "taskwait depend: %d events, %d successors", done.load(), after);
    }
  }
  CHECK(done.load() == 10 && after == 10, "taskgroup: %d events, %d successors", done.load(), after);
  for (std::thread& t : others) t.join();
}

// The creator, or a later task, fulfils. Where a team has one thread, a task may have to end before its creator goes
// on.
void fulfilled_by_the_creator() {
  if (omp_get_num_threads() == 1) return;
  std::vector<omp_event_handle_t> events(10);
  int bodies = 0, later = 0, marks = 0;
#pragma omp taskgroup
  {
    for (std::size_t i = 0; i < events.size(); i++) {
      omp_event_handle_t event;
#pragma omp task detach(event) shared(bodies) depend(out : bodies)
      {
#pragma omp atomic
        bodies++;
      }
      events[i] = event;
#pragma omp task shared(later, marks) depend(inout : bodies)
      {
        int m;
#pragma omp atomic read
        m = marks;
        CHECK(m > later, "successor %d ran before its event", later);
        later++;
      }
      if (i % 2) {
#pragma omp atomic
        marks++;
        omp_fulfill_event(events[i]);
      } else {
#pragma omp task shared(events, marks) firstprivate(i)
        {
#pragma omp atomic
          marks++;
          omp_fulfill_event(events[i]);
        }
      }
    }
  }
  CHECK(bodies == 10 && later == 10, "%d bodies and %d successors", bodies, later);
}

// With children: the task ends after them, too.
void with_children() {
  int ended = 0;
  std::thread other;
#pragma omp taskgroup
  {
    omp_event_handle_t event;
#pragma omp task detach(event) shared(ended, other)
    {
      for (int i = 0; i < 10; i++) {
#pragma omp task shared(ended)
        {
#pragma omp atomic
          ended++;
        }
      }
      other = std::thread([event] { omp_fulfill_event(event); });
    }
  }
  CHECK(ended == 10, "%d children of a detached task have ended", ended);
  other.join();
}

// A barrier waits for detached tasks.
void at_a_barrier() {
  std::atomic<int> done{0};
#pragma omp parallel
  {
    omp_event_handle_t event;
#pragma omp task detach(event) shared(done)
    {
      std::thread([event, &done] {
        ++done;
        omp_fulfill_event(event);
      }).detach();
    }
#pragma omp barrier
    CHECK(done.load() == omp_get_num_threads(), "at the barrier: %d of %d events", done.load(), omp_get_num_threads());
  }
}

void all(bool more) {
  fulfilled_in_the_body();
  fulfilled_by_other_threads(wait::children);
  fulfilled_by_other_threads(wait::group);
  if (more) fulfilled_by_other_threads(wait::some);
  fulfilled_by_the_creator();
  with_children();
}

}  // namespace

int main(int argc, char**) {
  const bool more = argc > 1;  // also where libgomp 12 fails: in waits for some tasks and at barriers
#pragma omp parallel
#pragma omp single
  all(more);
  all(more);
  if (more) {
    at_a_barrier();
#pragma omp parallel
    undeferred();
  }
  return finish();
}
