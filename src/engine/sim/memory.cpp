#include "engine/sim/memory.hpp"

#include "engine/sim/line_streams.hpp"
#include "engine/sim/simulation.hpp"

#include <kith/error.hpp>

#include <unistd.h>
#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace kith::sim {

namespace {

constexpr std::uint64_t control_bytes = 8;

/// For each region the region whose chunks it uses: the largest region that contains it, if the two have a
/// chunk boundary at the beginning and at the end of the smaller one; else itself.
std::vector<std::uint32_t> wholes_of(const recording& r, std::uint64_t chunk_bytes) {
  std::vector<std::uint32_t> whole(r.regions.size());
  std::iota(whole.begin(), whole.end(), 0u);
  std::vector<std::uint32_t> order = whole;
  std::ranges::sort(order, {}, [&](std::uint32_t i) { return std::pair(r.regions[i].address, ~r.regions[i].bytes); });
  const recorded_region* enclosing = nullptr;
  for (std::uint32_t i : order) {
    const recorded_region& part = r.regions[i];
    const std::uint64_t from = enclosing == nullptr ? 0 : part.address - enclosing->address;
    if (enclosing == nullptr || from > enclosing->bytes || part.bytes > enclosing->bytes - from) {
      enclosing = &part;
    } else if (from % chunk_bytes == 0 && (part.bytes % chunk_bytes == 0 || from + part.bytes == enclosing->bytes)) {
      whole[i] = static_cast<std::uint32_t>(enclosing - r.regions.data());
    }
  }
  return whole;
}

std::uint64_t control_of(std::uint64_t bytes) { return (bytes + line_bytes - 1) / line_bytes * control_bytes; }

/// Half of this computer's memory, because several simulations may run at once.
double most_modelled() {
  return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 2;
}

std::size_t caches_of(const machine_model& m) noexcept {
  return m.nodes() * static_cast<std::size_t>(m.caches_per_node);
}

/// Throws for more last-level caches than can be modelled. Called before anything else uses the machine.
void refuse_many_caches(const machine_model& m) {
  if (!has_block_memory(m))
    throw error(m.hardware.name + " has " + std::to_string(m.nodes()) + " nodes with " + std::to_string(caches_of(m)) +
                    " last-level caches; the fidelity block models up to " + std::to_string(most_block_caches) +
                    " (use --fidelity abstract)",
                error_kind::setting);
}

}  // namespace

bool has_block_memory(const machine_model& m) noexcept { return caches_of(m) <= most_block_caches; }

memory::memory(const program& p, const machine_model& m, distribution d, const model_parts& parts,
               std::uint64_t chunk_bytes)
    : links((refuse_many_caches(m), m)),
      parts_(parts),
      chunk_bytes_(chunk_bytes),
      core_rate_(m.core_gbs),
      cache_rate_(m.cache_gbs),
      between_caches_(m.between_gbs > 0 ? m.between_gbs : m.core_gbs),
      private_rate_(m.private_gbs) {
  const std::size_t nodes = m.hardware.nodes.size();
  for (std::size_t c = 0; c < nodes * static_cast<std::size_t>(m.caches_per_node); ++c)
    cache_node_.emplace_back(static_cast<int>(c / static_cast<std::size_t>(m.caches_per_node)));
  std::uint64_t count = 0;
  constexpr std::uint32_t unknown = ~std::uint32_t{0};
  const std::vector<std::uint32_t> wholes = wholes_of(p.recorded, chunk_bytes_);
  first_.assign(wholes.size(), unknown);
  std::vector<std::uint32_t> in_order;  // regions that have chunks of their own
  for (const std::uint32_t r : wholes) {
    if (first_[r] != unknown) continue;
    in_order.push_back(r);
    first_[r] = static_cast<std::uint32_t>(count);
    count += (p.recorded.regions[r].bytes + chunk_bytes_ - 1) / chunk_bytes_;
    if (count > std::uint64_t{1} << 31)  // chunks() has 32 bits
      throw error("the program's data is more than 2^31 chunks; take larger ones (--chunk)", error_kind::setting);
  }
  const bool last = parts.caches && m.cache_bytes != 0, own = parts.caches && m.private_bytes != 0;
  const std::size_t each =
      sizeof(chunk_state) + (last ? 4 * cache_node_.size() : 0) + (own ? 8 * m.hardware.cores.size() : 0);
  if (const double needed = static_cast<double>(count) * static_cast<double>(each); needed > most_modelled()) {
    throw error("the program's data is " + std::to_string(count) + " chunks, which take " +
                    std::to_string(static_cast<std::uint64_t>(needed / 1e9)) + " GB to model on " + m.hardware.name +
                    ", more than half of this computer's memory; take larger ones (--chunk)",
                error_kind::setting);
  }
  chunks_.reserve(count);
  for (const std::uint32_t r : in_order) {
    const std::uint64_t here = (p.recorded.regions[r].bytes + chunk_bytes_ - 1) / chunk_bytes_;
    for (std::uint64_t c = 0; c < here; ++c) {
      const std::uint64_t dealt = d == distribution::fine ? chunks_.size() : r;
      const bool decided =
          (d == distribution::fine || d == distribution::coarse) && p.recorded.allocations.empty();  // else put()
      chunks_.push_back({.home = decided ? static_cast<std::int16_t>(dealt % nodes) : std::int16_t{-1}});
    }
  }
  for (std::size_t i = 0; i < wholes.size(); ++i) {
    const std::uint64_t from = p.recorded.regions[i].address - p.recorded.regions[wholes[i]].address;
    if (wholes[i] != i) first_[i] = first_[wholes[i]] + static_cast<std::uint32_t>(from / chunk_bytes_);
  }
  if (last) last_level_.assign(cache_node_.size(), lru_cache(count, m.cache_bytes));
  if (own) {
    private_.assign(m.hardware.cores.size(), lru_cache(count, m.private_bytes));
    private_versions_.assign(private_.size(), std::vector<std::uint32_t>(count, 0));
  }
  controllers_.assign(nodes, {0, rate(m.memory_gbs)});
  for (std::size_t a = 0; a < nodes; ++a) {
    for (std::size_t b = 0; b < nodes; ++b) {
      const int distance = parts.latency ? m.hardware.distances[a][b] : 10;
      stretch_.push_back(static_cast<std::uint64_t>(distance) * 1024 / 10);
    }
  }
}

void memory::put(std::uint32_t region, std::uint64_t bytes, node_id home) {
  for (std::uint32_t c = 0; c < chunks(bytes); ++c)
    chunks_[first_[region] + c].home = static_cast<std::int16_t>(home.value);
}

void memory::empty_caches() {
  for (chunk_state& c : chunks_) {
    c.modified_in = -1;
    c.holders = 0;
  }
  for (lru_cache& c : last_level_) c.clear();
  for (lru_cache& c : private_) c.clear();
}

void memory::put(std::uint32_t region, std::uint64_t bytes, const address_layout& homes) {
  for (std::uint32_t c = 0; c < chunks(bytes); ++c) {
    if (const node_id home = homes.node_at(region, c * chunk_bytes_))
      chunks_[first_[region] + c].home = static_cast<std::int16_t>(home.value);
  }
}

/// Removes a chunk from a last-level cache.
inline void memory::drop(std::size_t cache, std::uint32_t chunk) noexcept {
  chunks_[chunk].holders &= ~(std::uint64_t{1} << cache);
  last_level_[cache].drop(chunk);
}

/// Writes a modified chunk at node `from` back to its home; no core waits for it.
void memory::write_back(node_id from, std::uint32_t chunk, std::uint64_t bytes, picoseconds now) noexcept {
  chunk_state& c = chunks_[chunk];
  const node_id home(c.home);
  if (parts_.contention) controllers_[home.index()].serve(now, bytes);
  links.carry(from, home, bytes, now, parts_.contention);
  c.modified_in = -1;
}

/// Makes the chunk the newest one of a last-level cache, and adds it if it is not there.
[[gnu::always_inline]] inline void memory::keep(std::size_t cache, std::uint32_t chunk, std::uint64_t bytes,
                                                picoseconds now) {
  const std::uint64_t mine = std::uint64_t{1} << cache;
  lru_cache& c = last_level_[cache];
  c.use(chunk, bytes);
  chunks_[chunk].holders |= mine;
  for (; c.too_full(); c.drop_oldest()) {
    const lru_cache::entry& last = c.oldest();
    if (chunks_[last.chunk].modified_in == static_cast<std::int16_t>(cache))
      write_back(cache_node_[cache], last.chunk, last.bytes, now);
    chunks_[last.chunk].holders &= ~mine;
  }
}

inline bool memory::has_private(std::uint32_t core, std::uint32_t chunk) const noexcept {
  return !private_.empty() && private_[core].holds(chunk) && private_versions_[core][chunk] == chunks_[chunk].version;
}

/// A chunk that leaves a core's private cache needs no write-back, because it is still in the shared one.
void memory::keep_private(std::uint32_t core, std::uint32_t chunk, std::uint64_t bytes, bool writes) {
  if (writes) ++chunks_[chunk].version;
  private_versions_[core][chunk] = chunks_[chunk].version;
  lru_cache& c = private_[core];
  for (c.use(chunk, bytes); c.too_full();) c.drop_oldest();
}

/// Fetches the chunk from the cache that holds it modified, or from its home's memory.
[[gnu::always_inline]] inline fetched memory::fetch(std::uint32_t chunk, std::uint64_t bytes, bool writes,
                                                    const core_position& position, picoseconds now) noexcept {
  const chunk_state& c = chunks_[chunk];
  const std::int16_t other = c.modified_in;  // not this core's cache, which does not hold the chunk
  const bool elsewhere = other >= 0;
  const node_id from = elsewhere ? cache_node_[static_cast<std::size_t>(other)] : node_id(c.home);
  (from == position.node ? local_bytes : remote_bytes) += bytes;
  const rate& speed = elsewhere && from == position.node ? between_caches_ : core_rate_;
  picoseconds until = now + (speed(bytes) * stretch_[position.node.index() * controllers_.size() + from.index()] >> 10);
  if (!elsewhere && parts_.contention) until = std::max(until, controllers_[from.index()].serve(now, bytes));
  until = std::max(until, links.carry(from, position.node, bytes, now, parts_.contention));
  if (elsewhere && !writes)
    write_back(position.node.value == c.home ? position.node : from, chunk, bytes, now);  // over links once
  return {until - now, level::memory};
}

fetched memory::touch(std::uint32_t chunk, std::uint64_t bytes, bool writes, const core_position& position,
                      picoseconds now) {
  const std::size_t here = position.cache;
  chunk_state& c = chunks_[chunk];
  if (c.home < 0) c.home = static_cast<std::int16_t>(position.node.value);
  fetched f;
  if (has_private(position.core, chunk)) {
    ++hits;
    f = {private_rate_(bytes), level::private_cache};
  } else if ((c.holders >> here & 1) != 0) {
    ++hits;
    f = {cache_rate_(bytes), level::last_level};
  } else {
    ++misses;
    f = fetch(chunk, bytes, writes, position, now);
  }
  if (writes) {
    for (std::uint64_t others = c.holders & ~(std::uint64_t{1} << here); others != 0; others &= others - 1) {
      const auto other = static_cast<std::size_t>(std::countr_zero(others));
      links.notify(position.node, cache_node_[other], control_of(bytes));
      drop(other, chunk);
    }
    c.modified_in = static_cast<std::int16_t>(here);
  }
  if (!private_.empty()) keep_private(position.core, chunk, bytes, writes);
  if (!last_level_.empty()) {
    keep(here, chunk, bytes, now);
  } else if (writes) {
    write_back(position.node, chunk, bytes, now);  // without caches it goes straight to memory
  }
  return f;
}

void memory::move_metadata(node_id from, node_id to, std::uint64_t bytes, picoseconds now) {
  if (from == to) return;
  remote_bytes += bytes;
  links.carry(from, to, bytes, now, parts_.contention);
}

}  // namespace kith::sim
