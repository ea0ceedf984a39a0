#include "engine/native/alarm_clock.hpp"

namespace kith::native {

alarm_clock::~alarm_clock() {
  {
    const std::lock_guard lock(guard_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.reset();  // joins
}

void alarm_clock::run() {
  std::unique_lock lock(guard_);
  while (!stopping_) {
    if (set_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const auto first = set_.begin();
    const moment due = first->first.first;
    if (std::chrono::steady_clock::now() < due) {
      changed_.wait_until(lock, due);
      continue;
    }
    const worker_id sleeper = first->second;
    set_.erase(first);
    // Under the lock, so that a destroyed alarm wakes no worker. A worker that is about to sleep checks the
    // time after announcing its sleep (S3 of sleepers.hpp), so one of the two sees the other.
    parked_.wake(sleeper);
  }
}

alarm_clock::alarm::alarm(alarm_clock& clock, moment when, worker_id sleeper)
    : clock_(clock),
      key_{when, [&] {
             const std::lock_guard lock(clock.guard_);
             const std::uint64_t number = clock.next_++;
             const bool earliest = clock.set_.empty() || when < clock.set_.begin()->first.first;
             clock.set_.emplace(std::pair(when, number), sleeper);
             if (!clock.thread_) {
               constexpr std::size_t stack_bytes = 8 << 20;  // the program's thread-local variables are in it, too
               clock.thread_ = std::make_unique<thread>("kith-clock", stack_bytes, [&clock] { clock.run(); });
             } else if (earliest) {
               clock.changed_.notify_one();
             }
             return number;
           }()} {}

alarm_clock::alarm::~alarm() {
  const std::lock_guard lock(clock_.guard_);
  clock_.set_.erase(key_);
}

}  // namespace kith::native
