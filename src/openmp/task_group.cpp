#include "openmp/task_group.hpp"

#include "openmp/context.hpp"
#include "openmp/team.hpp"
#include "openmp/wait.hpp"

namespace kith::openmp {

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

}  // namespace kith::openmp
