#include "openmp/cancel.hpp"

#include "openmp/abi.hpp"

using namespace kith::openmp;

namespace {

cancellable construct_of(int which) noexcept {
  constexpr int loop = 2, sections = 4, task_group = 8;  // else 1: parallel
  if ((which & (loop | sections)) != 0) return cancellable::work_share;
  return which == task_group ? cancellable::task_group : cancellable::parallel;
}

}  // namespace

KITH_OPENMP_API bool GOMP_cancellation_point(int which) { return is_cancelled(construct_of(which)); }

/// True: the running code leaves the construct.
KITH_OPENMP_API bool GOMP_cancel(int which, bool cancels) {
  return cancels ? cancel(construct_of(which)) : is_cancelled(construct_of(which));
}
