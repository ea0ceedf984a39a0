// Two threads that must run at the same time.
#pragma once

#include <atomic>
#include <thread>

namespace kith::test {

/// come() ends when another thread has called it, too.
class meeting {
 public:
  void come() {
    came_.fetch_add(1);
    while (came_.load() % 2 != 0) std::this_thread::yield();
  }

 private:
  std::atomic<int> came_{0};
};

}  // namespace kith::test
