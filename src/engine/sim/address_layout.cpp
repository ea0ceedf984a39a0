#include "engine/sim/address_layout.hpp"

#include "base/round_up.hpp"
#include "memory/memory_space.hpp"

#include <algorithm>
#include <map>

namespace kith::sim {

namespace {

using kind = kith::distribution::kind;

constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
constexpr std::uintptr_t first_address = std::uintptr_t{1} << 40;
constexpr std::uintptr_t recorded_addresses = std::uintptr_t{1} << 60;  // of regions outside of allocations

/// The kind of an allocation under the distribution chosen for the simulation.
kind wanted(const recorded_allocation& a, distribution d) {
  switch (d) {
    case distribution::fine: return kind::fine;
    case distribution::coarse: return kind::coarse;
    case distribution::block: return kind::block;
    case distribution::recorded: return static_cast<kind>(a.distribution);
    case distribution::first_touch:
    case distribution::regions:
    case distribution::colors: break;
  }
  return kind::system;
}

/// For each region, the allocation that contained it when a task first named it; -1: none.
std::vector<std::int32_t> enclosing(const recording& r) {
  std::vector<std::int32_t> found(r.regions.size(), -1);
  std::vector<bool> named(r.regions.size());
  const auto allocation = [&](std::size_t i) -> const recorded_allocation& { return r.allocations[i]; };
  std::map<std::uint64_t, std::size_t> given;  // by address; a newer allocation replaces those that it overlaps
  std::size_t next = 0;
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    const std::uint64_t now = r.tasks[t].created;
    for (; next != r.allocations.size() && allocation(next).at <= now; ++next) {
      const recorded_allocation& a = allocation(next);
      auto at = given.lower_bound(a.address);
      if (at != given.begin() &&
          allocation(std::prev(at)->second).address + allocation(std::prev(at)->second).bytes > a.address)
        --at;
      while (at != given.end() && at->first < a.address + a.bytes) at = given.erase(at);
      given.emplace(a.address, next);
    }
    for (std::uint64_t i = r.first_access[t]; i < r.first_access[t + 1]; ++i) {
      const std::uint32_t region = r.accesses[i].region;
      if (named[region]) continue;
      named[region] = true;
      const auto after = given.upper_bound(r.regions[region].address);
      if (after == given.begin()) continue;
      const recorded_allocation& a = allocation(std::prev(after)->second);
      const bool gone = a.released != 0 && a.released < now;
      if (!gone && r.regions[region].address - a.address < a.bytes)
        found[region] = static_cast<std::int32_t>(std::prev(after)->second);
    }
  }
  return found;
}

}  // namespace

address_layout::address_layout(const program& p, const machine& on, std::span<const node_id> worker_nodes,
                               distribution d, std::uint64_t piece)
    : block_of_(enclosing(p.recorded)) {
  const memory_nodes nodes(on, worker_nodes);
  const auto count = static_cast<std::int64_t>(on.nodes.size());
  std::uintptr_t begin = first_address;
  std::size_t coarse = 0;
  auto member = p.members.begin();
  for (const recorded_allocation& a : p.recorded.allocations) {
    while (blocks_.size() == member->end_allocation) ++member;
    page_map& b = blocks_.emplace_back();
    b.page_bytes = a.huge ? round_up(huge_page, piece) : piece;
    b.begin = begin = round_up(begin, b.page_bytes);
    b.bytes = round_up(std::max<std::uint64_t>(1, a.bytes), b.page_bytes);
    begin += b.bytes;
    b.what = wanted(a, d);
    switch (b.what) {
      case kind::fine:
        b.nodes = nodes.dealt();
        b.first_page = b.begin / b.page_bytes;
        break;
      case kind::block: b.nodes = nodes.in_turn(); break;
      case kind::coarse: b.nodes = {nodes.in_turn()[coarse++ % nodes.in_turn().size()]}; break;
      case kind::local:
      case kind::at_node:  // the node's number is scaled from the recorded machine to this one
        if (a.node >= 0)
          b.nodes = {nodes.nearest(node_id(static_cast<int>(a.node % member->nodes * count / member->nodes)))};
        break;
      case kind::standard:
      case kind::system:
      case kind::deferred: break;
    }
  }
  for (std::uint32_t r = 0; r < block_of_.size(); ++r) {
    std::int32_t& block = block_of_[r];
    if (block < 0) {
      address_.push_back(recorded_addresses + p.recorded.regions[r].address);
      continue;
    }
    const recorded_allocation& a = p.recorded.allocations[static_cast<std::size_t>(block)];
    const page_map& b = blocks_[static_cast<std::size_t>(block)];
    address_.push_back(b.begin + (p.recorded.regions[r].address - a.address));
    if (b.nodes.empty() && b.what != kind::deferred) block = -1;
  }
}

}  // namespace kith::sim
