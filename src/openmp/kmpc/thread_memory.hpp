// The task_memory of each thread.
#pragma once

#include "openmp/kmpc/task_memory.hpp"

namespace kith::openmp::kmpc {

/// The calling thread's. It lives as long as the process, because pieces of it come back after the end of its thread;
/// a new thread then takes it over. Null: there is no memory for one.
task_memory* memory_of_thread() noexcept;

}  // namespace kith::openmp::kmpc
