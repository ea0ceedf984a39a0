// Activities that are coroutines: their resumption, and the awaiters of co_await.
#include "base/clock.hpp"
#include "places/place.hpp"
#include "places/place_of_caller.hpp"

#include <kith/activity.hpp>

#include <algorithm>

namespace kith {

namespace distributed {

std::function<void()> place::resumption(activity_record& coroutine, std::coroutine_handle<> suspended,
                                        const finish_wait* finish) {
  std::function<void()> resume = [this, finish, part = resumed_part{&coroutine, suspended, records_ ? ticks() : 0},
                                  me = records_ ? running_task() : 0]() mutable {
    if (part.since != 0) {  // the caller is the task that has ended, or the progress thread at a result
      part.for_what.task = finish != nullptr ? finish->body : running_task();
      if (part.for_what.task == me) part.for_what.task = 0;  // nothing was waited for: it has just ended
      if (std::this_thread::get_id() == progress_.get_id()) part.for_what.result = handled_result_;
    }
    {
      const std::lock_guard lock(guard_);
      resumed_.push_back(part);
    }
    net_.ring();
  };
  coroutine.parts.fetch_add(1, relaxed);  // before suspension: the present part has not ended
  return resume;
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

/// The caller's activity, which must be a coroutine.
static distributed::activity_record* resumable(const distributed::caller& me) {
  if (me.running->coroutine == nullptr) {
    throw error("co_await: the running activity is not a coroutine; spawn a function that returns kith::activity");
  }
  return me.running;
}

std::function<void()> resumption(std::coroutine_handle<> suspended) {
  const distributed::caller me = distributed::caller_of("co_await");
  return me.at->resumption(*resumable(me), suspended);
}

void begin_finish(void* context, void (*f)(void*), std::coroutine_handle<> suspended, std::shared_ptr<void>& state) {
  const distributed::caller me = distributed::caller_of("co_await");
  const auto waiting = std::make_shared<finish_wait>();
  waiting->resume = me.at->resumption(*resumable(me), suspended, waiting.get());
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
