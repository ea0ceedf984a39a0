#include "analysis/homes.hpp"

#include "recording/check.hpp"

#include <kith/access.hpp>
#include <kith/memory.hpp>

#include <algorithm>

namespace kith::analysis {

std::size_t nodes_of(const recording& r) {
  std::int64_t nodes = std::clamp<std::int64_t>(r.meta_number("nodes", 1), 1, most_recorded_nodes);
  for (const std::int16_t n : r.worker_node) nodes = std::max<std::int64_t>(nodes, n + 1);
  for (const recorded_home& h : r.homes) nodes = std::max<std::int64_t>(nodes, h.node + 1);
  for (const recorded_region& g : r.regions) nodes = std::max<std::int64_t>(nodes, g.home + 1);
  return static_cast<std::size_t>(nodes);
}

namespace {

/// True if the region's memory was given to nodes when it was allocated, so that it had a home before its first
/// touch. Not for simulated runs: they have rows for what they homes.
bool placed_by_allocation(const recording& r, std::uint32_t region, std::uint64_t time) {
  if (r.meta_or("engine", "") == "sim") return false;
  const std::uint64_t address = r.regions[region].address;
  return std::ranges::any_of(r.allocations, [&](const recorded_allocation& a) {
    const auto how = static_cast<distribution::kind>(a.distribution);
    return how != distribution::standard && how != distribution::system && how != distribution::deferred &&
           address - a.address < a.bytes && a.at <= time && (a.released == 0 || a.released > time);
  });
}

}  // namespace

home_history::home_history(const recording& r)
    : r_(r), nodes_(nodes_of(r)), first_touch_(r.regions.size(), ~std::uint64_t{0}) {
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    if (r.tasks[t].worker < 0) continue;
    for (std::uint64_t a = r.first_access[t]; a < r.first_access[t + 1]; ++a) {
      std::uint64_t& first = first_touch_[r.accesses[a].region];
      first = std::min(first, r.tasks[t].started);
    }
  }
}

std::span<const recorded_home> home_history::rows_of(std::uint32_t region) const noexcept {
  const auto rows = std::ranges::equal_range(r_.homes, region, {}, &recorded_home::region);
  return {rows.begin(), rows.end()};
}

/// `last`: the rows in effect.
region_homes home_history::homes_of(std::uint32_t region, std::span<const recorded_home> last) const {
  region_homes homes{.bytes = std::vector<std::uint64_t>(nodes_), .nowhere = r_.regions[region].bytes};
  for (const recorded_home& h : last) {
    const std::uint64_t bytes = std::min(homes.nowhere, h.bytes);
    homes.bytes[static_cast<std::size_t>(h.node)] += bytes;
    homes.nowhere -= bytes;
  }
  return homes;
}

region_homes home_history::before(std::uint32_t region, std::uint64_t time) const {
  const std::span<const recorded_home> rows = rows_of(region);
  if (rows.empty()) {
    region_homes homes = at_end(region);
    if (nodes_ == 1 || time > first_touch_[region]) return homes;
    homes.bytes.assign(nodes_, 0);
    homes.nowhere = r_.regions[region].bytes;
    return homes;
  }
  auto end = std::ranges::lower_bound(rows, time, {}, &recorded_home::at);
  if (end == rows.begin()) {
    if (!placed_by_allocation(r_, region, time)) return homes_of(region, {});
    end = std::ranges::upper_bound(rows, rows.front().at, {}, &recorded_home::at);
  }
  const auto first = std::ranges::lower_bound(rows.begin(), end, (end - 1)->at, {}, &recorded_home::at);
  return homes_of(region, {first, end});
}

region_homes home_history::at_end(std::uint32_t region) const {
  const std::span<const recorded_home> rows = rows_of(region);
  if (!rows.empty()) {
    const auto first = std::ranges::lower_bound(rows, rows.back().at, {}, &recorded_home::at);
    return homes_of(region, {first, rows.end()});
  }
  region_homes homes = homes_of(region, {});
  const std::int16_t home = nodes_ == 1 ? std::int16_t{0} : r_.regions[region].home;
  if (home < 0) return homes;
  homes.bytes[static_cast<std::size_t>(home)] = std::exchange(homes.nowhere, 0);
  homes.at_the_end = nodes_ > 1;
  return homes;
}

std::vector<std::int32_t> last_writers(const recording& r, std::uint64_t time) {
  std::vector<std::int32_t> writers(r.regions.size(), -1);
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    const recorded_task& task = r.tasks[t];
    if (task.worker < 0 || task.ended > time || task.ended == 0) continue;
    for (std::uint64_t a = r.first_access[t]; a < r.first_access[t + 1]; ++a) {
      if (static_cast<mode>(r.accesses[a].mode) == mode::in) continue;
      std::int32_t& writer = writers[r.accesses[a].region];
      if (writer < 0 || r.tasks[static_cast<std::size_t>(writer)].ended <= task.ended)
        writer = static_cast<std::int32_t>(t);
    }
  }
  return writers;
}

}  // namespace kith::analysis
