// finish() at a place: its body is an activity, and what it waits for is in the place's tables.
#include "places/place_closure.hpp"

#include <kith/detail/creation.hpp>
#include <kith/task.hpp>

#include <utility>

namespace kith::distributed {

void place::begin_finish(const activity_record* caller, void (*f)(void*), void* context,
                         std::shared_ptr<finish_wait> waiting) {
  auto body = std::make_unique<activity_record>();
  body->at = caller != nullptr ? caller->at : 0;
  body->body = f;
  body->context = context;
  {
    const std::lock_guard lock(guard_);
    refuse_if_lost();
    body->in = finishes_.open();
    waits_[body->in.number] = waiting;
    waiting->begun = true;
  }
  body->waiting = std::move(waiting);
  if (caller != nullptr) {
    detail::create(detail::running_task(), closure(*this, std::move(body)), body_of_finish_);
  } else {
    detail::creation(*tasks_).make(closure(*this, std::move(body)), body_of_finish_);
  }
}

void place::finish(const activity_record* caller, void (*f)(void*), void* context) {
  const auto waiting = std::make_shared<finish_wait>();
  begin_finish(caller, f, context, waiting);
  try {
    waiting->ended.wait();
  } catch (...) {  // no stack is left
    wait_for_body(caller);
    throw;
  }
  if (waiting->given_up) wait_for_body(caller);
  const std::exception_ptr thrown = std::move(waiting->thrown);  // so that this thread frees it, not the body's
  if (thrown) std::rethrow_exception(thrown);
  waiting->rethrow();
}

void finish_wait::rethrow() const {
  if (thrown) std::rethrow_exception(thrown);
  if (failed) std::rethrow_exception(exception_of(*failed));
}

/// Waits for the body of a finish that has ended before it, because the body uses the caller's frame.
void place::wait_for_body(const activity_record* caller) {
  if (caller == nullptr) {
    await_coroutines();
    tasks_->wait();
    return;
  }
  detail::cancel_children();
  try {
    kith::wait();
  } catch (...) {  // finish() throws the earlier error
  }
}

}  // namespace kith::distributed
