// Gathers what the logs of a run contain: the first half of making a recording of them. Called by assemble.cpp.
//
// Times and sizes are converted at once. Task references stay as the program had them until assemble() knows all tasks.
#pragma once

#include "events/log.hpp"
#include "recording/assemble.hpp"
#include "recording/recording.hpp"

#include <kith/access.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace kith {

struct interval {
  std::uint64_t begun = 0, ended = 0;
};
/// An interval from two times in a log. The clocks of two processors may differ a little; an interval must not end
/// before it begins.
inline interval interval_of(log_pair when) { return {when.first, std::max(when.first, when.second)}; }

/// What the logs contain of one task. Positions are indices into the arrays of `gathered_logs`.
struct task_created_record {
  std::uint64_t ref = 0, scope = 0, parent = 0, begun = 0;
  std::uint64_t took = 0;
  std::uint64_t key = 0;
  std::int32_t color = -1;
  std::uint32_t first = 0, accesses = 0;  // in `accesses`
  double work = -1;
  std::uint16_t type = 0;
  std::uint8_t flags = 0, node = 255;
  std::uint16_t seat = 0;
  bool root = false;
  std::size_t read_as = 0;  // its position in the logs
};
struct need {
  std::uint64_t task, before;
  std::size_t read_as;
};
/// A task, the deliverer, has delivered an argument to another task.
struct delivery {
  std::uint64_t task, deliverer;
  std::uint64_t address, bytes, touched;
  mode how;
  bool used, by_owner;
  std::uint64_t number;  // of the argument
};
struct raw_access {
  std::uint64_t address, bytes;
  mode how;
  bool by_handle;
  std::uint64_t touched;
};
struct run_of_task {
  std::uint64_t ref = 0;
  interval when;
  std::uint8_t flags = 0;
  std::uint16_t seat = 0;
};

struct gathered_logs {
  std::vector<task_created_record> creations;
  std::vector<raw_access> accesses;
  std::vector<need> needs;
  std::vector<delivery> deliveries;
  std::vector<run_of_task> runs;  // by seat, in the order in which they ended
  struct wait {
    std::uint64_t scope, task;
    interval when;
    std::uint16_t seat;
  };
  std::vector<wait> waits;
  struct completion {
    std::uint64_t task, at;  // ticks
  };
  std::vector<completion> completions;
  struct give_back {
    std::uint64_t address, at;
  };
  std::vector<give_back> returns;
  struct sample {
    std::uint64_t task, cold, warm, hot;  // ticks
  };
  std::vector<sample> sampled;
  struct charge {
    std::uint64_t task, spent;  // ticks
  };
  std::vector<charge> charges;
  struct move {  // of a region to a node
    std::uint64_t address;
    std::int16_t node;
    std::uint64_t bytes, at;  // in ticks
    std::uint16_t seat;
  };
  std::vector<move> moves;
  /// What the log of a place contains about its job and its messages.
  struct place_log {
    bool present = false;
    std::uint64_t job = 0, clock = 0;
    std::uint16_t number = 0;
    std::uint32_t places = 0;
    std::string host;
  };
  place_log place;
  struct message {
    std::uint8_t flags;
    std::uint16_t peer;
    std::uint64_t task, at, bytes, sequence, result;  // at: ticks
  };
  std::vector<message> messages;
  struct clock_reading {
    std::uint64_t sent, received, there;  // ticks, here and at place 0
  };
  std::vector<clock_reading> clocks;
  struct made_task {
    std::uint8_t flags;
    std::uint64_t task, before, suspended, awaited;  // suspended: ticks
  };
  std::vector<made_task> made;
  struct flow_record {
    std::uint64_t task;
    std::vector<std::uint64_t> numbers;
  };
  std::vector<flow_record> flows;
  struct counted {
    std::uint64_t task;
    recorded_counts what;  // all but its task
  };
  std::vector<counted> counts;
  recording out;
  std::uint64_t began = ~std::uint64_t{0};
  double ns_per_tick = 1;

  std::uint64_t ns(std::uint64_t ticks) const {
    constexpr double latest = 9e18;  // the conversion of a larger value is undefined
    if (ticks <= began) return 0;
    return static_cast<std::uint64_t>(std::min(latest, static_cast<double>(ticks - began) * ns_per_tick));
  }
  std::unordered_map<std::uint64_t, std::int16_t> homes;  // by address, at the end
};

/// The number of the job of the place whose parts these are. 0: the parts are not a place's, have addresses, or cannot
/// be read.
std::uint64_t job_of_parts(const std::string& folder);

/// Reads the logs of a folder of parts. Throws kith::error if the folder has none or is in use, or if a log is damaged.
/// Empty logs are left out, with a message.
gathered_logs gather_logs(const std::string& folder, const progress& tell);

}  // namespace kith
