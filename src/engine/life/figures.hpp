// The figures of a run, from the events that its workers have counted. Used by both engines.
#pragma once

#include "events/event.hpp"

#include <kith/statistics.hpp>

#include <algorithm>

namespace kith::life {

/// The figures of one worker; sum(event) is what it has counted. `tick`: the unit of the times among them, in seconds.
/// The engine adds how long the worker was busy and idle.
template <class Sum>
worker_statistics figures_of_worker(const Sum& sum, double tick) {
  worker_statistics w;
  w.tasks = sum(event::task_executed);
  w.created = sum(event::task_created);
  // The worker may count meanwhile: a figure that is part of another one is read before it.
  w.colored_steals = sum(event::colored_steal);
  w.colored_attempts = sum(event::colored_attempt);
  w.steals = sum(event::steal);
  w.steal_attempts = sum(event::steal_attempt);
  w.parks = sum(event::park);
  w.wakes = sum(event::wake);
  w.stalled = sum(event::stalled);
  w.halves = sum(event::half_taken);
  w.steal_seconds = static_cast<double>(sum(event::steal_time)) * tick;
  w.arrival_attempts = sum(event::arrival_attempt);
  w.arrival_seconds = static_cast<double>(sum(event::arrival_time)) * tick;
  w.deque_samples = sum(event::deque_sampled);
  if (w.deque_samples != 0)
    w.deque_mean = static_cast<double>(sum(event::deque_length)) / static_cast<double>(w.deque_samples);
  if (const std::uint64_t runs = sum(event::first_steals); runs != 0)
    w.first_steal_seconds = static_cast<double>(sum(event::first_steal)) * tick / static_cast<double>(runs);
  return w;
}

/// Adds the figures that are not kept for each worker.
template <class Sum>
void add_figures(statistics& all, const Sum& sum) {
  all.throttled += sum(event::throttled);
  all.throttle_exceeded += sum(event::throttle_exceeded);
  all.cancelled += sum(event::task_cancelled);
  all.windows += sum(event::window_partitioned);
  all.partitioned_tasks += sum(event::task_partitioned);
  all.local_accesses += sum(event::local_access);
  all.remote_accesses += sum(event::remote_access);
  all.migrated_bytes += sum(event::migrated);
  all.homes_asked += sum(event::home_asked);
  all.homes_elsewhere += sum(event::home_elsewhere);
}

/// Adds up the totals, after all workers have been added.
inline void sum_up(statistics& all) {
  double largest = 0, first_steals = 0;
  int stole = 0;
  worker_statistics& total = all.total;
  for (const worker_statistics& one : all.workers) {
    total.tasks += one.tasks;
    total.created += one.created;
    total.steal_attempts += one.steal_attempts;
    total.steals += one.steals;
    total.colored_attempts += one.colored_attempts;
    total.colored_steals += one.colored_steals;
    total.parks += one.parks;
    total.wakes += one.wakes;
    total.busy_seconds += one.busy_seconds;
    total.idle_seconds += one.idle_seconds;
    total.stalled += one.stalled;
    total.halves += one.halves;
    total.steal_seconds += one.steal_seconds;
    total.arrival_attempts += one.arrival_attempts;
    total.arrival_seconds += one.arrival_seconds;
    total.deque_samples += one.deque_samples;
    total.deque_mean += one.deque_mean * static_cast<double>(one.deque_samples);
    total.deque_peak = std::max(total.deque_peak, one.deque_peak);
    largest = std::max(largest, one.busy_seconds);
    if (one.first_steal_seconds < 0) continue;
    first_steals += one.first_steal_seconds;
    ++stole;
  }
  if (total.deque_samples != 0) total.deque_mean /= static_cast<double>(total.deque_samples);
  if (stole != 0) total.first_steal_seconds = first_steals / stole;
  if (largest > 0)
    all.load_balance_percent = 100 * total.busy_seconds / (largest * static_cast<double>(all.workers.size()));
  const std::uint64_t accesses = all.local_accesses + all.remote_accesses;
  if (accesses != 0)
    all.remote_access_percent = 100 * static_cast<double>(all.remote_accesses) / static_cast<double>(accesses);
}

}  // namespace kith::life
