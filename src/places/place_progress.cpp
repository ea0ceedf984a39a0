// What a place's progress thread does: messages, offers of activities, collectives, and what processes tell each other.
// The functions by which other threads ask for that stand beside it.
#include "places/place.hpp"

#include "base/clock.hpp"
#include "base/invariant.hpp"

#include <kith/unbound.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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
    // poll() loads the bell with acquire. So either what was written before ring() is seen from here on, or the bell
    // has changed and sleep() returns.
    did = send_outgoing() || did;
    did = make_tasks() || did;
    did = offer_again() || did;
    if (all_.credits) did = send_without_credit() || did;
    did = do_collectives() || did;
    if (records_ && records_->should_ask()) net_.send(0, sealed(records_->question()));
    while (const std::optional<lost_place> l = net_.lost()) lose(*l);
    if (!dropped_.empty()) did = end_dropped_offers() || did;
    if (did) continue;
    if (leaving_.load(relaxed)) leave_in_turn();
    if (stopping_.load(relaxed)) return;
    net_.sleep(next_time());
  }
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
  if (all_.credits && !is_control(h.kind)) {
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
  count_message(to, h, offered->size());
  net_.send(to, offered);
}

void place::count_message(int to, const message_header& h, std::size_t bytes) {
  if (records_) records_->sent(to, h, bytes);
  counts::of_kind* of = &counts_.answers;
  switch (h.kind) {
    case message_kind::spawn:
      of = &counts_.spawns;
      if (bytes > counts_.largest_spawn.load(relaxed)) counts_.largest_spawn.store(bytes, relaxed);
      break;
    case message_kind::result: of = &counts_.results; break;
    case message_kind::credit: of = &counts_.credits; break;
    case message_kind::done: of = &counts_.dones; break;
    default: break;
  }
  count(of->messages);
  count(of->bytes, bytes);
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
    h = decode(message, static_cast<std::uint32_t>(all_.places), all_.functions);
    if (h.kind != message_kind::spawn && h.has(message_header::failed)) failed = read_failure(payload_of(message));
    if (h.kind == message_kind::counts) counted = read_counts(payload_of(message));
  } catch (const error& e) {
    // The sender's finish would never end: what cannot be read cannot be answered.
    std::fprintf(stderr, "kith: place %d cannot read a message that it received: %s\n", number_, e.what());
    std::abort();
  }
  if (h.credits != 0) take_credits(h);
  const std::size_t bytes = message.size();
  const std::uint64_t at = records_ ? ticks() : 0;
  std::uint64_t made = 0;
  switch (h.kind) {
    case message_kind::credit: break;
    case message_kind::spawn: made = accept(h, std::move(message)); break;
    case message_kind::accepted: answered(h); break;
    case message_kind::refused: refused(h); break;
    case message_kind::result: deliver(h.result, std::move(message), failed); break;
    case message_kind::done: end(h.finish(), std::move(failed)); break;
    default: obey(h, std::move(failed), std::move(counted)); break;
  }
  if (records_ && !is_control(h.kind)) records_->received(h, bytes, at, made);
}

/// The task that it made, as recordings name it; 0: none.
std::uint64_t place::accept(const message_header& h, detail::byte_buffer message) {
  message_header answer{
      .kind = message_kind::accepted, .from = static_cast<std::uint32_t>(number_), .sequence = h.sequence};
  const bool full = fab_.load(relaxed) >= all_.threshold, forced = h.has(message_header::forced);
  if (full && !forced && !all_.credits) {
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
  {
    const std::lock_guard lock(guard_);
    if (lost_) {
      fab_.fetch_sub(1, relaxed);
      return 0;
    }
    if (finishes_.arrive(h.finish(), h.from)) answer.flags |= message_header::engaged;
  }
  send(static_cast<int>(h.from), sealed(answer));  // P3
  auto a = std::make_unique<activity>();
  a->at = number_;
  a->in = h.finish();
  a->fresh = true;
  a->credited = all_.credits && !forced;
  a->result_to = h.from;
  a->result = h.result;
  a->function = &function_of(h.function);
  a->message = std::move(message);
  return make_task(std::move(a));
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
  // Without `engaged` the receiver counts the activity under another parent, so that nothing is open here.
  if (!h.has(message_header::engaged)) end(o->in, {});
  o->complete();
}

/// Credits have come back from a place.
void place::take_credits(const message_header& h) {
  const std::lock_guard lock(guard_);
  if (lost_) return;
  int& left = credits_[h.from];
  left = static_cast<int>(std::min<std::uint64_t>(std::uint64_t{h.credits} + static_cast<unsigned>(left),
                                                  static_cast<unsigned>(all_.share())));
  const auto waiting = wait_for_credit_.find(static_cast<int>(h.from));
  if (waiting == wait_for_credit_.end()) return;
  for (; left > 0 && !waiting->second.empty(); --left) {
    post_offer(*waiting->second.front());
    waiting->second.pop_front();
  }
  if (waiting->second.empty()) wait_for_credit_.erase(waiting);
}

/// Offers that have waited for too long.
bool place::send_without_credit() {
  const auto now = std::chrono::steady_clock::now();
  bool any = false;
  const std::lock_guard lock(guard_);
  if (lost_) return false;
  for (auto& [to, offers] : wait_for_credit_) {
    for (; !offers.empty() && offers.front()->patience <= now; offers.pop_front()) {
      offer& o = *offers.front();
      o.message = as_forced(*o.message);
      post_offer(o);
      any = true;
    }
  }
  std::erase_if(wait_for_credit_, [](const auto& at) { return at.second.empty(); });
  return any;
}

/// When something is to be done though no message comes.
std::chrono::steady_clock::time_point place::next_time() {
  auto next = std::chrono::steady_clock::now() + std::chrono::hours(1);
  if (!again_.empty()) next = again_.begin()->first;
  if (!all_.credits) return next;
  const std::lock_guard lock(guard_);
  for (const auto& [to, offers] : wait_for_credit_) next = std::min(next, offers.front()->patience);
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
  const auto wait = all_.retry > all_.retry_most / times ? all_.retry_most : all_.retry * times;
  if (++o->refusals >= all_.most_refusals) o->message = as_forced(*o->message);
  again_.emplace(std::chrono::steady_clock::now() + wait, std::move(o));
}

// ---- collectives

void place::take_part(const char* call, const collective& c) {
  if (all_.one_group)
    throw error(std::string(call) + ": all workers are one group under cws; expected separate places");
  const auto mine = std::make_shared<part>();
  mine->what = c;
  if (c.bytes != 0) {  // copied: the caller may leave early (no stack, or a lost place)
    const auto data = std::make_shared<detail::byte_buffer>(c.data, c.data + c.bytes);
    mine->what.data = data->data();
    mine->what.owner = data;
  }
  {
    const std::lock_guard lock(guard_);
    refuse_if_lost();
    new_parts_.push_back(mine);
  }
  net_.ring();
  mine->ended.wait();
  if (mine->failed) std::rethrow_exception(mine->failed);
  if (c.bytes != 0) std::memcpy(c.data, mine->what.data, c.bytes);
}

bool place::do_collectives() {
  std::vector<std::shared_ptr<part>> starting;
  {
    const std::lock_guard lock(guard_);
    starting.swap(new_parts_);
  }
  parts_.insert(parts_.end(), starting.begin(), starting.end());
  if (parts_.empty()) return false;
  try {
    for (const auto& p : starting) net_.start(p->what);
    for (const std::uint64_t ended = net_.ended_collectives(); parts_ended_ < ended; ++parts_ended_) {
      parts_.front()->ended.complete();
      parts_.pop_front();
    }
  } catch (const error&) {
    fail_parts(std::current_exception());
  }
  return !starting.empty();
}

void place::fail_parts(const std::exception_ptr& why) {
  for (const auto& p : parts_) {
    p->failed = why;
    p->ended.complete();
  }
  parts_.clear();
}

// ---- several processes

void place::obey(const message_header& h, std::optional<failure> failed, place_statistics counted) {
  const auto from = static_cast<int>(h.from);
  message_header answer{.from = static_cast<std::uint32_t>(number_)};
  if (h.kind == message_kind::ask_counts || h.kind == message_kind::reset_counts) {
    const std::lock_guard lock(guard_);
    if (lost_) return;  // this place may have no workers any more; the other one will learn of the loss
  }
  switch (h.kind) {
    case message_kind::run_ended: control_.end_run(std::move(failed)); break;
    case message_kind::job_ended: control_.end_job(); break;
    case message_kind::ask_counts:
      answer.kind = message_kind::counts;
      send(from, sealed(answer, statistics()));
      break;
    case message_kind::counts: control_.take(from, std::move(counted)); break;
    case message_kind::reset_counts:
      reset_statistics();
      answer.kind = message_kind::counts_reset;
      send(from, sealed(answer));
      break;
    case message_kind::ask_clock: send(from, sealed(place_records::answer_to(h, number_, all_.clock))); break;
    case message_kind::clock:
      if (records_) records_->answered(h);
      break;
    default: control_.take(from, {}); break;
  }
}

void place::tell_others(message_header h, const std::optional<failure>& why) {
  h.from = static_cast<std::uint32_t>(number_);
  for (int p = 0; p < all_.places; ++p) {
    if (p != number_) post(p, why ? sealed(h, *why) : sealed(h));
  }
}

void place::leave() {
  leaving_.store(true, relaxed);
  net_.ring();
  control_.await_left();
}

void place::leave_in_turn() {
  if (records_) {
    records_->begin_last();
    if (!records_->may_leave()) return;
  }
  net_.leave();
  if (net_.has_left()) control_.has_left();
}

/// Its spawner may go on, and free its arguments, once no transport has the message. Others hold it on this thread
/// only.
bool place::end_dropped_offers() {
  return std::erase_if(dropped_, [](const std::shared_ptr<offer>& o) {
           if (o->message.use_count() > 1) return false;
           o->dropped.store(true, relaxed);
           o->complete();
           return true;
         }) != 0;
}

/// All that waits for messages ends with this failure, because nothing is known about what the lost place had.
void place::lose(const lost_place& what) {
  const failure why{static_cast<std::uint32_t>(what.place), "was lost: " + what.why, false, true};
  std::vector<std::shared_ptr<finish_wait>> waits;
  std::vector<std::shared_ptr<offer>> offers;
  std::vector<std::shared_ptr<detail::remote_result>> results;
  std::vector<std::unique_ptr<activity>> arrived;  // that never run; what they wait for fails
  {
    const std::lock_guard lock(guard_);
    if (lost_) return;
    lost_ = why;
    for (auto& [number, w] : waits_) waits.push_back(std::move(w));
    for (auto& [number, o] : offers_) offers.push_back(std::move(o));
    for (auto& [number, r] : results_) results.push_back(std::move(r.first));
    arrived.swap(arrived_);
    wait_for_credit_.clear();
    for (auto& p : new_parts_) parts_.push_back(std::move(p));
    new_parts_.clear();
    waits_.clear();
    offers_.clear();
    results_.clear();
  }
  again_.clear();
  dropped_ = std::move(offers);
  send_outgoing(false);  // nobody takes an offer any more
  end_dropped_offers();
  fail_parts(exception_of(why));
  for (const auto& r : results) {
    r->failure = exception_of(why);
    r->complete();
  }
  for (const auto& w : waits) {
    w->failed = why;
    w->complete();
  }
  control_.lose(why);
}

}  // namespace kith::distributed
