// Cancellation: `cancel` and `cancellation point`.
#include "gomp/abi.hpp"
#include "gomp/context.hpp"
#include "gomp/task_group.hpp"
#include "gomp/team.hpp"

namespace kith::gomp {

namespace {

enum cancelled_construct : int { cancels_parallel = 1, cancels_loop = 2, cancels_sections = 4, cancels_taskgroup = 8 };

bool is_cancelled(const context& c, int which) noexcept {
  if ((which & (cancels_loop | cancels_sections)) != 0) return c.team->is_cancelled() || c.team->is_share_cancelled();
  return c.team->is_task_cancelled(which == cancels_taskgroup ? c.group : nullptr);
}

}  // namespace

}  // namespace kith::gomp

using namespace kith::gomp;

KITH_GOMP_API bool GOMP_cancellation_point(int which) {
  return the_settings().cancellation && is_cancelled(here(), which);
}

/// True: the running code leaves the construct.
KITH_GOMP_API bool GOMP_cancel(int which, bool cancels) {
  if (!the_settings().cancellation) return false;
  const context& c = here();
  if (!cancels) return is_cancelled(c, which);
  if ((which & (cancels_loop | cancels_sections)) != 0) {
    c.team->cancel_share();
  } else if (which == cancels_taskgroup) {
    if (c.group != nullptr) c.group->cancelled.store(true, kith::relaxed);
  } else {
    c.team->cancel();
  }
  return true;
}
