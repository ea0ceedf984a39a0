// Reductions over tasks.
#pragma once

namespace kith::openmp::kmpc {

/// Closes the running task's innermost group (close_group()), and combines the reductions that it has begun.
void close_group_with_reductions();

}  // namespace kith::openmp::kmpc
