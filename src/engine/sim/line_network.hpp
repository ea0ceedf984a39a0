// Messages of caches, directories and memory through the machine's links, flit by flit.
//
// A message takes the links of its route one after the other: its head waits for a link and passes it in `hop_cycles`,
// and the link is busy while the flits pass. The tail follows the head by that time (wormhole switching with buffers
// that are never full).
#pragma once

#include "engine/sim/links.hpp"
#include "engine/sim/reservations.hpp"
#include "machine/model.hpp"

#include <cstdint>
#include <vector>

namespace kith::sim {

class line_network {
 public:
  line_network(const machine_model& m, bool contended, bool far)
      : links_(m),
        flit_bytes_(static_cast<std::uint64_t>(m.line.flit_bytes)),
        hop_(far ? static_cast<picoseconds>(m.line.hop_cycles * 1000 / m.ghz) : 0),
        contended_(contended) {
    for (const interconnect::link& l : links_.links) lanes_.push_back({.flit = l.server.time_of(flit_bytes_)});
  }

  /// Sends a message at `time`. Returns when all of it has arrived. `now`: no message will leave earlier.
  picoseconds send(node_id from, node_id to, std::uint64_t bytes, bool data, picoseconds time, picoseconds now) {
    if (from == to) return time;
    const std::uint64_t count = (bytes + flit_bytes_ - 1) / flit_bytes_;
    picoseconds tail = 0;
    for (const std::uint32_t l : links_.route(from, to)) {
      lane& on = lanes_[l];
      (data ? on.data : on.control) += bytes;
      flits += count;
      if (contended_) time = on.taken.take(time, count * on.flit, now);
      time += hop_;
      tail = std::max(tail, (count - 1) * on.flit);
    }
    return time + tail;
  }

  /// How long after its head the end of a message arrives.
  picoseconds tail(std::uint64_t bytes) const noexcept {
    return lanes_.empty() ? 0 : ((bytes + flit_bytes_ - 1) / flit_bytes_ - 1) * lanes_.front().flit;
  }

  /// Counts a message that takes no time.
  void notify(node_id from, node_id to, std::uint64_t bytes) noexcept {
    for (const std::uint32_t l : links_.route(from, to)) lanes_[l].control += bytes;
    flits += (bytes + flit_bytes_ - 1) / flit_bytes_ * links_.route(from, to).size();
  }

  /// The links, with the bytes that they have carried.
  std::vector<interconnect::link> counted_links() const {
    std::vector<interconnect::link> counted = links_.links;
    for (std::size_t l = 0; l < counted.size(); ++l) {
      counted[l].data = lanes_[l].data;
      counted[l].control = lanes_[l].control;
    }
    return counted;
  }

  std::uint64_t flits = 0;  // over each link

 private:
  /// What a message needs of a link: one line of memory.
  struct alignas(64) lane {
    reservations taken = {};
    picoseconds flit = 0;                 // the time of a flit
    std::uint64_t data = 0, control = 0;  // bytes
  };

  interconnect links_;
  std::uint64_t flit_bytes_;
  picoseconds hop_;
  bool contended_;
  std::vector<lane> lanes_;  // by link
};

}  // namespace kith::sim
