// Activities that are coroutines: who resumes them, and what co_await waits for.
#include "places/place.hpp"
#include "places/place_of_caller.hpp"

#include <kith/activity.hpp>

#include <algorithm>

namespace kith {

namespace distributed {

std::function<void()> place::resumption(activity_record& coroutine, std::coroutine_handle<> suspended) {
  std::function<void()> resume = [this, &coroutine, suspended] {
    {
      const std::lock_guard lock(guard_);
      resumed_.emplace_back(&coroutine, suspended);
    }
    net_.ring();
  };
  coroutine.parts.fetch_add(1, relaxed);  // the part that runs now has not ended
  return resume;
}

/// Here, so that these tasks are nobody's children: no failure or cancellation of another task keeps them from
/// starting.
bool place::make_tasks() {
  std::vector<std::pair<activity_record*, std::coroutine_handle<>>> resumed;
  std::vector<std::unique_ptr<activity_record>> arrived;
  {
    const std::lock_guard lock(guard_);
    resumed.swap(resumed_);
    arrived.swap(arrived_);
  }
  for (const auto& [stalled, suspended] : resumed) {
    const std::uint64_t before = stalled->task;  // the next part may end the activity
    const auto made = detail::creation(*tasks_).make([this, a = stalled, h = suspended]() mutable { run_part(*a, h); },
                                                     task_name_of(*stalled->function));
    if (records_) records_->continued(made.task.value, before);
  }
  const bool any = !resumed.empty() || !arrived.empty();
  for (std::unique_ptr<activity_record>& a : arrived) {
    const std::uint64_t made = make_task(std::move(a));
    if (records_) records_->continued(made, 0);
  }
  return any;
}

}  // namespace distributed

namespace detail {

using distributed::finish_wait;

void remote_result::complete() {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock(guard_);
    ended.complete();
    waiting.swap(waiting_);
  }
  for (const auto& resume : waiting) resume();
}

void remote_result::then(std::function<void()> resume) {
  {
    const std::lock_guard lock(guard_);
    if (!ended.done()) {
      waiting_.push_back(std::move(resume));
      return;
    }
  }
  resume();
}

std::function<void()> resumption(std::coroutine_handle<> suspended) {
  const distributed::caller me = distributed::caller_of("co_await");
  if (me.running->coroutine == nullptr) {
    throw error("co_await: the running activity is not a coroutine; spawn a function that returns kith::activity");
  }
  return me.at->resumption(*me.running, suspended);
}

void begin_finish(void* context, void (*f)(void*), std::coroutine_handle<> suspended, std::shared_ptr<void>& state) {
  const distributed::caller me = distributed::caller_of("co_await");
  const auto waiting = std::make_shared<finish_wait>();
  waiting->resume = resumption(suspended);
  state = waiting;  // the coroutine may go on, and end, before begin_finish() returns
  try {
    me.at->begin_finish(me.running, f, context, waiting);
  } catch (...) {
    if (waiting->begun) return;               // and has ended with a failure, so that the coroutine is resumed
    me.running->parts.fetch_sub(1, relaxed);  // a place was lost: the coroutine goes on with the exception
    throw;
  }
}

void end_finish(void* state) { static_cast<finish_wait*>(state)->rethrow(); }

}  // namespace detail

}  // namespace kith
