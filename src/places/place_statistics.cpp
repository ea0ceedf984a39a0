// What a place has counted.
#include "places/place.hpp"

namespace kith::distributed {

place_statistics place::statistics() const {
  place_statistics s;
  s.messages = counts_.messages.load(relaxed);
  s.message_bytes = counts_.bytes.load(relaxed);
  s.spawns_sent = counts_.offers.load(relaxed);
  s.spawns_accepted = counts_.accepted.load(relaxed);
  s.spawns_refused = counts_.refused.load(relaxed);
  s.spawns_forced = counts_.forced.load(relaxed);
  s.spawns_waited = counts_.waited.load(relaxed);
  s.credits_sent = counts_.credits.load(relaxed);
  s.dones_sent = counts_.dones.load(relaxed);
  s.results_sent = counts_.results.load(relaxed);
  s.activities = activities_.load(relaxed);
  s.fab_peak = counts_.fab_peak.load(relaxed);
  if (s.spawns_accepted != 0)
    s.fab_mean = static_cast<double>(counts_.fab_sum.load(relaxed)) / static_cast<double>(s.spawns_accepted);
  tasks_->wait();  // a task that has told its finish of its end may still be leaving, and its time is counted last
  s.tasks = tasks_->statistics();
  return s;
}

void place::reset_statistics() {
  for (atomic<std::uint64_t>* n : {&counts_.messages, &counts_.bytes, &counts_.offers, &counts_.accepted,
                                   &counts_.refused, &counts_.forced, &counts_.credits, &counts_.waited, &counts_.dones,
                                   &counts_.results, &counts_.fab_sum, &counts_.fab_peak, &activities_})
    n->store(0, relaxed);
  tasks_->wait();
  tasks_->reset_statistics();
  if (number_ == 0) tasks_->mark("statistics are reset");
}

}  // namespace kith::distributed
