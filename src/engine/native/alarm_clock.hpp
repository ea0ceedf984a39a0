// Wakes workers at given times, for waits with a time limit.
//
// Any thread may set an alarm. The clock's thread starts with the first alarm and sleeps until the earliest is
// due; an engine without timed waits has no such thread.
#pragma once

#include "base/sleepers.hpp"
#include "engine/native/thread.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace kith::native {

class alarm_clock {
 public:
  using moment = std::chrono::steady_clock::time_point;

  explicit alarm_clock(sleepers& parked) noexcept : parked_(parked) {}
  ~alarm_clock();
  alarm_clock(const alarm_clock&) = delete;
  alarm_clock& operator=(const alarm_clock&) = delete;

  /// Wakes the worker at that time, or soon after, if it sleeps then; never after the alarm was destroyed.
  class alarm {
   public:
    alarm(alarm_clock&, moment, worker_id);
    ~alarm();
    alarm(const alarm&) = delete;
    alarm& operator=(const alarm&) = delete;

   private:
    alarm_clock& clock_;
    const std::pair<moment, std::uint64_t> key_;
  };

 private:
  void run();

  sleepers& parked_;
  std::mutex guard_;  // guards all members below
  std::condition_variable changed_;
  std::map<std::pair<moment, std::uint64_t>, worker_id> set_;  // the number distinguishes alarms of the same time
  std::uint64_t next_ = 0;
  bool stopping_ = false;
  std::unique_ptr<thread> thread_;
};

}  // namespace kith::native
