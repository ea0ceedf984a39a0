// Messages between places in the simulator, and when they arrive.
#pragma once

#include "engine/sim/links.hpp"
#include "engine/sim/simulation.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <queue>
#include <tuple>
#include <vector>

namespace kith::sim {

/// A message between two places; `what` says which members count.
struct place_message {
  enum class kind : std::uint8_t {
    offer,     // of `task`, by `worker`
    accepted,  // to `worker`
    refused,   // to `worker`: `task` is to be offered again
    done,      // `count` tasks of `scope` have ended
    enable,    // the predecessor of these dependences has ended
    result,    // `task` has ended, and this is what it returns
    request,   // number `task` of the program
    reply,     // to that
  };
  kind what = kind::offer;
  std::uint32_t from = 0, to = 0;  // places
  std::int32_t task = -1;
  std::uint32_t worker = 0, scope = 0;
  std::uint32_t refusals = 0;  // of the offer
  std::uint64_t count = 0;
  std::vector<std::uint32_t> dependences = {};
  picoseconds sent = 0;
  std::uint64_t bytes = 0;  // of its arguments
};

/// Messages on their way, in the order of their arrival. Messages wait in this order at a place that is busy; the queue
/// then has one entry for all of them.
class place_network {
 public:
  place_network(const machine_model&, const model_parts&, std::vector<node_id> node_of_place);

  /// Sends the message at `now`; `bytes` are those of its arguments.
  void send(place_message, std::uint64_t bytes, picoseconds now);
  /// When the first place has a message to take; `never` if none has.
  picoseconds first() const noexcept { return queue_.empty() ? event_queue::never : queue_.top().due; }
  // REQUIRES of these: first() is not `never`.
  std::uint32_t first_place() const noexcept { return queue_.top().place; }
  place_message take();
  /// Puts the first place off until then, because it is busy.
  void postpone(picoseconds until);

  interconnect links;
  std::vector<place_figures> counts;  // by place

 private:
  static constexpr std::size_t all_that_wait = ~std::size_t{0};
  struct entry {
    picoseconds due;
    std::uint64_t order;
    std::uint32_t place;
    std::size_t message;  // in messages_, or all_that_wait at the place
    bool operator<(const entry& other) const noexcept {
      return std::tie(due, order) > std::tie(other.due, other.order);
    }
  };
  place_message take_message(std::size_t message);

  const machine_model& machine_;
  const model_parts parts_;
  std::vector<node_id> nodes_;  // by place; of hosts in a grid, its number
  std::priority_queue<entry> queue_;
  std::vector<place_message> messages_;
  std::vector<std::size_t> free_;                 // of messages_
  std::vector<std::deque<std::size_t>> waiting_;  // by place; has one entry in queue_ unless empty
  std::uint64_t order_ = 0;
};

}  // namespace kith::sim
