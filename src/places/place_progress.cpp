// What a place's progress thread does with messages and offers of activities. place_collectives.cpp and place_job.cpp
// have the rest of its work.
#include "places/place.hpp"

#include "base/clock.hpp"
#include "base/invariant.hpp"

#include <kith/unbound.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace kith::distributed {

namespace {

void count(atomic<std::uint64_t>& n, std::uint64_t amount = 1) noexcept {
  n.store(n.load(relaxed) + amount, relaxed);  // one writer
}

/// The offer that a place must accept.
std::shared_ptr<const detail::packed_arguments> as_forced(const detail::packed_arguments& message) {
  message_header h;
  std::memcpy(&h, message.buffer.data(), sizeof h);
  h.flags |= message_header::forced;
  detail::packed_arguments changed = message;
  seal(changed, h);
  return std::make_shared<const detail::packed_arguments>(std::move(changed));
}

}  // namespace

void place::progress() {
  const unbound anywhere;
  detail::byte_buffer message;
  for (;;) {
    bool did = false;
    while (net_.poll(message)) {
      handle(std::move(message));
      did = true;
    }
    // poll() loads the bell with acquire: either this thread sees what was written before ring(), or the bell has
    // changed and sleep() returns.
    did = send_outgoing() || did;
    did = make_tasks() || did;
    did = offer_again() || did;
    if (job_.credits) did = send_without_credit() || did;
    did = do_collectives() || did;
    did = answer_questions() || did;
    if (records_ && records_->should_ask()) net_.send(0, sealed(records_->question()));
    while (const std::optional<lost_place> l = net_.lost()) {
      lose(*l);
      did = true;  // the activities that run again elsewhere are still to be sent
    }
    if (!dropped_.empty()) did = end_dropped_offers() || did;
    if (did) continue;
    if (leaving_.load(relaxed)) try_leave();
    if (stopping_.load(relaxed)) return;
    net_.sleep(next_time());
  }
}

/// The progress thread creates these tasks without a parent, so that no failure or cancellation of another task keeps
/// them from starting.
bool place::make_tasks() {
  std::vector<resumed_part> resumed;
  std::vector<std::unique_ptr<activity_record>> arrived;
  std::vector<flow_note> notes;
  {
    const std::lock_guard lock(guard_);
    resumed.swap(resumed_);
    arrived.swap(arrived_);
    notes.swap(flow_notes_);
  }
  for (const flow_note& n : notes) records_->flow(n.task, n.numbers);
  for (const resumed_part& part : resumed) {
    activity_record* const stalled = part.coroutine;
    const std::uint64_t before = stalled->task;  // the next part may end the activity
    const auto made = detail::creation(*tasks_).make(
        [this, stalled, h = part.suspended]() mutable { run_part(*stalled, h); }, task_name_of(*stalled->function));
    if (records_) records_->continued(made.task.value, before, part.since, part.for_what);
  }
  const bool any = !resumed.empty() || !arrived.empty();
  for (std::unique_ptr<activity_record>& a : arrived) {
    const std::uint64_t spawner = a->spawner, result = a->result;
    const std::uint64_t made = make_task(std::move(a));
    if (records_) records_->made(made, spawner, result);
  }
  return any;
}

bool place::send_outgoing(bool offers) {
  outgoing* next = outbox_.take_all();
  const bool any = next != nullptr;
  while (next != nullptr) {
    const std::unique_ptr<outgoing> o(std::exchange(next, next->next));
    if (o->offered) {
      if (offers) send(o->to, o->offered);
    } else {
      send(o->to, std::move(o->message));
    }
  }
  return any;
}

void place::send(int to, detail::byte_buffer message) {
  message_header h;
  std::memcpy(&h, message.data(), sizeof h);
  if (job_.credits && !is_control(h.kind)) {
    h.credits = owed_[static_cast<std::size_t>(to)].exchange(0, relaxed);
    if (h.kind == message_kind::credit && h.credits == 0) return;  // they went with another message
    std::memcpy(message.data(), &h, sizeof h);
  }
  if (is_control(h.kind)) {
    net_.send(to, std::move(message));
    return;
  }
  count_message(to, h, message.size());
  net_.send(to, std::move(message));
}

void place::send(int to, const std::shared_ptr<const detail::packed_arguments>& offered) {
  message_header h;
  std::memcpy(&h, offered->buffer.data(), sizeof h);
  if (!is_control(h.kind)) count_message(to, h, offered->size());
  net_.send(to, offered);
}

void place::count_message(int to, const message_header& h, std::size_t bytes) {
  if (records_) records_->sent(to, h, bytes);
  counts::message_counts* kind = &counts_.answers;
  switch (h.kind) {
    case message_kind::spawn:
      kind = &counts_.spawns;
      if (bytes > counts_.largest_spawn.load(relaxed)) counts_.largest_spawn.store(bytes, relaxed);
      break;
    case message_kind::result: kind = &counts_.results; break;
    case message_kind::credit: kind = &counts_.credits; break;
    case message_kind::done: kind = &counts_.dones; break;
    default: break;
  }
  count(kind->messages);
  count(kind->bytes, bytes);
}

bool place::offer_again() {
  bool any = false;
  const auto now = std::chrono::steady_clock::now();
  while (!again_.empty() && again_.begin()->first <= now) {
    const auto next = again_.extract(again_.begin());
    send(next.mapped()->to, next.mapped()->message);
    any = true;
  }
  return any;
}

void place::handle(detail::byte_buffer message) {
  message_header h;
  std::optional<failure> failed;
  place_statistics counted;
  try {
    h = decode(message, static_cast<std::uint32_t>(job_.places), job_.functions);
    if (h.kind != message_kind::spawn && h.has(message_header::failed)) failed = read_failure(payload_of(message));
    if (h.kind == message_kind::counts) counted = read_counts(payload_of(message));
    if (h.kind == message_kind::contribution) static_cast<void>(read_contribution(h));
  } catch (const error& e) {
    // The sender's finish would never end: what cannot be read cannot be answered.
    std::fprintf(stderr, "kith: place %d cannot read a message that it received: %s\n", number_, e.what());
    std::abort();
  }
  if (has_left_ || (job_.survives_losses && lost_places_[h.from])) return;  // nothing waits for the consequences
  if (h.credits != 0) take_credits(h);
  const std::size_t bytes = message.size();
  const std::uint64_t at = records_ ? ticks() : 0;
  std::uint64_t made = 0;
  switch (h.kind) {
    case message_kind::credit: break;
    case message_kind::spawn: made = accept(h, std::move(message)); break;
    case message_kind::accepted: answered(h); break;
    case message_kind::refused: refused(h); break;
    case message_kind::result:
      handled_result_ = h.result;
      deliver(h.result, std::move(message), failed);
      handled_result_ = 0;
      break;
    case message_kind::done: end(h.finish(), std::move(failed), static_cast<int>(h.from)); break;
    case message_kind::contribution:
      if (hub_ != nullptr) {
        const std::lock_guard order(hub_guard_);
        send_answers(hub_->take(static_cast<int>(h.from), std::move(message)));
      }
      break;
    case message_kind::combined:
      if (!job_.survives_losses) break;
      end_first_collective(
          std::make_shared<const detail::packed_arguments>(detail::packed_arguments{std::move(message)}));
      break;
    default: handle_control(h, std::move(failed), std::move(counted)); break;
  }
  if (records_ && !is_control(h.kind)) records_->received(h, bytes, at, made);
}

/// Returns the task that was made, as recordings name it; 0: none.
std::uint64_t place::accept(const message_header& h, detail::byte_buffer message) {
  message_header answer{
      .kind = message_kind::accepted, .from = static_cast<std::uint32_t>(number_), .sequence = h.sequence};
  const detail::remote_function& function = function_of(h.function);
  if (function.by_progress) {
    serve(h, function, payload_of(message));
    return 0;
  }
  const bool full = fab_.load(relaxed) >= job_.threshold, forced = h.has(message_header::forced);
  if (full && !forced && !job_.credits) {
    count(counts_.refused);
    answer.kind = message_kind::refused;
    send(static_cast<int>(h.from), sealed(answer));
    return 0;
  }
  if (full && forced) count(counts_.forced);
  const auto occupied = static_cast<std::uint64_t>(fab_.fetch_add(1, relaxed)) + 1;  // P1
  count(counts_.accepted);
  count(counts_.fab_sum, occupied);
  if (occupied > counts_.fab_peak.load(relaxed)) counts_.fab_peak.store(occupied, relaxed);
  auto a = std::make_unique<activity_record>();
  a->in = h.finish();
  {
    const std::lock_guard lock(guard_);
    if (lost_) {
      fab_.fetch_sub(1, relaxed);
      return 0;
    }
    if (h.has(message_header::idempotent)) {
      open_own_finish(h, *a);
    } else if (finishes_.arrive(h.finish(), h.from)) {
      answer.flags |= message_header::engaged;
    }
  }
  send(static_cast<int>(h.from), sealed(answer));  // P3
  a->at = number_;
  a->fresh = true;
  a->credited = job_.credits && !forced;
  a->result_to = h.from;
  a->result = h.result;
  a->function = &function;
  a->message = std::move(message);
  return make_task(std::move(a));
}

/// Calls a progress_function (P5). For the finish it is an activity.
void place::serve(const message_header& h, const detail::remote_function& f, std::span<const std::byte> arguments) {
  message_header answer{
      .kind = message_kind::accepted, .from = static_cast<std::uint32_t>(number_), .sequence = h.sequence};
  {
    const std::lock_guard lock(guard_);
    if (lost_) return;
    if (finishes_.arrive(h.finish(), h.from)) answer.flags |= message_header::engaged;
  }
  send(static_cast<int>(h.from), sealed(answer));  // P3
  activities_.fetch_add(1, relaxed);
  activity_record a;
  a.at = number_;
  a.in = h.finish();
  a.result_to = h.from;
  a.result = h.result;
  a.value.resize(sizeof(message_header));
  try {
    f.code(arguments, h.result != 0 ? &a.value : nullptr);
  } catch (...) {
    a.failed = current_failure(number_);
  }
  conclude(a);
}

void place::answered(const message_header& h) {
  std::shared_ptr<offer> o;
  {
    const std::lock_guard lock(guard_);
    if (lost_) return;
    auto node = offers_.extract(h.sequence);
    KITH_INVARIANT(!node.empty(), "an answer belongs to an offer");
    o = std::move(node.mapped());
  }
  // Without `engaged` the receiver counts the activity under another parent, so the sender counts it as ended.
  if (!h.has(message_header::engaged) && !o->idempotent) end(o->in, {}, o->to);
  o->complete();
}

/// Takes the credits that a message returns, and sends the offers that waited for them.
void place::take_credits(const message_header& h) {
  const std::lock_guard lock(guard_);
  if (lost_) return;
  int& left = credits_[h.from];
  left = static_cast<int>(std::min<std::uint64_t>(std::uint64_t{h.credits} + static_cast<unsigned>(left),
                                                  static_cast<unsigned>(job_.share())));
  const auto waiting = wait_for_credit_.find(static_cast<int>(h.from));
  if (waiting == wait_for_credit_.end()) return;
  for (; left > 0 && !waiting->second.empty(); --left) {
    post_offer(*waiting->second.front());
    waiting->second.pop_front();
  }
  if (waiting->second.empty()) wait_for_credit_.erase(waiting);
}

/// Sends offers that have waited too long for a credit.
bool place::send_without_credit() {
  const auto now = std::chrono::steady_clock::now();
  bool any = false;
  const std::lock_guard lock(guard_);
  if (lost_) return false;
  for (auto& [to, offers] : wait_for_credit_) {
    for (; !offers.empty() && offers.front()->deadline <= now; offers.pop_front()) {
      offer& o = *offers.front();
      o.message = as_forced(*o.message);
      post_offer(o);
      any = true;
    }
  }
  std::erase_if(wait_for_credit_, [](const auto& at) { return at.second.empty(); });
  return any;
}

/// The next time at which there is work without a message.
std::chrono::steady_clock::time_point place::next_time() {
  auto next = std::chrono::steady_clock::now() + std::chrono::hours(1);
  if (!again_.empty()) next = again_.begin()->first;
  if (!job_.credits) return next;
  const std::lock_guard lock(guard_);
  for (const auto& [to, offers] : wait_for_credit_) next = std::min(next, offers.front()->deadline);
  return next;
}

void place::refused(const message_header& h) {
  std::shared_ptr<offer> o;
  {
    const std::lock_guard lock(guard_);
    if (lost_) return;
    const auto at = offers_.find(h.sequence);
    KITH_INVARIANT(at != offers_.end(), "an answer belongs to an offer");
    o = at->second;
  }
  const std::int64_t times = std::int64_t{1} << std::min(o->refusals, 30);
  const auto wait = job_.retry > job_.retry_most / times ? job_.retry_most : job_.retry * times;
  if (++o->refusals >= job_.most_refusals) o->message = as_forced(*o->message);
  again_.emplace(std::chrono::steady_clock::now() + wait, std::move(o));
}

}  // namespace kith::distributed
