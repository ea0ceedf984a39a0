// What the processes of a job tell each other: ends of runs, counts, clocks; and how a place leaves the job.
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

}  // namespace kith::distributed
