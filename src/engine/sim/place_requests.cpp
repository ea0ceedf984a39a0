// Requests of tasks to other places, and their replies: progress threads serve them, without a task.
// A task that awaits a reply is suspended meanwhile; so is a coroutine, whose next part counts the reply.
#include "engine/sim/engine.hpp"

namespace kith::sim {

void engine::ask(worker& w, std::size_t request) {
  if (requests_.empty()) requests_.resize(program_.requests.size());
  if (!network_) {
    requests_[request].reply_arrived = true;
    return;
  }
  requests_[request].worker = w.number;
  spend(w, costs_.push);
  const worker& p = make_progress(w.group.place, w.clock);
  const program::request& q = program_.requests[request];
  network_->send({.what = place_message::kind::request,
                  .from = w.group.place,
                  .to = q.to,
                  .task = static_cast<std::int32_t>(request)},
                 q.bytes, p.clock);
}

/// Suspends the task until the reply arrives; its worker runs other tasks meanwhile.
void engine::await_reply(worker& w, std::size_t request) {
  if (requests_[request].reply_arrived) return;
  requests_[request].worker = w.number;
  frame& f = w.frames.back();
  f.state = frame_state::offering;
  f.asked = static_cast<std::int32_t>(request);
  f.adopted_from = w.adopted.size();
}

void engine::receive_reply(const place_message& m) {
  const auto number = static_cast<std::size_t>(m.task);
  requests_[number].reply_arrived = true;
  worker& w = workers_[requests_[number].worker];
  if (w.parked) wake(w, places_[m.to].progress.clock);
  const std::int32_t part = program_.requests[number].awaited_by;
  if (part < 0) return;
  --replies_left_[part];
  if (record_of(part).state != task_state::none) count_down_wait(part, m.to, places_[m.to].progress.clock);
}

}  // namespace kith::sim
