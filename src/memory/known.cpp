// Kith's and the system's knowledge of a range of memory. For programs, tests and `kith doctor`.
#include "base/address.hpp"
#include "memory/memory_space.hpp"
#include "memory/numa_calls.hpp"
#include "memory/pages.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace kith {

std::vector<std::uint64_t> memory_space::known_bytes(const void* memory, std::size_t bytes) {
  std::vector<std::uint64_t> sums(on_.nodes.size() + 1);
  const std::span<std::uint64_t> by_node(sums.data(), on_.nodes.size());
  std::uint64_t& unknown = sums.back();
  if (on_.nodes.size() == 1) {
    sums.front() = bytes;
    return sums;
  }
  const std::optional<memory_block> b = block_table::of_process().find(memory);
  const auto between = [&](std::uintptr_t from, std::uintptr_t to) {
    if (from >= to) return;
    if (b && b->space == space_ && !b->at->nodes.empty()) {
      b->at->add_bytes(from, to - from, by_node, unknown);
    } else {
      unknown += to - from;
    }
  };
  std::vector<const region*> named;
  regions_.for_each_in(memory, bytes, [&](const region& r) { named.push_back(&r); });
  std::ranges::sort(named, {}, &region::address);
  auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t end = at + bytes;
  for (const region* r : named) {
    const auto begin = reinterpret_cast<std::uintptr_t>(r->address);
    if (begin < at) continue;  // inside the previous one
    between(at, begin);
    const std::uint64_t here = std::min<std::uint64_t>(r->bytes.load(relaxed), end - begin);
    unknown += view_.add_bytes(*r, here, by_node);
    at = begin + here;
  }
  between(at, end);
  // Data of workers on a node without memory is on the nearest node that has some.
  for (const machine::node& n : on_.nodes) {
    if (const node_id m = nearest(n.id); m != n.id) sums[m.index()] += std::exchange(sums[n.id.index()], 0);
  }
  return sums;
}

std::optional<page_census> memory_space::count(const void* memory, std::size_t bytes) const {
  if (on_.pretended || bytes == 0) return std::nullopt;
  const std::uint64_t page = page_size();
  const auto from = reinterpret_cast<std::uintptr_t>(memory) / page * page;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
  std::vector<void*> pages;
  for (std::uintptr_t at = from; at < end; at += page) pages.push_back(at_address(at));
  std::vector<int> nodes(pages.size());
  if (numa::where(pages, nodes) != 0) return std::nullopt;
  page_census c;
  c.on_node.resize(on_.nodes.size());
  const std::optional<memory_block> b = block_table::of_process().find(memory);
  for (std::size_t i = 0; i < pages.size(); ++i) {
    const node_id n = nodes[i] < 0 ? node_id() : node_of_system(nodes[i]);
    if (!n) {
      ++c.untouched;
      continue;
    }
    ++c.on_node[n.index()];
    if (!b || b->space != space_ || b->at->nodes.empty() || !b->at->contains(pages[i])) continue;
    c.elsewhere += b->at->node_at(reinterpret_cast<std::uintptr_t>(pages[i])) != n;
  }
  return c;
}

}  // namespace kith
