// Fidelity *block*: where data is, which caches hold it, and what it costs to fetch.
//
// Data is moved in chunks. A chunk has a home (first touch, or dealt out). At most one last-level cache holds
// it modified; any number may hold it unmodified. A node has one or more last-level caches. If the machine says
// so, a core also has a private cache. Each cache evicts its least recently used chunk first. Memory
// controllers and links serve one request after the other. The time for a chunk is the largest of: the core's
// own rate, stretched by distance; the controller; each link.
#pragma once

#include "engine/sim/address_layout.hpp"
#include "engine/sim/links.hpp"
#include "engine/sim/lru_cache.hpp"

#include <cstdint>
#include <vector>

namespace kith::sim {

/// Parts of the model that can be left out, to see what a result depends on.
struct model_parts {
  bool contention = true;  // controllers and links can be busy
  bool latency = true;     // remote memory has a longer latency
  bool caches = true;
  bool scheduling = true;  // the scheduler's own work takes time
};

/// Where a core is: its node, its last-level cache (machine_model::cache_of), and its own number.
struct core_position {
  node_id node;
  std::uint32_t cache = 0, core = 0;
};

/// Where bytes came from.
enum class level : std::uint8_t { private_cache, last_level, memory };
struct fetched {
  picoseconds took = 0;
  level from = level::memory;
};

class memory {
 public:
  /// Without recorded allocations, `fine` deals chunks round robin and `coarse` deals regions. Throws
  /// kith::error for more than 64 last-level caches.
  memory(const program& p, const machine_model& m, distribution d, const model_parts& parts, std::uint64_t chunk_bytes);
  /// Sets the home of a region. Must be called before anything touches it.
  void put(std::uint32_t region, std::uint64_t bytes, node_id home);
  /// The same for each chunk. Does not change chunks that the layout does not place.
  void put(std::uint32_t region, std::uint64_t bytes, const address_layout& homes);

  /// The chunks that an access touches are first .. first + chunks(bytes) - 1.
  std::uint32_t first_chunk(std::uint32_t region) const noexcept { return first_[region]; }
  std::uint32_t chunks(std::uint64_t bytes) const noexcept {
    return static_cast<std::uint32_t>((bytes + chunk_bytes_ - 1) / chunk_bytes_);
  }
  std::uint64_t chunk_bytes() const noexcept { return chunk_bytes_; }

  /// The core at `position` reads (or writes) `bytes` of a chunk at `now`. Returns how long it waits for them.
  fetched touch(std::uint32_t chunk, std::uint64_t bytes, bool writes, const core_position& position, picoseconds now);
  /// Prefetches the state of a chunk that the core will touch soon.
  void expect(std::uint32_t chunk, const core_position& position) const noexcept {
    __builtin_prefetch(&chunks_[chunk], 1);
    if (!last_level_.empty()) last_level_[position.cache].expect(chunk);
  }
  /// Moves the runtime's own data.
  void move_metadata(node_id from, node_id to, std::uint64_t bytes, picoseconds now);
  /// Empties all caches; all data is then at home only.
  void empty_caches();
  node_id home(std::uint32_t chunk) const noexcept { return node_id(chunks_[chunk].home); }
  /// Moves the chunk to node `to`, if it is elsewhere. Returns how long that takes the core there, which moves
  /// it. No cache holds the chunk afterwards.
  picoseconds migrate(std::uint32_t chunk, std::uint64_t bytes, node_id to, picoseconds now);
  std::uint64_t migrated_bytes = 0;

  interconnect links;
  std::uint64_t remote_bytes = 0, local_bytes = 0;  // fetched, including from other caches
  std::uint64_t hits = 0, misses = 0;

 private:
  /// All that a touch reads of a chunk, in one cache line.
  struct chunk_state {
    std::uint64_t holders = 0;                 // bit mask of last-level caches
    std::uint32_t version = 0;                 // how often it was written; used if cores have private caches
    std::int16_t home = -1, modified_in = -1;  // a node; the last-level cache that holds it modified; -1: none
  };
  fetched fetch(std::uint32_t chunk, std::uint64_t bytes, bool writes, const core_position& position,
                picoseconds now) noexcept;
  void drop(std::size_t cache, std::uint32_t chunk) noexcept;
  void keep(std::size_t cache, std::uint32_t chunk, std::uint64_t bytes, picoseconds now);
  bool has_private(std::uint32_t core, std::uint32_t chunk) const noexcept;
  void keep_private(std::uint32_t core, std::uint32_t chunk, std::uint64_t bytes, bool writes);
  void write_back(node_id from, std::uint32_t chunk, std::uint64_t bytes, picoseconds now) noexcept;

  const model_parts parts_;
  std::uint64_t chunk_bytes_;
  std::vector<std::uint32_t> first_;  // by region; regions that contain each other share chunks if possible
  std::vector<chunk_state> chunks_;
  std::vector<lru_cache> last_level_;  // last-level caches; empty: there are none
  std::vector<node_id> cache_node_;    // the node of each cache, even if `last_level_` is empty
  // The private caches, by core. A chunk in them is valid until another core writes it.
  std::vector<lru_cache> private_;
  std::vector<std::vector<std::uint32_t>> private_versions_;  // by core and chunk: the version that the core has
  std::vector<server> controllers_;
  rate core_rate_, cache_rate_, between_caches_, private_rate_;
  std::vector<std::uint64_t> stretch_;  // by pair of nodes: the distance, in 1/1024 of local
};

}  // namespace kith::sim
