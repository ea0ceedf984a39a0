#include "analysis/task_graph.hpp"

#include <kith/access.hpp>

#include <algorithm>
#include <tuple>

namespace kith::analysis {

namespace {

/// Vertices without an edge show nothing, and would make the picture wide.
void drop_lone_vertices(task_graph& g, std::vector<std::int32_t>& block) {
  std::vector<std::int32_t> now(g.vertices.size(), -1);
  for (const auto& [from, to] : g.edges) now[static_cast<std::size_t>(from)] = now[static_cast<std::size_t>(to)] = 0;
  std::int32_t kept = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (now[i] < 0) continue;
    now[i] = kept++;
    g.vertices[static_cast<std::size_t>(now[i])] = g.vertices[i];
    block[static_cast<std::size_t>(now[i])] = block[i];
  }
  g.vertices.resize(static_cast<std::size_t>(kept));
  for (auto& [from, to] : g.edges) {
    from = now[static_cast<std::size_t>(from)];
    to = now[static_cast<std::size_t>(to)];
  }
}

}  // namespace

task_graph graph_of(const recording& r, const block_array& a, const block_shape& l, std::size_t most) {
  const std::vector<std::int32_t> index = indices_in(r, a);
  std::vector<std::int32_t> vertex_of(r.tasks.size(), -1);
  std::vector<std::int32_t> block;  // of each vertex: the first block that it writes
  task_graph g;
  for (std::size_t t = 0; t < r.tasks.size() && g.vertices.size() < most; ++t) {
    std::int32_t written = -1;
    for (std::uint64_t x = r.first_access[t]; x < r.first_access[t + 1] && written < 0; ++x) {
      if (static_cast<mode>(r.accesses[x].mode) != mode::in) written = index[r.accesses[x].region];
    }
    if (written < 0) continue;
    const auto me = static_cast<std::int32_t>(g.vertices.size());
    block.push_back(written);
    task_graph::vertex v{.task = static_cast<std::int32_t>(t)};
    std::vector<std::int32_t> before;
    for (std::uint64_t d = r.first_dependence[t]; d < r.first_dependence[t + 1]; ++d)
      before.push_back(vertex_of[static_cast<std::size_t>(r.dependences[d].before)]);
    std::ranges::sort(before);
    before.erase(std::ranges::unique(before).begin(), before.end());
    for (const std::int32_t b : before) {
      if (b < 0) continue;
      g.edges.emplace_back(b, me);
      v.depth = std::max(v.depth, g.vertices[static_cast<std::size_t>(b)].depth + 1);
    }
    vertex_of[t] = me;  // set after the loop: no task is before itself
    g.vertices.push_back(v);
  }
  drop_lone_vertices(g, block);
  std::vector<std::int32_t> order(g.vertices.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
  const auto rank = [&](std::int32_t i) {
    const auto [row, column] = l.at(block[static_cast<std::size_t>(i)]);
    return std::tuple(g.vertices[static_cast<std::size_t>(i)].depth, column - row, i);
  };
  std::ranges::sort(order, {}, rank);
  for (const std::int32_t i : order) {
    task_graph::vertex& v = g.vertices[static_cast<std::size_t>(i)];
    if (static_cast<std::size_t>(v.depth) == g.at_depth.size()) g.at_depth.push_back(0);
    v.rank = g.at_depth[static_cast<std::size_t>(v.depth)]++;
  }
  return g;
}

std::vector<std::int32_t> where_it_ran(const recording& r, const task_graph& g) {
  std::vector<std::int32_t> nodes;
  for (const task_graph::vertex& v : g.vertices) {
    const std::int32_t w = r.tasks[static_cast<std::size_t>(v.task)].worker;
    const bool ran = w >= 0 && static_cast<std::size_t>(w) < r.worker_node.size();
    nodes.push_back(ran ? r.worker_node[static_cast<std::size_t>(w)] : -1);
  }
  return nodes;
}

}  // namespace kith::analysis
