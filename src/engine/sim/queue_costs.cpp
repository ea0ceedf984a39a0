// What pushes, pops and steals cost.
#include "engine/sim/engine.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kith::sim {

void worker::charge(event e, worker_id owner) {
  if (e == event::push || e == event::pop || e == event::steal) engine.charge(*this, e, owner);
}

picoseconds engine::far_cost(picoseconds near, int distance) const noexcept {
  return options_.parts.latency ? near * static_cast<picoseconds>(distance) / 10 : near;
}

/// The mean distance to a queue without an owner. In fidelity line, where lines have home caches, its memory is spread
/// over all of them.
int engine::distance_of_shared() const {
  if (!machine_.line.homes || options_.fidelity != fidelity::line) return 10;
  std::int64_t sum = 0;
  const std::vector<node_id>& nodes = team_.inhabited();
  for (const node_id a : nodes) {
    for (const node_id b : nodes) sum += team_.distance(a, b);
  }
  return static_cast<int>(sum / static_cast<std::int64_t>(nodes.size() * nodes.size()));
}

/// search() has paid for the search, so a pop or a failed attempt costs nothing here, except the time until a shared
/// queue is free.
void engine::charge(worker& w, event e, worker_id owner) {
  if (e == event::steal && notes_)
    notes_->stole(w.number, static_cast<std::uint32_t>(owner.value) + w.group.first, w.clock);
  if (unit_) {
    if (e == event::push && !unit_->reads) push_to_unit(w);
    return;
  }
  if (!options_.parts.scheduling) return;
  if (owner) {
    if (e == event::pop) return;
    const int distance = team_.distance(w.node, w.group.workers.node_of(owner));
    spend(w, far_cost(e == event::push ? costs_.push : costs_.steal, distance));
    return;
  }
  picoseconds took = e == event::push    ? shared_costs_.push
                     : e == event::steal ? shared_costs_.steal
                                         : shared_costs_.pop - costs_.pop;
  if (options_.parts.contention) {  // a shared queue serves one worker at a time
    if (last_queue_.first != w.here()) last_queue_ = {w.here(), &queue_free_at_[w.here()]};
    picoseconds& free = *last_queue_.second;
    const picoseconds waited = free > w.clock ? free - w.clock : 0;
    free = w.clock + waited + (e == event::pop ? shared_costs_.pop : shared_costs_.push) / 2;
    took += waited;
  }
  spend(w, took);
}

}  // namespace kith::sim
