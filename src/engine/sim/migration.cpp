// Pages of written data move to the node that executes the task that writes them: RIP paper, section 6.5.
//
// Each chunk by itself, before the task uses it. What is not modelled is the kernel's own work for each page.
#include "engine/sim/engine.hpp"

#include <bit>

namespace kith::sim {

picoseconds memory::migrate(std::uint32_t chunk, std::uint64_t bytes, node_id to, picoseconds now) {
  if (home_[chunk] < 0 || home_[chunk] == to.value) return 0;
  const std::int16_t changed_in = changed_by_[chunk];
  if (changed_in >= 0) write_back(static_cast<std::size_t>(changed_in), chunk, bytes, now);
  for (std::uint64_t in = holders_[chunk]; in != 0; in &= in - 1) {
    const auto one = static_cast<std::size_t>(std::countr_zero(in));
    drop(one, caches_[one].at[chunk]);
  }
  if (!version_.empty()) ++version_[chunk];  // copies that cores have are old
  // Read from the old home's memory, written to the new one's.
  const node_id from(home_[chunk]);
  picoseconds until = now + (core_(bytes) * stretch_[to.index() * controllers_.size() + from.index()] >> 10);
  if (with_.contention) {
    until = std::max(until, controllers_[from.index()].serve(now, bytes));
    until = std::max(until, controllers_[to.index()].serve(now, bytes));
  }
  until = std::max(until, links.carry(from, to, bytes, now, with_.contention));
  home_[chunk] = static_cast<std::int16_t>(to.value);
  migrated_bytes += bytes;
  return until - now;
}

/// The next chunk of an access of the task that runs.
void engine::move_written(worker& w, const recorded_access& a, std::uint32_t chunk) {
  const std::uint64_t whole = program_.of.regions[a.region].bytes, from = chunk * memory_->chunk_bytes();
  if (static_cast<mode>(a.mode) == mode::in || !may_move(whole)) return;
  const std::uint64_t bytes = std::min(memory_->chunk_bytes(), whole - from);
  spend(w, memory_->migrate(memory_->first_chunk(a.region) + chunk, bytes, w.node, w.clock));
}

}  // namespace kith::sim
