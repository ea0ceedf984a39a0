// The parts of line_memory that are about home caches.
#include "engine/sim/line_memory.hpp"

#include <algorithm>
#include <bit>

namespace kith::sim {

/// Shared lines are dealt to the cores in turn, as if each had a hashed home. The home of a core's own memory is that
/// core.
home_caches line_memory::homes_of(const line_streams& touched) const {
  const auto shape = [](const line_costs::cache& c, std::uint64_t bytes) {
    return cache_shape{static_cast<std::uint32_t>(c.bytes / c.ways / bytes), c.ways};
  };
  const auto shift = static_cast<unsigned>(std::countr_zero(line_bytes / touched.bytes));
  const std::size_t cores = core_nodes_.size();
  home_caches made(cores, shape(machine_.line.first, touched.bytes), shape(machine_.line.second, line_bytes), shift,
                   lines_, machine_.line.copies);
  for (std::size_t l = 0; l < lines_; l += std::size_t{1} << shift) {
    const auto line = static_cast<std::uint32_t>(l);
    made.set_home(line, l < touched.shared ? (l >> shift) % cores : (l - touched.shared) / touched.own);
  }
  return made;
}

void line_memory::put(std::uint64_t address, std::uint64_t bytes, node_id home) noexcept {
  const auto found = std::ranges::find(core_nodes_, home);
  if (!homes_ || found == core_nodes_.end()) return;
  const auto core = static_cast<std::size_t>(found - core_nodes_.begin());
  constexpr std::uint64_t page = line_streams::page_bytes;
  const std::uint64_t end = address + bytes;
  for (auto p = std::ranges::lower_bound(touched_.pages, address / page * page, {}, &line_streams::page::address);
       p != touched_.pages.end() && p->address < end; ++p) {
    const std::uint64_t from = std::max(address, p->address), until = std::min(end, p->address + page);
    for (std::uint64_t line = from / line_bytes * line_bytes; line < until; line += line_bytes)
      homes_->set_home(p->first + static_cast<std::uint32_t>((line - p->address) / touched_.bytes), core);
  }
}

picoseconds line_memory::fetch_from_home(std::uint32_t core, std::uint32_t line, bool writes, picoseconds start,
                                         picoseconds now) {
  using found_in = home_caches::found_in;
  const home_caches::outcome o = homes_->ask(core, line, writes);
  const std::size_t home = homes_->home(line);
  const node_id here = core_nodes_[core], there = core_nodes_[home];
  losers_ = o.dropped;
  counts.written_back += o.written_back;
  const picoseconds own = writes ? first_ : second_;  // the time in which the own caches find that they cannot serve it
  const picoseconds asked =
      network.send(here, there, writes ? control_ + touched_.bytes : control_, writes, start + own, now);
  picoseconds until = asked;
  if (home != core && contended_) until = controllers_[there.index()].take(asked, transfer_, now);
  o.dropped.each([&](std::size_t holder) {
    network.send(there, core_nodes_[holder], control_, false, until, now);
    ++counts.invalidations;
  });
  if (writes) {
    ++counts.upgrades;
    if (o.from == found_in::memory) ++counts.from_memory;
    return own;  // buffered
  }
  ++counts.first_misses;
  ++counts.second_misses;
  (o.from == found_in::memory ? counts.from_memory : counts.from_cores) += 1;
  (home == core ? local_bytes : remote_bytes) += home_bytes_;
  if (home != core) until += home_;
  if (o.from == found_in::memory) until += memory_;
  return network.send(there, here, answer_, true, until, now) - start;
}

}  // namespace kith::sim
