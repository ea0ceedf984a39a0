#include "memory/page_map.hpp"

#include <algorithm>

namespace kith {

std::uintptr_t page_map::share_begin(std::size_t i) const noexcept {
  return begin + bytes / page_bytes * i / nodes.size() * page_bytes;
}

node_id page_map::node_at(std::uintptr_t address) const noexcept {
  if (nodes.empty()) return {};
  if (nodes.size() == 1) return nodes.front();
  if (what == distribution::fine) return nodes[(address / page_bytes - first_page) % nodes.size()];
  const std::uint64_t page = (address - begin) / page_bytes, pages = bytes / page_bytes;
  // The last share that begins at or before the page: share i has pages from floor(pages * i / n) on.
  std::size_t i = static_cast<std::size_t>(page * nodes.size() / pages);
  while (i + 1 < nodes.size() && pages * (i + 1) / nodes.size() <= page) ++i;
  return nodes[i];
}

node_id page_map::node_of(std::uintptr_t address, std::uint64_t count) const noexcept {
  if (nodes.empty()) return {};
  const std::uintptr_t last = std::min(begin + bytes, address + std::max<std::uint64_t>(1, count)) - 1;
  const bool one = !spreads() || (what == distribution::block && node_at(address) == node_at(last)) ||
                   address / page_bytes == last / page_bytes;
  return one ? node_at(address) : node_id();
}

void page_map::add_bytes(std::uintptr_t address, std::uint64_t count, std::span<std::uint64_t> by_node,
                         std::uint64_t& unknown) const noexcept {
  if (address - begin >= bytes) {
    unknown += count;
    return;
  }
  const std::uint64_t inside = std::min<std::uint64_t>(count, begin + bytes - address);
  unknown += count - inside;
  const std::uintptr_t end = address + inside;
  if (nodes.empty()) {
    unknown += inside;
  } else if (nodes.size() == 1) {
    by_node[nodes.front().index()] += inside;
  } else if (what == distribution::fine) {
    // Whole rounds give each node the same number of bytes. Then come the remaining pages; the first and the
    // last may be partial.
    const std::uint64_t round = page_bytes * nodes.size(), rounds = inside / round;
    for (node_id n : nodes) by_node[n.index()] += rounds * page_bytes;
    for (std::uintptr_t at = address + rounds * round; at < end;) {
      const std::uintptr_t next = std::min(end, (at / page_bytes + 1) * page_bytes);
      by_node[node_at(at).index()] += next - at;
      at = next;
    }
  } else {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::uintptr_t from = std::max(address, share_begin(i));
      const std::uintptr_t to = std::min(end, i + 1 == nodes.size() ? begin + bytes : share_begin(i + 1));
      if (from < to) by_node[nodes[i].index()] += to - from;
    }
  }
}

}  // namespace kith
