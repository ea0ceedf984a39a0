// Fidelity *block*: where data is, which caches hold it, and what it costs to fetch a piece of it.
//
// Data is moved in chunks. A chunk has a home (first touch, or dealt out), at most one last-level cache that holds it
// changed, and any number that hold it as it is; a node has one last-level cache or several. Where the machine says so, a
// core has a cache of its own before that. Of each, the least recently used chunk leaves first. Memory controllers and
// links serve one after the other. What a chunk takes is the latest of: the core's own rate, stretched by distance; the
// controller; each link.
#pragma once

#include "engine/sim/layout.hpp"
#include "engine/sim/links.hpp"
#include "engine/sim/lru_cache.hpp"

#include <cstdint>
#include <vector>

namespace kith::sim {

/// What can be left out, to see what a result rests on.
struct ablations {
  bool contention = true;  // controllers and links can be busy
  bool latency = true;     // remote memory is further away
  bool caches = true;
  bool scheduling = true;  // the scheduler's own work takes time
};

/// Where a core is: its node's number, its last-level cache's (machine_model::cache_of), its own.
struct place {
  node_id node;
  std::uint32_t cache = 0, core = 0;
};

/// Where bytes came from.
enum class level : std::uint8_t { own, last, beyond };
struct fetched {
  picoseconds took = 0;
  level from = level::beyond;
};

class memory {
 public:
  /// Where there are no recorded allocations, `fine` deals chunks in turn and `coarse` regions. Throws kith::error for more
  /// than 64 last-level caches.
  memory(const program& p, const machine_model& m, distribution d, const ablations& on, std::uint64_t chunk_bytes);
  /// Where a region is from the start. Before anything touches it.
  void put(std::uint32_t region, std::uint64_t bytes, node_id at);
  /// The same, chunk by chunk; what has no place in the layout stays as it is.
  void put(std::uint32_t region, std::uint64_t bytes, const layout& as);

  /// The chunks that an access touches are first .. first + chunks(bytes) - 1.
  std::uint32_t first_chunk(std::uint32_t region) const noexcept { return first_[region]; }
  std::uint32_t chunks(std::uint64_t bytes) const noexcept {
    return static_cast<std::uint32_t>((bytes + chunk_bytes_ - 1) / chunk_bytes_);
  }
  std::uint64_t chunk_bytes() const noexcept { return chunk_bytes_; }

  /// The core at `at` reads (or writes) `bytes` of a chunk at `now`: how long it waits for them.
  fetched touch(std::uint32_t chunk, std::uint64_t bytes, bool writes, const place& at, picoseconds now);
  /// The core will touch the chunk soon: what is known of it is fetched while others go on.
  void expect(std::uint32_t chunk, const place& at) const noexcept {
    __builtin_prefetch(&chunks_[chunk], 1);
    if (!caches_.empty()) caches_[at.cache].expect(chunk);
  }
  /// The runtime's own data moves.
  void move_metadata(node_id from, node_id to, std::uint64_t bytes, picoseconds now);
  /// Everything is at home, and in no cache.
  void empty_caches();
  node_id home(std::uint32_t chunk) const noexcept { return node_id(chunks_[chunk].home); }
  /// The chunk moves to node `to`, if it lies elsewhere: how long the core there, which moves it, is at that. No cache
  /// holds it afterwards.
  picoseconds migrate(std::uint32_t chunk, std::uint64_t bytes, node_id to, picoseconds now);
  std::uint64_t migrated_bytes = 0;

  interconnect links;
  std::uint64_t remote_bytes = 0, local_bytes = 0;  // fetched, from caches of others included
  std::uint64_t hits = 0, misses = 0;

 private:
  /// What a touch asks of a chunk, in one place.
  struct chunk_state {
    std::uint64_t holders = 0;                // last-level caches
    std::uint32_t version = 0;                // how often it was changed; where cores have caches of their own
    std::int16_t home = -1, changed_by = -1;  // a node, a last-level cache; -1: none
  };
  fetched fetch(std::uint32_t chunk, std::uint64_t bytes, bool writes, const place& at, picoseconds now) noexcept;
  void drop(std::size_t of, std::uint32_t chunk) noexcept;
  void keep(std::size_t in, std::uint32_t chunk, std::uint64_t bytes, picoseconds now);
  bool has_own(std::uint32_t core, std::uint32_t chunk) const noexcept;
  void keep_own(std::uint32_t core, std::uint32_t chunk, std::uint64_t bytes, bool writes);
  void write_back(node_id from, std::uint32_t chunk, std::uint64_t bytes, picoseconds now) noexcept;

  const machine_model& on_;
  const ablations with_;
  std::uint64_t chunk_bytes_;
  std::vector<std::uint32_t> first_;  // by region; those that contain each other share chunks where they can
  std::vector<chunk_state> chunks_;
  std::vector<lru_cache> caches_;    // last-level ones; empty: there are none
  std::vector<node_id> cache_node_;  // where each is, or would be
  // Of one core each. A chunk in them is good for as long as nobody else has changed it.
  std::vector<lru_cache> own_;
  std::vector<std::vector<std::uint32_t>> seen_;  // by core and chunk: its version
  std::vector<server> controllers_;
  rate core_, cache_rate_, between_, own_rate_;
  std::vector<std::uint64_t> stretch_;  // by pair of nodes: distance, in 1/1024 of local
};

}  // namespace kith::sim
