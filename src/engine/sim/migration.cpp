// Pages of written data move to the node that runs the writing task: RIP paper, section 6.5. Without "+pm", only the
// regions for which the policy asks.
//
// Each chunk moves by itself, before the task uses it. The kernel's own work for each page is not modelled.
#include "engine/sim/engine.hpp"

#include <bit>

namespace kith::sim {

picoseconds memory::migrate(std::uint32_t chunk, std::uint64_t bytes, node_id to, picoseconds now) {
  chunk_state& c = chunks_[chunk];
  if (c.home < 0 || c.home == to.value) return 0;
  if (c.modified_in >= 0) write_back(cache_node_[static_cast<std::size_t>(c.modified_in)], chunk, bytes, now);
  for (; c.holders != 0; c.holders &= c.holders - 1)
    last_level_[static_cast<std::size_t>(std::countr_zero(c.holders))].drop(chunk);
  ++c.version;  // makes copies in private caches stale
  // Read from the old home's memory, written to the new one's.
  const node_id from(c.home);
  picoseconds until = now + (core_rate_(bytes) * stretch_[to.index() * controllers_.size() + from.index()] >> 10);
  if (parts_.contention) {
    until = std::max(until, controllers_[from.index()].serve(now, bytes));
    until = std::max(until, controllers_[to.index()].serve(now, bytes));
  }
  until = std::max(until, links.carry(from, to, bytes, now, parts_.contention));
  c.home = static_cast<std::int16_t>(to.value);
  migrated_bytes += bytes;
  return until - now;
}

/// Moves a chunk that the running task is about to use.
void engine::move_chunk(worker& w, std::uint32_t region, std::uint32_t chunk) {
  const std::uint64_t whole = program_.recorded.regions[region].bytes;
  if (!may_move(whole)) return;
  const std::uint64_t from = (chunk - memory_->first_chunk(region)) * memory_->chunk_bytes();
  spend(w, memory_->migrate(chunk, std::min(memory_->chunk_bytes(), whole - from), w.node, w.clock));
}

}  // namespace kith::sim
