// One run of a recorded program on a modelled machine, under one policy.
//
// A single thread; the same input gives the same result, bit for bit, anywhere: events in the order of (time, sequence),
// time in whole picoseconds, random numbers keyed by (seed, purpose, worker), noise by (seed, task). Several runs may go
// on at once: they share nothing but the program and the machine.
#pragma once

#include "engine/sim/events.hpp"
#include "engine/sim/memory.hpp"
#include "engine/sim/program.hpp"
#include "machine/model.hpp"

#include <kith/statistics.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::sim {

enum class fidelity : std::uint8_t {
  abstract,  // a task's time is its work, stretched by the share of what it needs that is remote
  block,     // its data is moved in chunks through caches, controllers and links: memory.hpp
};

struct settings {
  std::string policy = "auto";
  std::uint64_t seed = 1;
  int workers = 0;  // on the first cores; 0: on all
  fidelity how = fidelity::block;
  distribution data = distribution::first_touch;
  std::uint64_t chunk_bytes = 65536;
  bool cold = false;           // caches are empty when the figures begin
  std::uint32_t throttle = 0;  // unfinished tasks of one creator before it helps; 0: no bound
  ablations with;
  bool noise = true;
  bool keep_schedule = false;  // fill result::schedule
};

/// Where a worker's time went.
struct worker_times {
  picoseconds useful = 0;    // in tasks' code
  picoseconds overhead = 0;  // creating, queueing, finding tasks
  picoseconds stall = 0;     // of the useful time: waited for data longer than if it were in the own memory, unshared
};

/// What a native run counts, and what only a simulated one can tell. Of what follows the last mark of the recording.
struct result : statistics {
  picoseconds makespan = 0;
  picoseconds serial = 0;    // the same tasks one after the other, no cache, all data local, on a core of speed 1
  picoseconds one_core = 0;  // makespan of the same program and seed as alone_of() has it; 0: it was not simulated
  std::vector<worker_times> times;
  std::uint64_t remote_bytes = 0, local_bytes = 0;  // block: fetched from elsewhere, from the own node
  std::uint64_t cache_hits = 0, cache_misses = 0;   // chunks
  std::uint64_t steps = 0;                          // of the simulation itself
  std::uint64_t events = 0;                         // ... that took time, and wakes: what a worker had to wait for
  picoseconds partition = 0;                        // that workers spent on partitioning
  std::vector<interconnect::link> links;
  recording schedule;

  /// Fills in what follows from the makespan, the times and what was counted.
  void sum_up();
  /// Over one core of the same machine, which finds in its caches what it can. REQUIRES: one_core.
  double speedup() const noexcept;
  /// Over `serial`: for fidelity abstract, where there are no caches.
  double over_serial() const noexcept;
  double overhead_percent() const noexcept;
  double partition_percent() const noexcept;
  /// Mean over the tasks.
  double stall_seconds_per_task() const noexcept;
};

/// The run that speed-ups are over: `auto` on the machine's first core, all else alike.
settings alone_of(settings);

/// Throws kith::error for a wrong setting, and when tasks are left that nobody can run: it names some, and what each
/// waits for.
result simulate(const program&, const machine_model&, const settings&);

}  // namespace kith::sim
