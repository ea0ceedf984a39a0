// Places in the simulator: what each place's progress thread does, with messages between them (place_network.hpp).
//
// ADS paper, section 4; docs/places.md has the protocol as the native places follow it. A place is a group of workers
// with a policy of its own, on cores of its own. A task that is created for another place is offered to it: its fresh
// activity buffer (FAB) takes it while its occupancy is below the threshold, else the creator waits and offers it
// again. Each place has a progress thread, on a core that is not modelled; it handles one message at a time. A message
// takes the machine's cost of a push, stretched by the distance, and the links of its route one after the other. A
// place reports the ends of its tasks to the place that waits for them, once no other task of that wait is left; a task
// with a result is reported alone, with the result.
//
// What a place makes for itself is made by its progress thread when it may run: a part of a coroutine, and a task of a
// data_flow, whose order the place that spawns it keeps.
#pragma once

#include "engine/sim/place_network.hpp"
#include "engine/sim/world.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

namespace kith::sim {

/// The tasks of a data_flow at another place. At most as many are under way as its buffer has room for.
struct flow_window {
  std::uint64_t under_way = 0;
  std::deque<std::int32_t> ready = {};
};

/// The progress of a request.
struct request_progress {
  bool reply_arrived = false;  // whether the reply has arrived
  std::uint32_t worker = 0;    // the sender
};

/// The state of one place, besides its workers.
struct place_state {
  explicit place_state(engine& owner, policy_group& members)
      : progress(owner, members, worker_id(0), members.workers.node_of(worker_id(0))) {}
  worker progress;        // the progress thread; its clock is when it is free
  std::uint64_t fab = 0;  // accepted activities that have not started
  std::uint64_t fab_sum = 0;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> open;  // by scope elsewhere: unfinished, ended here
};

}  // namespace kith::sim
