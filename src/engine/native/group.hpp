// Groups: which task may create tasks in one and wait for it.
#pragma once

#include "task/scope.hpp"

namespace kith::native {

/// True if the calling thread runs the task (or root) that made the group with these tasks.
bool runs_owner_of(const detail::scope& group) noexcept;

}  // namespace kith::native
