// The life of a place, and of the activities that run there.
#include "places/place.hpp"

#include "api/implementation.hpp"
#include "base/invariant.hpp"
#include "engine/native/recorder.hpp"
#include "engine/native/worker.hpp"

#include <kith/task.hpp>

#include <unistd.h>

namespace kith::distributed {

namespace {

/// Null under cws too: there are no messages, and the recording is that of any runtime.
std::unique_ptr<place_records> records_of(const setup& job, int number, const runtime& tasks) {
  native::recorder* const recording = runtime::implementation::engine_of(tasks).recording();
  if (recording == nullptr || job.one_group) return nullptr;
  recording->keep_parts();  // the progress thread may have messages when the runtime has ended
  return std::make_unique<place_records>(recording->parts(), tasks.workers(), number, job.places, job.clock,
                                         job.processes && number != 0);
}

}  // namespace

place::place(const setup& job, int number, const runtime_options& each, endpoint& net)
    : job_(job),
      number_(number),
      net_(net),
      tasks_(std::make_unique<runtime>(each)),
      engine_(runtime::implementation::engine_of(*tasks_).number),
      records_(records_of(job, number, *tasks_)),
      lost_places_(job.survives_losses ? static_cast<std::size_t>(job.places) : 0),
      finishes_(number, job.survives_losses),
      credits_(static_cast<std::size_t>(job.places), job.share()),
      hub_(job.survives_losses && number == 0 ? std::make_unique<collective_hub>(job.places) : nullptr),
      owed_(static_cast<std::size_t>(job.places)) {
  if (records_) recorded_in_ = tasks_->recorded_in();
}

void place::start() {
  progress_ = std::thread([this] { progress(); });
}

place::~place() {
  end_tasks();
  if (made_in_ != getpid()) {
    progress_.detach();
    return;
  }
  if (!progress_.joinable()) return;
  stopping_.store(true, relaxed);
  net_.ring();
  progress_.join();
}

void place::end_tasks() {
  if (made_in_ == getpid()) await_coroutines();
  tasks_.reset();
}

/// After a loss a coroutine may be about to be resumed although no finish waits for it.
void place::await_coroutines() const {
  // acquire: pairs with run_part(); the places go when this returns.
  for (int open = coroutines_.load(acquire); open != 0; open = coroutines_.load(acquire)) coroutines_.wait(open);
}

// ---- activities

void place::run(std::unique_ptr<activity_record> a) noexcept {
  leave_buffer(*a);
  activities_.fetch_add(1, relaxed);
  activity_record& mine = *a.release();
  run_part(mine, [this, &mine] {
    if (mine.body != nullptr) return mine.body(mine.context);
    mine.value.resize(sizeof(message_header));
    mine.coroutine = mine.function->code(payload_of(mine.message), mine.result != 0 ? &mine.value : nullptr);
    if (mine.coroutine == nullptr) return;
    coroutines_.fetch_add(1, relaxed);
    mine.coroutine->handle().resume();
  });
}

/// Called when the activity is about to run, or will never run.
void place::leave_buffer(activity_record& a) noexcept {
  if (a.fresh) fab_.fetch_sub(1, relaxed);
  if (!a.credited) return;
  const std::uint32_t owed = owed_[a.result_to].fetch_add(1, relaxed) + 1;
  if (owed != static_cast<std::uint32_t>(std::max(1, job_.share() / 2)))
    return;  // fewer than half a share go with the next message that is no spawn (P4)
  const std::lock_guard lock(guard_);
  if (lost_) return;
  post(static_cast<int>(a.result_to),
       sealed({.kind = message_kind::credit, .from = static_cast<std::uint32_t>(number_)}));
}

/// Runs the activity, or a part of it if it is a coroutine. The thread that ends the last part destroys it.
void place::run_part(activity_record& a, const std::function<void()>& code) noexcept {
  const std::uint64_t task = native::worker::current()->running_ref();
  {
    const std::lock_guard lock(running_guard_);
    running_[task] = &a;
    a.task = task;
    if (a.waiting) a.waiting->body = task;
  }
  const auto attempt = [&](const auto& step) {
    try {
      step();
    } catch (...) {
      const std::lock_guard lock(running_guard_);  // the next part may run already
      if (a.failed) return;
      a.failed = current_failure(a.at);
      a.thrown = std::current_exception();
    }
  };
  attempt(code);
  attempt([] { kith::wait(); });
  {
    const std::lock_guard lock(running_guard_);
    running_.erase(task);
  }
  // acq_rel: pairs with the other parts' ends; the last one frees the record that they used.
  if (a.parts.fetch_sub(1, acq_rel) != 1) return;
  const std::unique_ptr<activity_record> owned(&a);
  const bool is_coroutine = a.coroutine != nullptr;
  if (is_coroutine) {
    attempt([&] { a.coroutine->write_result(*a.coroutine, a.result != 0 ? &a.value : nullptr); });
    a.end_coroutine();
  }
  conclude(a);
  // release: pairs with await_coroutines().
  if (is_coroutine && coroutines_.fetch_sub(1, release) == 1) coroutines_.notify_all();
}

/// The activity has ended: its result or failure goes to the task or place that waits for it.
void place::conclude(activity_record& a) {
  const std::shared_ptr<finish_wait> waiting = std::move(a.waiting);
  if (waiting != nullptr) {
    waiting->thrown = std::move(a.thrown);  // the caller of finish() gets the exception itself
    a.failed.reset();
  } else if (a.own != nullptr) {
    a.own->task = a.task;
    a.own->value = std::move(a.value);
    a.own->body_failed = std::exchange(a.failed, {});
  } else if (a.result != 0) {
    send_result(a.result_to, a.result, a.task, std::move(a.value), a.failed);
    a.failed.reset();
  }
  const std::shared_ptr<own_finish> own = std::move(a.own);
  end(a.in, std::move(a.failed));
  if (waiting != nullptr) waiting->end_one();
  if (own != nullptr) own->end_one();
}

/// `task`: the sender, as recordings name it.
void place::send_result(std::uint32_t to, std::uint64_t result, std::uint64_t task, detail::byte_buffer value,
                        const std::optional<failure>& failed) {
  if (to == static_cast<std::uint32_t>(number_)) {
    deliver(result, std::move(value), failed);
    return;
  }
  const message_header h{.kind = message_kind::result,
                         .from = static_cast<std::uint32_t>(number_),
                         .result = result,
                         .task = records_ ? task : 0};
  if (failed) {
    value = sealed(h, *failed);
  } else {
    seal(value, h);
  }
  post(static_cast<int>(to), std::move(value));
}

/// Something of a finish has ended: here, or at place `heard_from`, to which it was sent.
void place::end(finish_id f, std::optional<failure> why, std::optional<int> heard_from) {
  std::shared_ptr<finish_wait> waiting;
  std::optional<finish_table::ended> over;
  {
    const std::lock_guard lock(guard_);
    if (lost_) return;
    if (heard_from) finishes_.answered(f, static_cast<std::uint32_t>(*heard_from));
    over = finishes_.remove(f, std::move(why));
    if (over && over->root) waiting = std::move(waits_.extract(f.number).mapped());
  }
  if (!over) return;
  if (waiting) {
    waiting->failed = std::move(over->failed);
    waiting->complete();
    return;
  }
  const message_header h{.kind = message_kind::done,
                         .from = static_cast<std::uint32_t>(number_),
                         .finish_number = f.number,
                         .finish_home = f.home};
  post(static_cast<int>(over->parent), over->failed ? sealed(h, *over->failed) : sealed(h));
}

/// A result has arrived: `value`, after room for a header. The finish counts it as open until then. If it is a failure
/// and no future refers to it, the finish gets the failure.
void place::deliver(std::uint64_t result, detail::byte_buffer value, const std::optional<failure>& failed) {
  std::shared_ptr<detail::remote_result> to;
  finish_id in;
  {
    const std::lock_guard lock(guard_);
    if (lost_) return;
    const auto at = results_.find(result);
    KITH_INVARIANT(at != results_.end(), "a result that comes is waited for");
    to = std::move(at->second.result);
    in = at->second.in;
    results_.erase(at);
  }
  std::optional<failure> unseen;
  if (failed && to.use_count() == 1) unseen = *failed;
  to->value = std::move(value);
  if (failed) to->failure = exception_of(*failed);
  to->complete();
  end(in, std::move(unseen));
}

activity_record* place::current() const {
  const native::worker* const w = native::worker::current();
  if (w == nullptr || w->engine.number != engine_) return nullptr;
  activity_record* found = nullptr;
  const std::lock_guard lock(running_guard_);
  const auto is_activity = [&](std::uint64_t task) {
    const auto at = running_.find(task);
    found = at == running_.end() ? nullptr : at->second;
    return found != nullptr;
  };
  // A task that an activity created, and each task below it, belongs to the activity, which waits for it.
  if (is_activity(w->running_ref())) return found;
  return w->task_scope != nullptr && w->task_scope->any_owner(is_activity) ? found : nullptr;
}

/// REQUIRES: guard_ is held.
void place::refuse_if_lost() const {
  if (lost_) std::rethrow_exception(exception_of(*lost_));
}

/// The same for a call that needs place `to`. REQUIRES: guard_ is held.
void place::refuse_if_lost(int to) const {
  refuse_if_lost();
  if (!job_.survives_losses) return;
  if (const std::optional<failure>& why = lost_places_[static_cast<std::size_t>(to)])
    std::rethrow_exception(exception_of(*why));
}

void place::post(int to, detail::byte_buffer message) {
  outbox_.push(*new outgoing{to, std::move(message), {}});
  net_.ring();
}

}  // namespace kith::distributed
