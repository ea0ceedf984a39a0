// What a place has counted.
#include "places/place.hpp"

namespace kith::distributed {

place_statistics place::statistics() const {
  place_statistics s;
  const auto add = [&s](const counts::message_counts& kind, std::uint64_t& messages, std::uint64_t& bytes) {
    messages = kind.messages.load(relaxed);
    bytes = kind.bytes.load(relaxed);
    s.messages += messages;
    s.message_bytes += bytes;
  };
  add(counts_.spawns, s.spawns_sent, s.spawn_bytes);
  add(counts_.answers, s.answers_sent, s.answer_bytes);
  add(counts_.results, s.results_sent, s.result_bytes);
  add(counts_.credits, s.credits_sent, s.credit_bytes);
  add(counts_.dones, s.dones_sent, s.done_bytes);
  s.largest_spawn = counts_.largest_spawn.load(relaxed);
  {
    const std::lock_guard lock(guard_);
    s.most_edges = finishes_.most_edges();
  }
  s.spawns_accepted = counts_.accepted.load(relaxed);
  s.spawns_refused = counts_.refused.load(relaxed);
  s.spawns_forced = counts_.forced.load(relaxed);
  s.spawns_waited = counts_.waited.load(relaxed);
  s.activities = activities_.load(relaxed);
  s.fab_peak = counts_.fab_peak.load(relaxed);
  if (s.spawns_accepted != 0)
    s.fab_mean = static_cast<double>(counts_.fab_sum.load(relaxed)) / static_cast<double>(s.spawns_accepted);
  tasks_->wait();  // a task that has reported its end to its finish may still be leaving; its time is counted last
  s.tasks = tasks_->statistics();
  return s;
}

void place::reset_statistics() {
  for (counts::message_counts* kind :
       {&counts_.spawns, &counts_.answers, &counts_.results, &counts_.credits, &counts_.dones}) {
    kind->messages.store(0, relaxed);
    kind->bytes.store(0, relaxed);
  }
  for (atomic<std::uint64_t>* n : {&counts_.largest_spawn, &counts_.accepted, &counts_.refused, &counts_.forced,
                                   &counts_.waited, &counts_.fab_sum, &counts_.fab_peak, &activities_})
    n->store(0, relaxed);
  {
    const std::lock_guard lock(guard_);
    finishes_.reset_most_edges();
  }
  tasks_->wait();
  tasks_->reset_statistics();
  if (number_ == 0) tasks_->mark("statistics are reset");
}

}  // namespace kith::distributed
