#include "engine/sim/arena.hpp"

#include <algorithm>
#include <compare>
#include <iterator>
#include <map>

namespace kith::sim {

namespace {

/// The regions of one allocation after the other, by address; those that lie in none come last, as they were first used.
std::vector<std::uint32_t> as_allocated(const recording& r) {
  std::map<std::uint64_t, std::size_t> allocation_at;  // by first address
  for (std::size_t a = 0; a < r.allocations.size(); ++a) allocation_at[r.allocations[a].address] = a;
  struct position {
    std::size_t allocation;
    std::uint64_t within;
    std::uint32_t region;
    auto operator<=>(const position&) const = default;
  };
  std::vector<position> all;
  for (std::uint32_t i = 0; i < r.regions.size(); ++i) {
    const std::uint64_t address = r.regions[i].address;
    const auto after = allocation_at.upper_bound(address);
    if (after != allocation_at.begin()) {
      const recorded_allocation& a = r.allocations[std::prev(after)->second];
      if (address - a.address < a.bytes) {
        all.push_back({std::prev(after)->second, address - a.address, i});
        continue;
      }
    }
    all.push_back({r.allocations.size(), i, i});
  }
  std::ranges::sort(all);
  std::vector<std::uint32_t> order;
  for (const position& x : all) order.push_back(x.region);
  return order;
}

}  // namespace

arena::arena(const program& p, const machine_model& m, distribution d, std::uint64_t chunk_bytes)
    : address_(p.of.regions.size()), home_(p.of.regions.size(), -1) {
  const auto nodes = static_cast<int>(m.hardware.nodes.size());
  fine_.begin = fine_.page_bytes = chunk_bytes;  // no region is at 0
  std::uint64_t chunks = 1;
  int turn = 0;
  for (std::uint32_t r : as_allocated(p.of)) {
    const std::uint64_t bytes = p.of.regions[r].bytes;
    address_[r] = chunks * chunk_bytes;
    chunks += std::max<std::uint64_t>(1, (bytes + chunk_bytes - 1) / chunk_bytes);
    if (d == distribution::coarse) home_[r] = static_cast<std::int16_t>(turn++ % nodes);
  }
  for (const recorded_region& r : p.of.regions) bytes_.push_back(r.bytes);
  fine_.bytes = (chunks - 1) * chunk_bytes;
  fine_.first_page = 1;
  if (d != distribution::fine) return;
  fine_.what = kith::distribution::fine;
  for (int n = 0; n < nodes; ++n) fine_.nodes.emplace_back(n);
}

void arena::settle(region_table& regions) const {
  for (std::size_t r = 0; r < address_.size(); ++r) {
    const auto* at = reinterpret_cast<const void*>(address_[r]);  // NOLINT(performance-no-int-to-ptr): a name alone
    region& made = regions[regions.find(at, bytes_[r])];
    if (home_[r] >= 0) made.place(node_id(home_[r]));
    if (!fine_.spreads()) continue;
    const bool one = bytes_[r] <= fine_.page_bytes;
    made.block.store(&fine_, relaxed);
    made.home.store(one ? fine_.node_at(address_[r]).value : region::several_homes, relaxed);
  }
}

node_id arena::node_of(std::uint32_t region, std::uint32_t chunk) const noexcept {
  if (!fine_.nodes.empty()) return fine_.node_at(address_[region] + chunk * fine_.page_bytes);
  return node_id(home_[region]);
}

}  // namespace kith::sim
