// Says which program runs when the process hangs or is killed by a signal.
#pragma once

#include <chrono>
#include <string>

namespace kith::random_programs {

/// From here on the process ends with the last text if `limit` goes by without another one. Once in a process.
void start_watch(std::chrono::seconds limit);
/// What runs now. By the thread that started the watch.
void now_running(const std::string& text);
/// True if the address sanitizer, which then says more, finds memory that nobody knows any more. Takes a while.
bool memory_leaks();

}  // namespace kith::random_programs
