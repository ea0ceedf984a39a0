// How a place spawns activities: at itself as tasks, at other places as offers (place.hpp).
#include "places/place_closure.hpp"

#include "engine/native/engine.hpp"
#include "engine/native/worker.hpp"

#include <kith/detail/creation.hpp>
#include <kith/task.hpp>

#include <chrono>
#include <utility>

namespace kith::distributed {

/// Counts an activity, and returns the number of its result (0: none is wanted). REQUIRES: guard_ is held.
std::uint64_t place::open(finish_id in, int to, std::shared_ptr<detail::remote_result> result, std::uint64_t number) {
  refuse_if_lost(to);
  const bool elsewhere = !is_here(to);
  const auto add = [&] { elsewhere ? finishes_.add_edge(in) : finishes_.add(in); };
  add();
  if (elsewhere) finishes_.sent(in, static_cast<std::uint32_t>(to));
  if (!result) return 0;
  add();
  if (number == 0) number = ++last_number_;
  results_[number] = {.result = std::move(result), .in = in, .from = to};
  return number;
}

/// Makes an activity without counting it.
std::unique_ptr<activity_record> place::make_activity(finish_id in, int at, const detail::remote_function& f,
                                                      detail::packed_arguments message) const {
  auto a = std::make_unique<activity_record>();
  a->message = std::move(message).flattened();
  a->at = at;
  a->in = in;
  a->result_to = static_cast<std::uint32_t>(number_);
  a->function = &f;
  return a;
}

std::uint64_t place::running_task() const {
  const native::worker* const w = native::worker::current();
  return w != nullptr && w->engine.number == engine_ ? w->running_ref() : 0;
}

std::shared_ptr<place::offer> place::make_offer(finish_id in, int to, const detail::remote_function& f,
                                                detail::packed_arguments message,
                                                std::shared_ptr<detail::remote_result> result,
                                                const recorded_spawn& as) {
  message_header h{.kind = message_kind::spawn,
                   .from = static_cast<std::uint32_t>(number_),
                   .function = f.number,
                   .finish_number = in.number,
                   .finish_home = in.home};
  auto made = std::make_shared<offer>();
  made->to = to;
  made->in = in;
  {
    const std::lock_guard lock(guard_);
    h.result = open(in, to, std::move(result), as.result);
    if (records_) h.task = as.spawner != 0 ? as.spawner : running_task();
    register_offer(made, std::move(message), h, f);
  }
  net_.ring();
  return made;
}

/// Numbers the offer, and sends it now or when there is a credit for it. REQUIRES: guard_ is held.
void place::register_offer(const std::shared_ptr<offer>& made, detail::packed_arguments message, message_header h,
                           const detail::remote_function& f) {
  h.sequence = ++last_number_;
  seal(message, h);
  made->message = std::make_shared<const detail::packed_arguments>(std::move(message));
  offers_[h.sequence] = made;
  if (!job_.credits || f.by_progress) {  // it needs no room in the buffer
    post_offer(*made);
  } else if (int& left = credits_[static_cast<std::size_t>(made->to)]; left > 0) {
    --left;
    post_offer(*made);
  } else {
    made->deadline = std::chrono::steady_clock::now() + job_.credit_wait;
    wait_for_credit_[made->to].push_back(made);
    counts_.waited.fetch_add(1, relaxed);
  }
}

/// Sends an offer for the first time. REQUIRES: guard_ is held, so that an offer that lose() finds unsent stays unsent.
void place::post_offer(offer& o) {
  outbox_.push(*new outgoing{o.to, {}, o.message});
  // With a credit the offer will be accepted. The spawner may go on, unless the message refers to its memory.
  if (job_.credits && o.message->outer.empty()) o.complete();
}

void place::spawn(const activity_record& spawner, int to, const detail::remote_function& f,
                  detail::packed_arguments message, std::shared_ptr<detail::remote_result> result) {
  if (is_here(to)) {
    auto a = make_activity(spawner.in, to, f, std::move(message));
    {
      const std::lock_guard lock(guard_);
      a->result = open(spawner.in, to, std::move(result));
    }
    detail::create(detail::running_task(), closure(*this, std::move(a)), task_name_of(f));
    return;
  }
  const std::shared_ptr<offer> mine = make_offer(spawner.in, to, f, std::move(message), std::move(result));
  wait_for(*mine);
  if (!mine->dropped.load(relaxed)) return;
  const std::lock_guard lock(guard_);
  refuse_if_lost();
}

void place::send_activity(finish_id in, int to, const detail::remote_function& f, detail::packed_arguments message,
                          std::shared_ptr<detail::remote_result> result, const recorded_spawn& as) {
  message = {std::move(message).flattened()};
  if (!is_here(to)) {
    make_offer(in, to, f, std::move(message), std::move(result), as);
    return;
  }
  auto a = make_activity(in, to, f, std::move(message));
  if (records_) a->spawner = as.spawner != 0 ? as.spawner : running_task();
  {
    const std::lock_guard lock(guard_);
    arrived_.reserve(arrived_.size() + 1);
    a->result = open(in, to, std::move(result), as.result);  // throws after a loss, so nothing is queued
    arrived_.push_back(std::move(a));
  }
  net_.ring();
}

std::uint64_t place::number_result() {
  const std::lock_guard lock(guard_);
  return ++last_number_;
}

void place::note_flow(std::uint64_t task, std::vector<std::uint64_t> numbers) {
  const std::lock_guard lock(guard_);
  flow_notes_.push_back({task, std::move(numbers)});
}

void place::hold(finish_id in) {
  const std::lock_guard lock(guard_);
  refuse_if_lost();
  finishes_.add(in);
}

void place::wait_for(offer& o) const {
  if (job_.waiting == place_waiting::works) {
    try {
      o.accepted.wait();
    } catch (...) {                 // no stack is left; the arguments are still needed
      o.answered.wait(0, acquire);  // as below
      throw;
    }
  } else {
    o.answered.wait(0, acquire);  // pairs with offer::complete()
  }
}

std::uint64_t place::make_task(std::unique_ptr<activity_record> a) {
  const name type = task_name_of(*a->function);
  return detail::creation(*tasks_).make(closure(*this, std::move(a)), type).task.value;
}

}  // namespace kith::distributed
