// Tasks that are created for another place: how they are offered to it, and its answers.
// A place accepts while there is room in its fresh activity buffer; what it refuses is offered again later.
#include "engine/sim/engine.hpp"

#include <algorithm>

namespace kith::sim {

/// Makes a task for another place, and offers it. The worker continues when it is accepted.
void engine::offer(worker& w, std::int32_t t) {
  make_policy_task(w, t);
  place_state& here = places_[w.group.place];
  link(t);
  ++record_of(t).waits_for;  // for its acceptance
  if (options_.places.works) {
    frame& f = w.frames.back();
    f.state = frame_state::offering;
    f.offered = t;
    f.asked = -1;
    f.adopted_from = w.adopted.size();
  } else {
    w.awaits_acceptance = true;
  }
  spend(w, costs_.push);
  here.progress.clock = std::max(here.progress.clock, w.clock) + message_cost_;
  network_->send({.from = w.group.place, .to = place_of(t), .task = t, .worker = w.number}, argument_bytes(t),
                 here.progress.clock);
}

/// Called when an offer has arrived: the place takes the task while there is room in its buffer.
void engine::receive_offer(const place_message& m) {
  place_state& here = places_[m.to];
  place_figures& counts = network_->counts[m.to];
  place_message back{
      .what = place_message::kind::accepted, .from = m.to, .to = m.from, .task = m.task, .worker = m.worker};
  const bool full = here.fab >= options_.places.fab_threshold;
  if (full && m.refusals < options_.places.most_refusals) {
    ++counts.refused;
    back.what = place_message::kind::refused;
    back.refusals = m.refusals + 1;
    network_->send(back, 0, here.progress.clock);
    return;
  }
  if (full) ++counts.forced;
  ++counts.accepted;
  here.fab_sum += ++here.fab;
  counts.fab_peak = std::max(counts.fab_peak, here.fab);
  record_of(m.task).arrived = true;
  network_->send(back, 0, here.progress.clock);
  count_down(m.task, here.progress);
}

void engine::receive_answer(const place_message& m) {
  const picoseconds now = places_[m.to].progress.clock;
  if (m.what == place_message::kind::refused) {
    const std::uint32_t times = std::min(m.refusals - 1, std::uint32_t{20});
    const picoseconds pause = std::min(options_.places.retry << times, options_.places.retry_most);
    network_->send({.from = m.to, .to = m.from, .task = m.task, .worker = m.worker, .refusals = m.refusals},
                   argument_bytes(m.task), now + pause);
    return;
  }
  record_of(m.task).accepted = true;
  if (record_of(m.task).flow) return;  // no worker waits for the acceptance
  worker& w = workers_[m.worker];
  if (w.parked) wake(w, now);
  if (!w.awaits_acceptance) return;
  w.awaits_acceptance = false;
  w.overhead += now - w.clock;
  w.clock = now;
  events_.set(w.number, now);
}

}  // namespace kith::sim
