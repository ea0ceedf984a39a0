// What is recorded of a body while it runs: what it touches, and what counters count.
#pragma once

#include "base/access_tracer.hpp"
#include "base/clock.hpp"
#include "engine/native/counts.hpp"
#include "engine/native/seat_log.hpp"

#include <cstdint>

namespace kith::native {

/// While it lives, what the calling thread touches belongs to a task.
class traced_body {
 public:
  /// `addresses`: null: nothing is done. `task` 0: what is touched belongs to no task.
  traced_body(void* addresses, std::uint64_t task) : tracer_(addresses != nullptr ? the_access_tracer() : nullptr) {
    if (tracer_ != nullptr) outer_ = tracer_->enter(addresses, task);
  }
  ~traced_body() {
    if (tracer_ != nullptr) tracer_->leave(outer_);
  }
  traced_body(const traced_body&) = delete;
  traced_body& operator=(const traced_body&) = delete;

 private:
  const access_tracer* const tracer_;
  void* outer_ = nullptr;
};

/// While it lives, a body runs whose counts are recorded, unless the worker does not count.
class counted_body {
 public:
  /// `task` 0: what is counted belongs to no task. `ended` gets the time of the end, before the counters are read.
  counted_body(worker_counts& counts, seat_log* log, std::uint64_t task, std::uint64_t& ended) noexcept
      : counts_(counts.on() ? &counts : nullptr), log_(log), task_(task), ended_(ended) {
    if (counts_ != nullptr) outer_ = counts_->give_to(task != 0 ? &mine_ : nullptr);
  }
  ~counted_body() {
    if (counts_ == nullptr) return;
    ended_ = ticks();
    counts_->give_to(outer_);
    if (task_ == 0) return;
    if (const counter_set known = settle(mine_, counts_->counted(), counts_->in_turns()); !known.empty())
      log_->counted(task_, known, mine_);
  }
  counted_body(const counted_body&) = delete;
  counted_body& operator=(const counted_body&) = delete;

 private:
  worker_counts* const counts_;
  seat_log* const log_;
  const std::uint64_t task_;
  std::uint64_t& ended_;
  body_counts* outer_ = nullptr;
  body_counts mine_;
};

}  // namespace kith::native
