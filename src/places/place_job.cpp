// What the processes of a job tell each other: ends of runs, counts, clocks; how a place leaves the job, and what
// happens when one is lost.
#include "places/place.hpp"

namespace kith::distributed {

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
  std::vector<std::unique_ptr<activity_record>> arrived;  // that never run; what they wait for fails
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
  end_parts(why, nullptr);
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
