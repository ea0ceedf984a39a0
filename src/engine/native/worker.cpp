// A worker and its thread; the children of the task that runs.
#include "engine/native/worker.hpp"

#include "engine/life/claim.hpp"
#include "engine/native/create.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/held.hpp"
#include "task/edges.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace kith::native {

thread_local constinit worker* worker_of_this_thread [[gnu::tls_model("initial-exec")]] = nullptr;

worker& worker::current_for(std::string_view call) {
  if (worker_of_this_thread == nullptr)
    throw error(std::string(call) + ": no task runs on this thread; call it inside runtime::run() or a task");
  return *worker_of_this_thread;
}

worker& worker::current_to_run(std::string_view call) {
  worker& w = current_for(call);
  if (w.captures()) w.children_scope->sink->refuse(call);
  return w;
}

worker::worker(native::engine& owner, worker_id self, node_id at, thread_affinity on)
    : native_seat(owner, owner.space, static_cast<std::uint16_t>(self.value), true),
      worker_view(self, at, owner.parked),
      binding(std::move(on)),
      mover_(owner.memory),
      homes_(owner.memory),
      stacks_(owner.options.stack_bytes) {
  batch_.reserve(64);
  jobs = &owner.jobs;
  drop_dead_task = [](worker_view& me, task& t) {
    if ((t.flags & task::claimable) == 0 || !life::is_dead(t.state)) return false;
    return !static_cast<worker&>(me).take(t);
  };
  together = &owner.together;
  naming_of_innermost = &naming;
}

namespace {

/// The innermost on the stack that this thread runs on. A worker's other stacks (suspend.cpp) have lists of their own:
/// of the workers below, they have only those on top of which this one was entered. Others have frames on top of its
/// own on a stack that was left, and must not go on before that stack does.
thread_local constinit worker::on_stack* innermost_on_stack = nullptr;

}  // namespace

worker::on_stack::on_stack(worker& w) noexcept
    : who_(&w), below_(w.entry_ != nullptr ? w.entry_->below_ : innermost_on_stack), before_(w.turn_to_thread()) {
  if (w.entry_ == nullptr) w.entry_ = this;
  innermost_on_stack = this;
}

worker::on_stack::~on_stack() {
  if (who_->entry_ == this) who_->entry_ = nullptr;
  if (innermost_on_stack != this) return;  // in a child of fork(), which has no workers
  innermost_on_stack = below_;
  turn_back(before_);
}

worker* worker::find_on_stack(const native::engine& engine) noexcept {
  const on_stack* at = innermost_on_stack;
  while (at != nullptr && &at->who_->engine != &engine) at = at->below_;
  return at != nullptr ? at->who_ : nullptr;
}

worker::on_stack* worker::exchange_stack(on_stack* with) noexcept { return std::exchange(innermost_on_stack, with); }

void worker::forget_thread() noexcept {
  innermost_on_stack = nullptr;
  turn_back(nullptr);
}

/// Makes this the thread's current worker; returns the one before.
worker* worker::turn_to_thread() noexcept {
  const worker* const below_here = worker_of_this_thread;  // its stack may not be the thread's own
  if (below_here != this) stack_limit = below_here != nullptr ? below_here->stack_limit : nesting_limit(stack_bottom());
  detail::this_lane = this_lane();
  return std::exchange(worker_of_this_thread, this);
}

void worker::turn_back(worker* before) noexcept {
  worker_of_this_thread = before;
  detail::this_lane = before != nullptr ? before->this_lane() : &detail::no_lane;
}

std::uint64_t worker::running_ref() const noexcept {
  return running != nullptr ? edges::reference_to(engine.space, *running).packed().value : root_name;
}

detail::scope& worker::open_children() {
  children_scope = &open_scope(*this, task_scope);
  return *children_scope;
}

std::exception_ptr worker::end_children() {
  tell_waiting();
  std::exception_ptr refused;
  try {
    wait_for(children_scope, "the wait for what a run created");
  } catch (...) {  // no stack was left for the wait
    refused = std::current_exception();
  }
  if (children_scope == nullptr) return refused;
  std::exception_ptr failure = children_scope->take_failure();
  give_scope(*children_scope);
  children_scope = nullptr;
  return failure ? failure : refused;
}

std::exception_ptr worker::run_apart(void* context, void (*f)(void*)) {
  detail::scope* const outer = std::exchange(children_scope, nullptr);
  std::exception_ptr failure;
  try {
    f(context);
  } catch (...) {
    failure = std::current_exception();
    if (children_scope != nullptr) children_scope->cancel();
  }
  if (children_scope != nullptr && !engine.inherited()) {  // else f has forked: no worker ends them here
    std::exception_ptr from_children = end_children();
    if (!failure) failure = std::move(from_children);
  }
  children_scope = outer;
  return failure;
}

detail::scope* worker::enter_child() noexcept { return std::exchange(children_scope, nullptr); }

void worker::leave_child(detail::scope* outer) {
  detail::scope* const left = std::exchange(children_scope, outer);
  if (left == nullptr) return;
  if (left->unfinished() == 0 && !left->failed.load(relaxed)) return give_scope(*left);
  task& in_its_place = create_held(*this);  // a child whose body has ended
  // release: pairs with the walks up the parents (C6 of scope.hpp). Until here these tasks were below the running one's
  // scope, and not among its children.
  left->parent.store(in_its_place.scope, release);
  if (!leave(in_its_place, *left, false)) requeue(end(in_its_place));
}

std::exception_ptr worker::run_on_top(void* context, void (*f)(void*)) {
  const std::uintptr_t limit = stack_limit;  // of the stack further down, where this worker goes on afterwards
  worker* const before = turn_to_thread();
  std::exception_ptr failure = run_apart(context, f);
  turn_back(before);
  stack_limit = limit;
  return failure;
}

void worker::tell_waiting() noexcept {
  if (children_scope != nullptr && children_scope->unfinished() != 0) tell_waiting(*children_scope);
}

void worker::tell_waiting(detail::scope& s) noexcept {
  try {
    engine.policy.waiting(*this);
  } catch (...) {
    s.fail(std::current_exception());
  }
}

void worker::wait_for_children() {
  if (children_scope == nullptr) return;
  tell_waiting();
  wait_for(children_scope, "kith::wait()");
  if (std::exception_ptr failure = children_scope->take_failure()) std::rethrow_exception(std::move(failure));
}

}  // namespace kith::native
