// What the processes of a job tell each other: ends of runs, counts, clocks; and how a place leaves the job.
#include "places/place.hpp"

#include <utility>

namespace kith::distributed {

void place::handle_control(const message_header& h, std::optional<failure> failed, place_statistics counted) {
  const auto from = static_cast<int>(h.from);
  switch (h.kind) {
    case message_kind::run_ended: control_.end_run(std::move(failed)); break;
    case message_kind::job_ended: control_.end_job(); break;
    case message_kind::ask_counts:
    case message_kind::reset_counts: questions_.push_back(h); break;
    case message_kind::counts: control_.take(from, std::move(counted)); break;
    case message_kind::ask_clock: send(from, sealed(place_records::answer_to(h, number_, job_.clock))); break;
    case message_kind::clock:
      if (records_) records_->answered(h);
      break;
    default: control_.take(from, {}); break;
  }
}

/// Whether something is open here that a lost place has spawned, directly or through others. No finish of a survivor
/// waits for it. REQUIRES: nothing else is open.
bool place::outlives_loss() const {
  const std::lock_guard lock(guard_);
  return job_.survives_losses && !lost_ && finishes_.size() != 0;
}

/// Does nothing while tasks run that outlive a loss: counting waits for their end, and they may wait for messages.
bool place::answer_questions() {
  if (questions_.empty() || outlives_loss()) return false;
  for (const message_header& q : std::exchange(questions_, {})) {
    if (lost_) return true;  // the workers may have ended; the asking place will learn of the loss
    message_header answer{.kind = message_kind::counts, .from = static_cast<std::uint32_t>(number_)};
    if (q.kind == message_kind::ask_counts) {
      send(static_cast<int>(q.from), sealed(answer, statistics()));
    } else {
      reset_statistics();
      answer.kind = message_kind::counts_reset;
      send(static_cast<int>(q.from), sealed(answer));
    }
  }
  return true;
}

void place::tell_others(message_header h, const std::optional<failure>& why) {
  h.from = static_cast<std::uint32_t>(number_);
  for (int p = 0; p < job_.places; ++p) {
    if (p != number_) post(p, why ? sealed(h, *why) : sealed(h));
  }
}

void place::begin_leaving() {
  leaving_.store(true, relaxed);
  net_.ring();
}

void place::try_leave() {
  if (has_left_ || outlives_loss()) return;
  if (records_) {
    records_->begin_last();
    if (!records_->may_leave()) return;
  }
  net_.leave();
  if (!net_.has_left()) return;
  has_left_ = true;
  control_.has_left();
}

}  // namespace kith::distributed
