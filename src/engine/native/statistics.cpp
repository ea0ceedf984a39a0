// What has happened since the last reset: sums over the workers' events.
#include "engine/native/engine.hpp"

#include <algorithm>

namespace kith::native {

kith::statistics engine::statistics() const {
  kith::statistics all;
  const double second = seconds_per_tick();
  {
    std::lock_guard lock(running_);
    all.seconds = static_cast<double>(run_ticks_) * second;
  }
  double largest = 0, busy = 0, first_steals = 0;
  int stole = 0;
  for (std::size_t w = 0; w < workers.size(); ++w) {
    auto sum = [&](event e) { return workers[w].sums[e] - baseline_[w][e]; };
    worker_statistics one;
    one.tasks = sum(event::task_executed);
    one.created = sum(event::task_created);
    one.steal_attempts = sum(event::steal_attempt);
    one.steals = sum(event::steal);
    one.colored_attempts = sum(event::colored_attempt);
    one.colored_steals = sum(event::colored_steal);
    one.parks = sum(event::park);
    one.wakes = sum(event::wake);
    one.busy_seconds = static_cast<double>(sum(event::busy)) * second;
    one.idle_seconds = std::max(0.0, all.seconds - one.busy_seconds);
    if (const std::uint64_t runs = sum(event::first_steals); runs != 0) {
      one.first_steal_seconds = static_cast<double>(sum(event::first_steal)) * second / static_cast<double>(runs);
      first_steals += one.first_steal_seconds;
      ++stole;
    }
    all.throttled += sum(event::throttled);
    all.throttle_exceeded += sum(event::throttle_exceeded);
    all.cancelled += sum(event::task_cancelled);
    all.windows += sum(event::window_partitioned);
    all.partitioned_tasks += sum(event::task_partitioned);
    all.partition_seconds += static_cast<double>(sum(event::job)) * second;
    all.local_accesses += sum(event::local_access);
    all.remote_accesses += sum(event::remote_access);
    all.migrated_bytes += sum(event::migrated);
    all.homes_asked += sum(event::home_asked);
    all.homes_elsewhere += sum(event::home_elsewhere);
    all.total.tasks += one.tasks;
    all.total.created += one.created;
    all.total.steal_attempts += one.steal_attempts;
    all.total.steals += one.steals;
    all.total.colored_attempts += one.colored_attempts;
    all.total.colored_steals += one.colored_steals;
    all.total.parks += one.parks;
    all.total.wakes += one.wakes;
    all.total.busy_seconds += one.busy_seconds;
    all.total.idle_seconds += one.idle_seconds;
    largest = std::max(largest, one.busy_seconds);
    busy += one.busy_seconds;
    all.workers.push_back(one);
  }
  if (stole != 0) all.total.first_steal_seconds = first_steals / stole;
  if (largest > 0) all.load_balance_percent = 100 * busy / (largest * static_cast<double>(workers.size()));
  const std::uint64_t accesses = all.local_accesses + all.remote_accesses;
  if (accesses != 0) {
    all.remote_access_percent = 100 * static_cast<double>(all.remote_accesses) / static_cast<double>(accesses);
  }
  all.pretended = hardware.pretended;
  return all;
}

void engine::reset_statistics() {
  for (std::size_t w = 0; w < workers.size(); ++w) baseline_[w] = workers[w].sums.snapshot();
  std::lock_guard lock(running_);
  run_ticks_ = 0;
}

}  // namespace kith::native
