// A recording in memory: what one run, native or simulated, did. A plain value; large tables are kept by column.
//
// Times are nanoseconds since the recording began. Tasks are in the order of their creation. Each task comes
// before those that it created; a fence comes right after the task that asked for it. A reference to a task is
// its index here; -1 is none. docs/recording-format.md explains each field.
#pragma once

#include "base/counters.hpp"
#include "base/printable.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kith {

inline constexpr int recording_version = 4;

struct recorded_task {
  enum flag : std::uint8_t {
    root = 1,        // what runtime::run was given
    keyed = 2,       // a node of a keyed graph: runs twice
    generated = 4,   // a node named by its creator's computation, or of a static graph
    discovered = 8,  // a node named by its creator's exploration
    skipped = 16,    // cancelled before it started
    listed = 32,     // may be taken past its queue
    fence = 64,      // no code: orders a group of accesses
    outside = 128    // created by a thread that is no worker
  };
  // Some tasks from outside are made by a place itself and have creators:
  /// It continues the coroutine that its creator was a part of, when what the coroutine waited for has ended.
  bool continues() const noexcept { return has(outside) && creator >= 0 && !has(generated); }
  /// It is a task of a kith::data_flow, whose scope it is in; its creator has spawned it.
  bool of_data_flow() const noexcept { return has(outside) && has(generated); }
  std::int32_t creator = -1;
  std::int32_t worker = -1;  // the worker that ran it
  std::uint32_t scope = 0;   // tasks that are waited for together
  std::int32_t color = -1;
  std::uint16_t type = 0;
  std::int16_t node = -1;  // by the hint of the program
  std::uint8_t flags = 0;
  std::uint8_t priority = 0;
  std::int16_t explorer = -1;      // worker that ran the first phase of a keyed node
  std::uint64_t created = 0;       // when its creation began
  std::uint64_t create_ns = 0;     // how long its creation took, without tasks that ran meanwhile
  std::uint64_t create_until = 0;  // when its creation ended
  std::uint64_t ready = 0;         // when its last predecessor had ended
  std::uint64_t started = 0, ended = 0;
  std::uint64_t completed = 0;  // it and all its children had ended; 0: not known to have
  std::uint64_t work_ns = 0;    // started to ended, less creating, waiting, and what ran on top of it
  std::uint64_t explore_started = 0, explore_ended = 0;
  std::uint64_t key = 0;  // of a node: its hash

  bool has(flag f) const noexcept { return (flags & f) != 0; }
};

struct recorded_region {
  std::uint64_t address = 0, bytes = 0;
  std::int16_t home = -1;
};
/// The nodes of a region's bytes from the time `at` on. The rows of one region and one time belong together. They are
/// written when a task finds the region's home changed; `at` is when that task started.
struct recorded_home {
  std::uint32_t region = 0;
  std::int16_t node = -1;
  std::uint64_t bytes = 0;
  std::uint64_t at = 0;
};
struct recorded_access {
  std::uint32_t region = 0;
  std::uint8_t mode = 0;        // kith::mode
  std::uint64_t bytes = 0;      // declared
  std::uint64_t touched = 0;    // used, which is what the access costs; equal to `bytes` where it was not traced
  std::int32_t passed_by = -1;  // the task that delivered the reference (pending_task::deliver); -1: none did
};
struct recorded_dependence {
  std::int32_t before = -1;
  std::uint64_t bytes = 0;  // written by `before` and read by the task
};
struct recorded_wait {
  static constexpr std::uint32_t for_future = 0xffffffff;
  std::int32_t task = -1;
  std::uint32_t scope = 0;  // or for_future
  std::int16_t worker = -1;
  std::uint64_t begun = 0, ended = 0;
};
struct recorded_steal {
  std::int16_t worker = -1, victim = -1;
  std::uint64_t at = 0;
};
struct recorded_idle {
  std::int16_t worker = -1;
  std::uint64_t begun = 0, ended = 0;
};
struct recorded_job {  // a window of tasks that was partitioned
  std::int16_t worker = -1;
  std::uint64_t tasks = 0, dependences = 0;
  std::uint64_t begun = 0, ended = 0;
};
/// A task that was run again, with its data out of the caches (cold), in the last level (warm), and in the
/// nearest cache (hot).
struct recorded_sample {
  std::int32_t task = -1;
  std::uint64_t cold_ns = 0, warm_ns = 0, hot_ns = 0;
};
/// Samples of one type and size, summed up.
struct recorded_calibration {
  std::uint16_t type = 0;
  std::uint8_t size = 0;  // bytes touched by one sample: at least 2^size, less than 2^(size + 1)
  std::uint64_t samples = 0, bytes = 0;
  std::uint64_t plain_ns = 0, cold_ns = 0, warm_ns = 0, hot_ns = 0;  // plain: as recorded
};
/// What the counters of its worker have counted while a task's own code ran.
struct recorded_counts {
  static constexpr std::int64_t not_counted = -1;
  static constexpr std::uint64_t most = (std::uint64_t{1} << 62) - 1;
  std::int32_t task = -1;
  std::array<std::int64_t, counters> values = [] {
    std::array<std::int64_t, counters> none{};
    none.fill(not_counted);
    return none;
  }();
  // Nanoseconds for which the counters were enabled, and in which they counted. Where these differ, the values of the
  // processor's counters are estimates.
  std::uint64_t enabled = 0, running = 0;

  std::int64_t& operator[](counter c) noexcept { return values[static_cast<std::size_t>(c)]; }
  std::int64_t operator[](counter c) const noexcept { return values[static_cast<std::size_t>(c)]; }
};
struct recorded_mark {
  std::string name;
  std::uint64_t at = 0;
};
struct recorded_allocation {
  std::uint64_t address = 0, bytes = 0, at = 0;
  std::uint64_t released = 0;     // when it was released; 0: not before the recording ended
  std::uint8_t distribution = 0;  // kith::distribution::kind as asked for, with the runtime's option filled in
  std::int16_t node = -1;         // the node that has all of it; -1: spread, or not decided by the allocation
  bool huge = false;              // in huge pages
};

/// A place in the program from which memory was touched.
struct recorded_site {
  enum what : std::uint8_t { reads, writes, both };
  std::uint8_t mode = reads;
  std::uint64_t bytes = 0;  // bytes of each touch; 0: they vary
  bool own = false;         // in Kith's headers, or in Kith
  std::string at, caller;   // in the program or a library, and where its function was called: MODULE+0xOFFSET
  std::string file, function;
  std::uint32_t line = 0;  // 0: not known
};
/// Memory that tasks touched: an allocation, a variable. The first two blocks are always a task's own stack and memory
/// of no known block.
struct recorded_block {
  enum what : std::uint8_t {
    own_stack,
    unknown,
    heap,
    allocated,
    variable,
    global,
    constant,
    thread_local_data,
    stack,
    mapped
  };
  std::uint8_t kind = unknown;
  std::uint64_t address = 0, bytes = 0;
  std::int32_t task = -1;     // the task that made it
  std::uint64_t ordinal = 0;  // tells it apart from others that were made at that place; the same in every run
  bool own = false;           // Kith made it for itself
  std::string name;           // of a variable or a module
  std::string at, caller;     // where it was made, and where its function was called: MODULE+0xOFFSET
  std::string file;           // the source of that place
  std::uint32_t line = 0;     // 0: not known
};
/// A piece of what a task touched, in the form of address_stream.hpp; the pieces of one task belong together.
struct recorded_stream {
  std::uint64_t touches = 0;
  std::vector<std::uint8_t> bytes;
};

/// A place of the program: a group of workers with a clock. Its own times were converted to those of the recording by
/// own + offset_ns + own * drift_ppb / 10^9.
struct recorded_place {
  std::uint32_t first_worker = 0, workers = 0;  // 0 workers: it has no part
  std::int16_t first_node = 0, nodes = 0;       // of the machine that it was on
  std::string host;
  std::int64_t offset_ns = 0, drift_ppb = 0;
  std::uint64_t error_ns = 0;  // bound on the error of its times, relative to those of place 0
};
/// A message from one place to another.
struct recorded_message {
  static constexpr std::uint64_t header_bytes = 64;
  enum what : std::uint8_t { spawn = 1, accepted, refused, result, credit, done };
  std::uint8_t kind = spawn;
  std::uint16_t source = 0, destination = 0;
  std::uint64_t bytes = 0;               // header included
  std::uint64_t sent = 0, received = 0;  // 0: not known
  std::int32_t spawner = -1;             // the task at the source that sent it
  std::int32_t task = -1;                // the task at the destination that it made, or that waits for the result

  /// The bytes of the arguments or the result in a message of `bytes` bytes.
  static std::uint64_t payload_of(std::uint64_t bytes) noexcept { return bytes - std::min(bytes, header_bytes); }
};

struct recording {
  std::string file;                         // the file that it was read from, for messages; empty: none
  std::map<std::string, std::string> meta;  // program, policy, seed, machine, ...
  std::vector<std::int16_t> worker_node;    // of each worker
  std::vector<std::string> types;           // names, by type
  std::vector<recorded_region> regions;
  std::vector<recorded_home> homes;  // sorted by region, then by time, then by node
  std::vector<recorded_task> tasks;
  // The accesses of task t are accesses[first_access[t]] to accesses[first_access[t + 1]], exclusive, in the
  // order in which they were declared. Dependences are stored the same way.
  std::vector<std::uint64_t> first_access, first_dependence;
  std::vector<recorded_access> accesses;
  std::vector<recorded_dependence> dependences;
  std::vector<recorded_wait> waits;
  std::vector<recorded_steal> steals;
  std::vector<recorded_idle> idles;
  std::vector<recorded_job> jobs;
  std::vector<recorded_sample> samples;            // of the run itself; not kept in files
  std::vector<recorded_calibration> calibrations;  // by type and size; none: it was not calibrated
  std::vector<recorded_counts> counts;             // by task; none: nothing was counted
  std::vector<recorded_mark> marks;
  std::vector<recorded_allocation> allocations;  // in the order of `at`
  std::vector<recorded_place> places;            // by number; none: the program had none
  std::vector<recorded_message> messages;        // in the order in which they were sent
  // The touches of tasks; all empty if they were not recorded. first_stream is like first_access.
  std::vector<recorded_site> sites;
  std::vector<recorded_block> blocks;
  std::vector<std::uint64_t> first_stream;
  std::vector<recorded_stream> streams;

  const recorded_task& task(std::int32_t number) const noexcept { return tasks[static_cast<std::size_t>(number)]; }
  /// The first part of the coroutine of which the task is a part; for other tasks the task.
  std::int32_t first_part_of(std::int32_t number) const noexcept {
    while (task(number).continues()) number = task(number).creator;
    return number;
  }
  /// -1 if there is no such worker.
  std::int32_t node_of(std::int32_t worker) const noexcept {
    const auto w = static_cast<std::size_t>(worker);
    return worker >= 0 && w < worker_node.size() ? worker_node[w] : -1;
  }
  /// The place that the worker belongs to; -1 if there are no places, or there is no such worker.
  std::int32_t place_of(std::int32_t worker) const noexcept {
    for (std::size_t p = 0; p < places.size(); ++p) {
      const std::int64_t from_first = std::int64_t{worker} - places[p].first_worker;
      if (from_first >= 0 && from_first < places[p].workers) return static_cast<std::int32_t>(p);
    }
    return -1;
  }
  std::string meta_or(const std::string& key, const std::string& otherwise) const {
    const auto at = meta.find(key);
    return at == meta.end() ? otherwise : at->second;
  }
  /// The same for a whole number >= 0. Throws kith::error if the value is anything else.
  std::int64_t meta_number(const std::string& key, std::int64_t otherwise) const {
    const auto at = meta.find(key);
    if (at == meta.end()) return otherwise;
    std::int64_t value = -1;
    const char* const end = at->second.data() + at->second.size();
    const auto [stopped, failed] = std::from_chars(at->second.data(), end, value);
    if (failed != std::errc() || stopped != end || value < 0)
      throw error("the recording is damaged: meta '" + key + "' is '" + printable(at->second, 80) +
                      "', expected a whole number",
                  error_kind::input);
    return value;
  }
};

}  // namespace kith
