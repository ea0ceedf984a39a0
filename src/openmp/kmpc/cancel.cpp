#include "openmp/cancel.hpp"

#include "openmp/abi.hpp"
#include "openmp/kmpc/types.hpp"

#include <cstdint>

using namespace kith::openmp;
using namespace kith::openmp::kmpc;

namespace {

cancellable named_by(std::int32_t which) noexcept {
  constexpr std::int32_t loop = 2, sections = 3, task_group = 4;  // else 1: parallel
  if (which == loop || which == sections) return cancellable::work_share;
  return which == task_group ? cancellable::task_group : cancellable::parallel;
}

}  // namespace

/// True: the running code leaves the construct.
KITH_OPENMP_API std::int32_t __kmpc_cancel(const location*, std::int32_t, std::int32_t which) {
  return cancel(named_by(which));
}
KITH_OPENMP_API std::int32_t __kmpc_cancellationpoint(const location*, std::int32_t, std::int32_t which) {
  return is_cancelled(named_by(which));
}
KITH_OPENMP_API int kmp_get_cancellation_status(int which) { return is_cancelled(named_by(which)); }
