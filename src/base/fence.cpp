#include "base/fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kith {

bool membarrier_serves() noexcept {
  static const bool serves = [] {
    if (!fences_are_modelled) return false;  // the thread sanitizer understands only full fences
    const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
    return commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  }();
  return serves;
}

namespace detail {
const bool frequent_side_is_free = membarrier_serves();
}

void process_fence() noexcept {
  full_fence();
  if (detail::frequent_side_is_free) syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

}  // namespace kith
