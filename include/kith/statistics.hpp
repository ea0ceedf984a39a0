// The figures that a runtime counts. Every figure is a sum over the workers' events.
#pragma once

#include <cstdint>
#include <vector>

namespace kith {

/// What one worker has counted since the runtime was made, or since the last reset.
struct worker_statistics {
  std::uint64_t tasks = 0;             // executed
  std::uint64_t created = 0;           // tasks that it created
  std::uint64_t steal_attempts = 0;    // looks into the queues of other workers, those that found nothing included
  std::uint64_t steals = 0;            // tasks stolen; a whole group (nabbit, nabbitc) counts once
  std::uint64_t colored_attempts = 0;  // attempts that take only the thief's color (nabbitc)
  std::uint64_t colored_steals = 0;    // colored attempts that found something
  std::uint64_t parks = 0;             // how often it went to sleep because it found no work
  std::uint64_t wakes = 0;             // wakes sent to other workers
  double busy_seconds = 0;             // in tasks, including scheduling between them
  double idle_seconds = 0;             // looking for work in vain, or asleep, during a run
  /// From the start of a run to its first task, if that was stolen: the mean over such runs; -1: none.
  double first_steal_seconds = -1;
  std::uint64_t stalled = 0;  // waits of tasks whose target had not ended
  /// Halves of joins that were taken from another worker or stack, and helps in runs of graphs.
  std::uint64_t halves = 0;
  // Counted under the policy `ads`:
  double steal_seconds = 0;            // in attempts to steal
  std::uint64_t arrival_attempts = 0;  // looks into the buffer of tasks from outside
  double arrival_seconds = 0;          // in these looks
  std::uint64_t deque_samples = 0;     // how often the length of the worker's own deque was taken: after each push
  double deque_mean = 0;               // tasks in it, averaged over these
  std::uint64_t deque_peak = 0;        // the most tasks in it
};

/// What a runtime has counted since it was made, or since the last reset (runtime::statistics()).
struct statistics {
  std::vector<worker_statistics> workers;
  /// Sums; first_steal_seconds: the mean over workers that stole, -1 if none; deque_mean: over all samples;
  /// deque_peak: the largest.
  worker_statistics total;
  double seconds = 0;           // from the start of the first run to the end of the last
  std::uint64_t throttled = 0;  // how often a creator reached the throttle
  /// How often a creator at the throttle continued because it found nothing to run.
  std::uint64_t throttle_exceeded = 0;
  std::uint64_t cancelled = 0;  // tasks skipped
  /// 100 * busy time summed / (largest busy time * workers); 100 if nothing ran.
  double load_balance_percent = 100;
  /// Share of accesses to data on another node. Each task counts once for itself (its color, or the home of its
  /// largest access) and once for each access that reads. 0 on a machine with one node.
  double remote_access_percent = 0;
  std::uint64_t local_accesses = 0;   // on the task's own node
  std::uint64_t remote_accesses = 0;  // on another node
  std::uint64_t migrated_bytes = 0;   // of regions whose pages were moved to a node that uses them
  /// Of regions whose home first touch decided, a sample: how many the system was asked about, and how many of these
  /// were on another node than assumed (filled before the run, huge pages). They then get their true home. While most
  /// of those asked about last were elsewhere, all are asked about.
  std::uint64_t homes_asked = 0;
  std::uint64_t homes_elsewhere = 0;
  std::uint64_t windows = 0;            // windows of tasks that were partitioned (rip-dep, rip-mw)
  std::uint64_t partitioned_tasks = 0;  // tasks that ran on their part's node
  double partition_seconds = 0;         // workers' time in partitioning, summed; part of the busy time
  bool pretended = false;               // counted on a synthetic machine: homes and places are pretended
};

}  // namespace kith
