#include "openmp/cancel.hpp"

#include "openmp/context.hpp"
#include "openmp/task_group.hpp"
#include "openmp/team.hpp"

namespace kith::openmp {

bool is_cancelled(cancellable what) noexcept {
  if (!the_settings().cancellation) return false;
  const context& c = here();
  if (what == cancellable::work_share) return c.team->is_cancelled() || c.team->is_share_cancelled();
  return c.team->is_task_cancelled(what == cancellable::task_group ? c.group : nullptr);
}

bool cancel(cancellable what) noexcept {
  if (!the_settings().cancellation) return false;
  const context& c = here();
  switch (what) {
    case cancellable::parallel: c.team->cancel(); break;
    case cancellable::work_share: c.team->cancel_share(); break;
    case cancellable::task_group:
      if (c.group != nullptr) c.group->cancelled.store(true, relaxed);
  }
  return true;
}

}  // namespace kith::openmp
