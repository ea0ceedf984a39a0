#include "partition/graph.hpp"

#include <algorithm>
#include <tuple>

namespace kith::partition {

graph graph_of(std::vector<std::int32_t> loads, std::vector<edge> edges) {
  std::erase_if(edges, [](const edge& e) { return e.a == e.b; });
  const std::size_t half = edges.size();
  edges.reserve(2 * half);
  for (std::size_t i = 0; i < half; ++i) {
    edges[i].weight = std::max<std::int64_t>(edges[i].weight, 1);
    edges.push_back({edges[i].b, edges[i].a, edges[i].weight});
  }
  std::ranges::sort(edges, {}, [](const edge& e) { return std::tuple(e.a, e.b); });
  graph g;
  g.first.assign(loads.size() + 1, 0);
  g.load = std::move(loads);
  g.arcs.reserve(edges.size());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const edge& e = edges[i];
    if (i != 0 && edges[i - 1].a == e.a && edges[i - 1].b == e.b) {
      g.arcs.back().weight += e.weight;
    } else {
      g.arcs.push_back({e.b, e.weight});
      ++g.first[static_cast<std::size_t>(e.a) + 1];
    }
  }
  for (std::size_t v = 0; v < g.load.size(); ++v) g.first[v + 1] += g.first[v];
  return g;
}

graph scaled(graph g, std::int64_t most) {
  const auto sum_over = [&](std::int64_t self) {
    std::int64_t sum = 0;
    for (const graph::arc& a : g.arcs) sum += std::max<std::int64_t>(a.weight / self, 1);
    return sum;
  };
  std::int64_t self = 1;
  const auto arcs = static_cast<std::int64_t>(g.arcs.size());
  while (sum_over(self) > std::max(most, arcs)) self *= 2;
  for (graph::arc& a : g.arcs) a.weight = std::max<std::int64_t>(a.weight / self, 1);
  return g;
}

}  // namespace kith::partition
