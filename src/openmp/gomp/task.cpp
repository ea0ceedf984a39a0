#include "openmp/gomp/task.hpp"

#include "openmp/abi.hpp"
#include "openmp/completion_event.hpp"
#include "openmp/gomp/dependences.hpp"
#include "openmp/wait.hpp"

using namespace kith::openmp;

KITH_OPENMP_API void GOMP_task(void (*fn)(void*), void* data, void (*copy)(void*, void*), long size, long align,
                               bool if_clause, unsigned flags, void** depend, int priority, void* detach) {
  task_request r = request_of(fn, data, copy, size, align, flags, priority);
  r.at_once = !if_clause;
  r.detach = (flags & task_flag::detach) != 0;
  if (r.detach) {
    auto* const event = new completion_event;
    *static_cast<void**>(detach) = event;
    *static_cast<void**>(data) = event;
  }
  if ((flags & task_flag::depend) == 0) return make_task(r);
  const access_records accesses = records_of(depend);
  r.depend = &accesses;
  make_task(r);
}

KITH_OPENMP_API void GOMP_taskwait() { wait_for_children(); }

KITH_OPENMP_API void GOMP_taskwait_depend(void** depend) { await_predecessors(here(), records_of(depend)); }

/// A task never leaves its worker, so another one that ran now would delay it.
KITH_OPENMP_API void GOMP_taskyield() {}
