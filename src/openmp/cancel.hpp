// Cancellation: `cancel` and `cancellation point`.
#pragma once

namespace kith::openmp {

enum class cancellable { parallel, work_share, task_group };

/// Whether the running code must leave the construct. False if OMP_CANCELLATION has not allowed it.
bool is_cancelled(cancellable) noexcept;
/// Cancels the construct. False: it is not allowed.
bool cancel(cancellable) noexcept;

}  // namespace kith::openmp
