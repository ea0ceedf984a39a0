// Fidelity *line*: private caches of two levels for each core, a directory, memory, and the messages between them.
//
// The directory and the memory of a line are at one node; lines are dealt to the nodes in turn. A core that misses asks
// that node. Memory answers after its latency, and sends one line at a time. If a core owns the line, it is told to
// send it. A writer waits until all other holders have confirmed that they have dropped the line. Changed lines that a
// core has no room for are sent to memory; no core waits for that. Dropping an unchanged line is not a message.
//
// Where the machine has home caches (line_costs::homes), the second level of a line's node replaces the directory: a
// core that misses asks it, and it asks memory. Requests are served one after the other, at the rate of the node's
// memory. Writes do not wait (MIR thesis, section 3.2: output is buffered); their messages take links and homes. The
// memory of a home has a latency only.
#pragma once

#include "engine/sim/home_caches.hpp"
#include "engine/sim/line_caches.hpp"
#include "engine/sim/line_network.hpp"
#include "engine/sim/line_streams.hpp"
#include "engine/sim/memory.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace kith::sim {

/// The number of sets of the machine's first or second level, whichever has fewer.
std::uint32_t least_sets(const machine_model&) noexcept;
/// A recording's touches, in the lines of the machine.
line_streams line_streams_on(const recording&, const machine_model&);

/// What happened to lines.
struct line_counts {
  std::uint64_t touches = 0;   // accesses, as recorded
  std::uint64_t accesses = 0;  // rows of line_touches; the touches beyond a row's first are hits for sure
  std::uint64_t first_misses = 0, second_misses = 0;
  std::uint64_t from_memory = 0, from_cores = 0;
  std::uint64_t upgrades = 0;       // a core that has the line asks for permission to write it
  std::uint64_t invalidations = 0;  // of lines in other cores
  std::uint64_t written_back = 0;
  std::uint64_t flits = 0;

  line_counts operator-(const line_counts& from) const noexcept {
    return {touches - from.touches,           accesses - from.accesses,
            first_misses - from.first_misses, second_misses - from.second_misses,
            from_memory - from.from_memory,   from_cores - from.from_cores,
            upgrades - from.upgrades,         invalidations - from.invalidations,
            written_back - from.written_back, flits - from.flits};
  }
};

class line_memory {
 public:
  /// `core_nodes`: the node of each core that is used. Throws kith::error if the machine has no table [line], for more
  /// than core_set::most cores, and for more memory than can be modelled.
  line_memory(const machine_model&, const line_streams&, std::vector<node_id> core_nodes, const model_parts&);

  /// Serves the access if the core's own caches can, and returns how long that takes; else no value.
  std::optional<picoseconds> hit(std::uint32_t core, std::uint32_t line, bool writes) noexcept {
    if (homes_) return home_hit(core, line, writes);
    const std::optional<line_caches::found_in> from = caches_.hit(core, line, writes);
    if (!from) return std::nullopt;
    if (*from == line_caches::found_in::first) return first_;
    ++counts.first_misses;
    return second_;
  }
  /// Serves an access that begins at `start`; returns how long it takes. REQUIRES: hit() could not, and nothing that
  /// follows is before `now`.
  picoseconds fetch(std::uint32_t core, std::uint32_t line, bool writes, picoseconds start, picoseconds now);
  /// Begins to load what an access will read that misses the first level.
  void prefetch(std::uint32_t core, std::uint32_t line) const noexcept {
    if (!homes_) caches_.prefetch(core, line);
  }
  /// The cores that lost the line of the last fetch(), because another core has written it.
  const core_set& losers() const noexcept { return losers_; }
  /// How long a hit of the first level takes.
  picoseconds first() const noexcept { return first_; }
  /// The latency of idle local memory; with home caches, that of the core's own home.
  picoseconds idle_memory() const noexcept { return homes_ ? second_ : second_ + memory_; }
  /// Makes the core at a node the home of a byte range, as recorded. Does nothing without home caches, or if no core is
  /// used at the node. REQUIRES: no core has touched the range.
  void put(std::uint64_t address, std::uint64_t bytes, node_id home) noexcept;

  /// Moves the runtime's own data; no core waits.
  void move_metadata(node_id from, node_id to, std::uint64_t bytes, picoseconds now) {
    network.send(from, to, bytes, true, now, now);
  }
  /// Empties all caches; nothing is written back.
  void empty_caches() {
    if (homes_) return homes_->clear();
    caches_ = empty();
  }

  line_network network;
  line_counts counts;
  std::uint64_t local_bytes = 0, remote_bytes = 0;  // lines from the core's own node, and from others

 private:
  line_caches empty() const;
  home_caches homes_of(const line_streams&) const;
  std::optional<picoseconds> home_hit(std::uint32_t core, std::uint32_t line, bool writes) noexcept {
    const std::optional<home_caches::found_in> from = homes_->hit(core, line, writes);
    if (!from) return std::nullopt;
    if (*from == home_caches::found_in::first) return first_;
    ++counts.first_misses;
    return second_;
  }
  picoseconds fetch_from_home(std::uint32_t core, std::uint32_t line, bool writes, picoseconds start, picoseconds now);
  picoseconds invalidate(std::uint32_t core, const core_set& others, node_id home, picoseconds start, picoseconds now);
  node_id home_of(std::uint32_t line) const noexcept { return node_id(static_cast<int>(line % controllers_.size())); }

  const machine_model& machine_;
  std::vector<node_id> core_nodes_;
  const line_streams& touched_;
  std::size_t lines_;
  bool contended_;
  core_set losers_;
  picoseconds first_, second_, memory_, transfer_, home_;
  std::uint64_t control_, data_;
  std::uint64_t home_bytes_ = 0, answer_ = 0;  // what a home sends at once; the message with it
  std::vector<reservations> controllers_;      // by node
  line_caches caches_;
  std::optional<home_caches> homes_;
};

}  // namespace kith::sim
