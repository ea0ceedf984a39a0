// The threads that work in an engine: its own, guests that run as worker 0 in runtime::run(), and the stand-in, which
// is worker 0 while only tasks from outside are unfinished.
#include "engine/native/binding.hpp"
#include "engine/native/engine.hpp"
#include "engine/native/inherited.hpp"
#include "engine/native/recorded_body.hpp"
#include "engine/native/worker.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace kith::native {

/// There is no work yet, so workers beyond the bound need not look for any.
bool engine::begins_asleep(const worker& w) const noexcept {
  return parked.has_bound() && w.id.value >= std::max(1, options.awake);
}

void engine::worker_main(worker& w) {
  const binding bound(w.binding);
  const worker::on_stack here(w);
  begin_counting(w);
  // When it is woken, it looks at everything before it sleeps again. There may be work for others, too (S6 of
  // sleepers.hpp).
  if (begins_asleep(w) && w.sleep(false) == wake_reason::work) parked.found_work();
  w.start_busy();
  w.serve_until([this] { return stopping.load(relaxed); });
}

/// Worker 0 while tasks from outside are unfinished and no guest is worker 0.
void engine::stand_in_main() {
  for (;;) {
    {
      std::unique_lock lock(outside.guard);
      outside.changed.wait(lock, [this] { return stopping.load(relaxed) || outside.unfinished() != 0; });
      if (stopping.load(relaxed)) return;  // no task is unfinished then
    }
    std::lock_guard seat(seat_0_);
    worker& w = workers[0];
    const binding bound(w.binding);
    const worker::on_stack here(w);
    begin_counting(w);
    begin_run();
    w.start_busy();
    w.serve_until([this] { return outside.unfinished() == 0; });
    if (inherited()) end_forked_process();
    w.finish_suspended();
    w.stop_busy();
    w.report();
    end_run();
  }
}

void engine::begin_run() noexcept {
  std::lock_guard lock(running_);
  if (runs_++ != 0) return;
  policy.run_began();
  run_began.store(ticks(), relaxed);
  run_number.store(run_number.load(relaxed) + 1, relaxed);
}

void engine::end_run() noexcept {
  std::lock_guard lock(running_);
  if (--runs_ == 0) run_ticks_ += ticks() - run_began.load(relaxed);
}

namespace {

/// A run that another thread waits for. The run ends with this task, even if the task is refused (by `replay`)
/// and never runs.
class handed_over {
 public:
  handed_over(std::shared_ptr<detail::completion> ended, std::exception_ptr& failure, void* context, void (*f)(void*))
      : ended_(std::move(ended)), failure_(failure), context_(context), f_(f) {}
  handed_over(handed_over&&) noexcept = default;
  ~handed_over() {
    if (!ended_) return;
    if (!ran_)
      failure_ = std::make_exception_ptr(
          error("runtime::run(): the function was cancelled before it started", error_kind::cancelled));
    ended_->complete();
  }
  void operator()() noexcept {
    ran_ = true;
    failure_ = worker::current()->run_apart(context_, f_);
  }

 private:
  std::shared_ptr<detail::completion> ended_;  // shared, because complete() still uses it when the caller has returned
  std::exception_ptr& failure_;
  void* context_;
  void (*f_)(void*);
  bool ran_ = false;
};

}  // namespace

/// Not locked if the stand-in needs the seat, or another thread runs as worker 0. Waits for a stand-in that is about to
/// leave: a run that is recorded or replayed must be the same each time, and a thread that hands its run over cannot
/// run tasks of the runtimes below it on its stack meanwhile.
std::unique_lock<std::mutex> engine::take_seat_0() {
  std::unique_lock seat(seat_0_, std::try_to_lock);
  while (!seat.owns_lock() && outside.unfinished() == 0 && !guest_.load(relaxed)) {
    std::this_thread::sleep_for(std::chrono::microseconds(1));  // not yield: its priority may be lower
    seat.try_lock();
  }
  return seat;
}

/// Runs f as the root task of worker 0, whose seat the caller holds.
std::exception_ptr engine::run_as_guest(void* context, void (*f)(void*), std::uint16_t type) {
  guest_.store(true, relaxed);
  worker& w = workers[0];
  const binding bound(w.binding);
  const worker::on_stack as_worker_0(w);
  begin_counting(w);
  detail::scope* const no_task = std::exchange(w.task_scope, nullptr);
  begin_run();
  w.start_busy();
  const std::uint64_t root_before = std::exchange(w.root_name, ++roots_ << 32);
  const identity::naming_state named_before = std::exchange(w.naming, {identity::of_root(roots_)});
  const std::uint64_t began = w.log != nullptr ? w.log->root(w.root_name, type) : 0;
  std::uint64_t ended = 0;
  std::exception_ptr failure;
  {
    const counted_body counted(w.counts, w.log, w.root_name, ended);
    const traced_body traced(w.addresses, w.root_name);
    failure = w.run_apart(context, f);
  }
  refuse_inherited("runtime::run()");  // throws if f has forked and this is the child
  if (w.log != nullptr) w.log->executed(w.root_name, began, ended != 0 ? ended : ticks(), 0);
  w.root_name = root_before;
  w.naming = named_before;
  w.finish_suspended();
  w.stop_busy();
  w.report();
  end_run();
  w.task_scope = no_task;
  guest_.store(false, relaxed);
  return failure;
}

void engine::run_root(void* context, void (*f)(void*), std::uint16_t type) {
  refuse_inherited("runtime::run()");
  std::exception_ptr failure;
  worker* const here = worker::current();
  if (here != nullptr) here->report();                                       // C1 of scope.hpp: this may take long
  if (worker* const mine = worker::find_on_stack(*this); mine != nullptr) {  // inside a task of this runtime
    failure = mine->run_on_top(context, f);
  } else if (const std::unique_lock seat = take_seat_0(); seat.owns_lock()) {
    failure = run_as_guest(context, f, type);
  } else {  // another thread is worker 0: hands the function over
    auto ended = std::make_shared<detail::completion>();
    submit_outside(handed_over(ended, failure, context, f));
    ended->wait({}, detail::at_stack_limit::exceed);  // what runs there uses this stack
  }
  if (failure) std::rethrow_exception(std::move(failure));
}

void engine::start_stand_in() {
  std::call_once(stand_in_started_, [this] {
    stand_in_ =
        std::make_unique<thread>("kith-0", options.stack_bytes, [this] { stand_in_main(); }, home_of_stack(workers[0]));
  });
}

}  // namespace kith::native
