#include "gomp/task_group.hpp"

#include "gomp/abi.hpp"
#include "gomp/context.hpp"
#include "gomp/team.hpp"
#include "gomp/wait.hpp"

namespace kith::gomp {

void open_group() {
  context& c = here();
  c.group = new task_group{c.group, c.group != nullptr ? c.group->reductions : nullptr};
}

void close_group() {
  context& c = here();
  task_group* const closed = c.group;
  if (closed == nullptr) return;  // the program was cancelled past its beginning
  wait_for_children();
  c.group = closed->outer;
  delete closed;
}

}  // namespace kith::gomp

KITH_GOMP_API void GOMP_taskgroup_start() { kith::gomp::open_group(); }
KITH_GOMP_API void GOMP_taskgroup_end() { kith::gomp::close_group(); }
