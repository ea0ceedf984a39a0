// One run of a recorded program on a modelled machine, under one policy.
//
// Single-threaded. The same input gives the same result, bit for bit, on every computer: events are ordered by
// (time, sequence), time is in whole picoseconds, random numbers are keyed by (seed, purpose, worker), noise by
// (seed, task). Several simulations may run at once; they share only the program and the machine.
#pragma once

#include "engine/sim/energies.hpp"
#include "engine/sim/events.hpp"
#include "engine/sim/line_memory.hpp"
#include "engine/sim/memory.hpp"
#include "engine/sim/plan.hpp"
#include "engine/sim/program.hpp"
#include "machine/model.hpp"

#include <kith/statistics.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kith::sim {

enum class fidelity : std::uint8_t {
  abstract,  // a task's time is its work, stretched by the remote share of what it needs
  block,     // data moves in chunks through caches, controllers and links: memory.hpp
  line,      // recorded addresses are replayed line by line through private caches: line_memory.hpp
};

/// The last-level caches that fidelity block models: the bits of a mask.
inline constexpr int most_block_caches = 64;
/// Whether the machine has at most most_block_caches of them.
bool has_block_memory(const machine_model&) noexcept;

/// Task queues in the machine's scheduling unit, instead of in memory (unit.hpp).
struct hardware_queues {
  bool used = false;
  std::optional<std::uint32_t> cycles;      // of an operation; else the machine's
  std::optional<std::uint32_t> prefetch;    // tasks in a core's buffer; else the machine's
  std::optional<std::uint32_t> interval{};  // cycles until the next operation begins; else when the last has ended
  std::optional<std::uint32_t> entries{};   // tasks that the queues hold, at least 1; else no bound
};

/// Which workers share a policy, and steal from each other.
enum class worker_groups : std::uint8_t {
  places,   // those of a place
  all,      // all: the paper's CWS. The program's places are ignored, and there are no messages
  workers,  // none: each worker is a place of its own, as the threads of a program by hand
};

/// How the places of a program are simulated (places.hpp). Times of the protocol are those of place_options.
struct place_settings {
  int count = 0;    // 0: the program's places are ignored
  int workers = 0;  // of each place; 0: a worker on each of its cores
  worker_groups groups = worker_groups::places;
  bool works = false;  // while a worker waits for an answer, it runs other tasks, as with place_waiting::works
  std::uint64_t fab_threshold = 32;                            // the occupancy from which on activities are refused
  picoseconds retry = 10'000'000, retry_most = 1'000'000'000;  // delta_t doubles with each refusal
  std::uint32_t most_refusals = 64;                            // then the place must take the activity
};

/// What one place has counted. Messages are those that it sent.
struct place_figures {
  std::uint64_t messages = 0, message_bytes = 0;
  std::uint64_t accepted = 0, refused = 0, forced = 0;
  std::uint64_t fab_peak = 0;
  double fab_mean = 0;  // averaged over the arrivals
};

struct run_options {
  std::string policy = "auto";
  std::shared_ptr<const sim::plan> plan;  // decides in place of the policy, if there is one
  std::uint64_t seed = 1;
  int workers = 0;  // on the first cores; 0: on all cores. Ignored if there are places
  place_settings places;
  sim::fidelity fidelity = sim::fidelity::block;
  sim::distribution distribution = sim::distribution::first_touch;
  std::uint64_t chunk_bytes = 65536;
  bool cold = false;           // caches are empty when the figures begin
  std::uint32_t throttle = 0;  // how many unfinished tasks a creator may have before it helps; 0: no bound
  model_parts parts;
  hardware_queues hardware;
  std::optional<double> access_cycles;  // of a core between two accesses, in fidelity line (cycles_between_accesses)
  bool noise = true;
  bool keep_schedule = false;  // fill result::schedule; of several members, with the roots that were added to them
  picoseconds stagger = 0;     // how much later each further member of the program starts
};

/// Where a worker's time went.
struct worker_times {
  picoseconds useful = 0;    // in tasks' code
  picoseconds overhead = 0;  // creating, queueing, finding tasks
  picoseconds stall = 0;     // part of `useful`: the wait for data beyond that for unshared memory of the own node
};

/// What fidelity line adds to the results.
struct line_figures : line_counts {
  double cycles = 0;                         // the makespan
  double replayed_per_second = 0;            // accesses of the whole run, by the simulator's own processor time
  std::optional<part_energies> energy = {};  // nothing: missing_energies() says why
};

/// When a member of the program started, and when it ended.
struct program_times {
  picoseconds started = 0, ended = 0;  // since the figures began
  picoseconds took() const noexcept { return ended - started; }
};

/// The results for what follows the last mark of the recording: the figures of a native run, and those that only a
/// simulation has. Of several members, what comes before their last marks runs first, one after the other; then all
/// start.
struct result : statistics {
  picoseconds makespan = 0;
  picoseconds serial = 0;    // the same tasks in sequence, no caches, all data local, on a core of speed 1
  picoseconds one_core = 0;  // the makespan of the run that alone_of() describes; 0: not simulated
  std::vector<worker_times> times;
  std::vector<program_times> programs;              // by member
  std::uint64_t remote_bytes = 0, local_bytes = 0;  // block: fetched from other nodes; from the own node
  std::uint64_t cache_hits = 0, cache_misses = 0;   // chunks, or accesses to lines (the caches of a core count as one)
  std::uint64_t steps = 0;                          // steps of the simulation itself
  std::uint64_t events = 0;                         // steps that took simulated time, and wakes
  picoseconds partition = 0;                        // the workers' time for partitioning
  std::vector<interconnect::link> links;
  std::uint64_t unit_operations = 0;  // on the hardware queues, whether they gave a task or not
  picoseconds unit_busy = 0;          // the unit's time for them
  std::uint64_t unit_spills = 0;      // tasks that went to memory, because the queues were full
  std::uint64_t network_bytes = 0;    // data and control, each link of a route counted
  double network_nj = 0;              // the energy of that; 0 if the machine has no table of energies
  std::optional<line_figures> lines;  // in fidelity line
  std::vector<place_figures> places;  // if there are places
  recording schedule;

  /// Derives the other figures of `statistics` from the makespan, the times and the counts.
  void sum_up();
  /// Speed-up over one core of the same machine, with its caches. REQUIRES: one_core is set.
  double speedup() const noexcept;
  /// Speed-up over `serial`; for fidelity abstract, which has no caches.
  double over_serial() const noexcept;
  double overhead_percent() const noexcept;
  double partition_percent() const noexcept;
  /// The mean stall of a task.
  double stall_seconds_per_task() const noexcept;
};

/// Cycles of a core between two accesses of the task, in fidelity line: those of the options; else the task's
/// instructions for each access times the machine's cycles of an instruction; else, where one of these is not known,
/// the machine's.
double cycles_between_accesses(const program&, const machine_model&, const run_options&, std::size_t task) noexcept;

/// The options of the run that speed-ups compare with: `auto` on the machine's first core, otherwise the same.
run_options alone_of(run_options);

/// Throws kith::error for a wrong setting, and if tasks are left that no worker can run; the error names some
/// of them and what each waits for.
result simulate(const program&, const machine_model&, const run_options&);

}  // namespace kith::sim
