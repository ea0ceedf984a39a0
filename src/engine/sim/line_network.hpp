// Messages of caches, directories and memory through the machine's links, flit by flit.
//
// A message takes the links of its route one after the other: its head waits for a link, passes it in `hop_cycles`, and
// the link is taken for as long as the flits pass. The tail arrives as much later (wormhole switching with buffers that
// are never full).
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
      : links(m),
        flit_bytes_(static_cast<std::uint64_t>(m.line.flit_bytes)),
        hop_(far ? static_cast<picoseconds>(m.line.hop_cycles * 1000 / m.ghz) : 0),
        contended_(contended),
        taken_(links.links.size()) {}

  /// A message leaves at `time`. Returns when all of it is there. `now`: no message will leave earlier.
  picoseconds send(node_id from, node_id to, std::uint64_t bytes, bool data, picoseconds time, picoseconds now) {
    if (from == to) return time;
    const std::uint64_t count = (bytes + flit_bytes_ - 1) / flit_bytes_;
    picoseconds tail = 0;
    for (const std::uint32_t l : links.route(from, to)) {
      interconnect::link& link = links.links[l];
      (data ? link.data : link.control) += bytes;
      flits += count;
      const picoseconds each = link.server.time_of(flit_bytes_);
      if (contended_) time = taken_[l].take(time, count * each, now);
      time += hop_;
      tail = std::max(tail, (count - 1) * each);
    }
    return time + tail;
  }

  /// How much later than its head the end of a message is there.
  picoseconds tail(std::uint64_t bytes) const noexcept {
    if (links.links.empty()) return 0;
    return ((bytes + flit_bytes_ - 1) / flit_bytes_ - 1) * links.links.front().server.time_of(flit_bytes_);
  }

  /// Counts a message that takes no time.
  void notify(node_id from, node_id to, std::uint64_t bytes) noexcept {
    links.notify(from, to, bytes);
    flits += (bytes + flit_bytes_ - 1) / flit_bytes_ * links.route(from, to).size();
  }

  interconnect links;
  std::uint64_t flits = 0;  // over each link

 private:
  std::uint64_t flit_bytes_;
  picoseconds hop_;
  bool contended_;
  std::vector<reservations> taken_;  // by link
};

}  // namespace kith::sim
