#include "analysis/placement.hpp"

#include "analysis/block_shape.hpp"
#include "analysis/homes.hpp"

#include <kith/access.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <numeric>
#include <set>

namespace kith::analysis {

namespace {

/// The index of the largest value, the first of equals; -1 if all are 0.
std::int32_t largest(const std::vector<std::uint64_t>& all) {
  const auto most = std::ranges::max_element(all);
  return most == all.end() || *most == 0 ? -1 : static_cast<std::int32_t>(most - all.begin());
}

}  // namespace

array_placement place_array(const recording& r, const block_array& a) {
  const home_history homes(r);
  constexpr std::size_t most_cells = std::size_t{1} << 27;  // of 8 bytes; each block has two for each node
  if (homes.nodes() * a.regions.size() > most_cells)
    throw error("the array has " + std::to_string(a.regions.size()) + " blocks on " + std::to_string(homes.nodes()) +
                " memory nodes: too many to be shown; expected a smaller array (--array)");
  array_placement p{.nodes = homes.nodes()};
  p.bytes.assign(p.nodes, 0);
  p.tasks.assign(p.nodes, 0);
  for (const std::uint32_t region : a.regions) {
    region_homes where = homes.at_end(region);
    p.nowhere += where.nowhere;
    for (std::size_t n = 0; n < p.nodes; ++n) p.bytes[n] += where.bytes[n];
    const std::int32_t home = largest(where.bytes);
    const bool spread = std::ranges::count(where.bytes, std::uint64_t{0}) + 1 < static_cast<std::ptrdiff_t>(p.nodes);
    p.blocks.push_back({.region = region, .bytes = std::move(where.bytes), .home = home, .spread = spread});
  }
  const std::vector<std::int32_t> index = indices_in(r, a);
  std::vector<std::vector<std::uint64_t>> ran(p.blocks.size(), std::vector<std::uint64_t>(p.nodes));
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    const std::int32_t w = r.tasks[t].worker;
    if (w < 0 || static_cast<std::size_t>(w) >= r.worker_node.size()) continue;
    const auto node = static_cast<std::size_t>(r.worker_node[static_cast<std::size_t>(w)]);
    std::set<std::int32_t> written;
    for (std::uint64_t x = r.first_access[t]; x < r.first_access[t + 1]; ++x) {
      const std::int32_t b = index[r.accesses[x].region];
      if (b >= 0 && static_cast<mode>(r.accesses[x].mode) != mode::in) written.insert(b);
    }
    p.tasks[node] += written.empty() ? 0 : 1;
    for (const std::int32_t b : written) {
      placed_block& block = p.blocks[static_cast<std::size_t>(b)];
      ++ran[static_cast<std::size_t>(b)][node];
      ++block.tasks;
      block.tasks_at_home += block.home == static_cast<std::int32_t>(node) ? 1 : 0;
    }
  }
  for (std::size_t b = 0; b < p.blocks.size(); ++b) p.blocks[b].ran = largest(ran[b]);
  const std::set<std::int16_t> inhabited(r.worker_node.begin(), r.worker_node.end());
  const auto all = static_cast<double>(std::accumulate(p.bytes.begin(), p.bytes.end(), std::uint64_t{0}));
  if (all > 0 && !inhabited.empty())
    p.balance = static_cast<double>(std::ranges::max(p.bytes)) * static_cast<double>(inhabited.size()) / all;
  double links = 0, cut = 0;
  for (const block_link& l : links_of(r, a)) {
    const std::int32_t from = p.blocks[static_cast<std::size_t>(l.from)].home;
    const std::int32_t to = p.blocks[static_cast<std::size_t>(l.to)].home;
    links += static_cast<double>(l.count);
    if (from != to) cut += static_cast<double>(l.count);
  }
  p.cut_percent = links == 0 ? 0 : 100 * cut / links;
  return p;
}

}  // namespace kith::analysis
