// Prints which program runs when the process hangs or is killed by a signal.
#pragma once

#include <chrono>
#include <string>

namespace kith::random_programs {

/// From now on the process ends with the last text if `limit` passes without a new one. Must be called only
/// once in a process.
void start_watch(std::chrono::seconds limit);
/// Sets the text of what runs now. Must be called by the thread that started the watch.
void now_running(const std::string& text);
/// True if the address sanitizer, which then prints details, finds unreachable memory. Takes a while.
bool memory_leaks();

}  // namespace kith::random_programs
