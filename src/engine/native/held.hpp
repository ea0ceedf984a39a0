// Tasks that a later event makes ready, from any thread: until then the task that created them does not end.
#pragma once

#include <kith/detail/creation.hpp>

namespace kith {
class task;
}

namespace kith::native {

class worker;

/// Creates a child of the running task that does nothing and is not ready. Called by the worker that runs the task.
task& create_held(worker& creator);

/// Makes the task of create_held() ready. Called once, by any thread, also by one that is no worker; its engine must
/// still exist, as it does while the task is unfinished.
void open_held(task& t) noexcept;

}  // namespace kith::native
