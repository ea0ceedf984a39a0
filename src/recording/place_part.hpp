// The contents of one place's logs, before the places of a job are merged (merge.hpp).
#pragma once

#include "recording/recording.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith {

struct place_part {
  /// A message as one of its two places recorded it. Messages from one place to another arrive in the order in which
  /// they were sent, so the n-th sent is the n-th received.
  struct message {
    bool received = false;  // else sent
    std::uint8_t kind = recorded_message::spawn;
    std::uint16_t peer = 0;
    std::uint64_t bytes = 0, at = 0;         // at: as in `recorded`
    std::int32_t task = -1;                  // sent: by this task; a received spawn: made this task
    std::uint64_t sequence = 0, result = 0;  // as in the header of the message
  };
  /// A reading of place 0's clock between two moments here.
  struct clock_reading {
    std::uint64_t sent = 0, received = 0;  // as in `recorded`
    std::uint64_t there = 0;               // ticks of place 0
  };

  recording recorded;
  std::uint64_t began = 0;  // ticks of this place's clock at time 0
  double ns_per_tick = 1;

  std::uint64_t job = 0;    // the same for all places of a job; 0: this is no place, and the rest is empty
  std::uint64_t clock = 0;  // the same for all places that read the same clock
  std::uint16_t number = 0;
  std::uint32_t places = 0;
  std::string host;
  std::vector<message> messages;
  std::vector<clock_reading> clocks;
  /// A task that the place has made for itself.
  struct made_task {
    std::int32_t task = -1;
    bool continues = false;       // a coroutine; else it is an activity
    std::int32_t before = -1;     // the previous part of the coroutine; the activity's spawner
    std::uint64_t suspended = 0;  // when the coroutine was suspended; as in `recorded`. 0: not known
    std::int32_t awaited = -1;    // the task here whose end it waited for
    std::uint64_t result = 0;     // the result from elsewhere that the coroutine waited for; or this activity's
  };
  std::vector<made_task> made;  // sorted by tasks
  /// A task of a data_flow, by the number of its result; or, if that is 0, a wait for all of them.
  struct flow_step {
    std::int32_t task = -1;  // the spawner, or the waiting task
    std::uint64_t flow = 0, result = 0;
    std::uint64_t begun = 0, ended = 0;  // as in `recorded`
    std::vector<std::uint64_t> before;   // predecessors, by the numbers of their results
  };
  std::vector<flow_step> flows;
};

}  // namespace kith
