#include "placement/draw_graph.hpp"

#include "placement/picture.hpp"
#include "svg.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace kith::tools {

namespace {

using analysis::task_graph;

struct scale {
  double across, down;
  std::pair<double, double> at(const task_graph& g, std::size_t i) const {
    const task_graph::vertex& v = g.vertices[i];
    const double middle = (g.at_depth[static_cast<std::size_t>(v.depth)] - 1) / 2.0;
    return {panel_width / 2 + (v.rank - middle) * across, (v.depth + 0.5) * down};
  }
};

std::string drawing(const task_graph& g, const std::vector<std::int32_t>& ran, std::size_t nodes, const scale& s) {
  std::string near, far;
  for (const auto& [from, to] : g.edges) {
    const auto [x, y] = s.at(g, static_cast<std::size_t>(from));
    const auto [p, q] = s.at(g, static_cast<std::size_t>(to));
    const bool apart = ran[static_cast<std::size_t>(from)] != ran[static_cast<std::size_t>(to)];
    (apart ? far : near) += fmt::format("M{:.0f} {:.0f}L{:.0f} {:.0f}", x, y, p, q);
  }
  std::string svg = fmt::format("<path fill=\"none\" stroke=\"#ccc\" stroke-width=\".5\" d=\"{}\"/>\n", near);
  svg += fmt::format("<path fill=\"none\" stroke=\"#c00\" stroke-width=\".5\" d=\"{}\"/>\n", far);
  const double dot = std::clamp(std::min(s.across, s.down) * 0.7, 1.0, 8.0);
  for (std::int32_t n = -1; n < static_cast<std::int32_t>(nodes); ++n) {
    std::string dots;  // lines of length 0 with round ends
    for (std::size_t i = 0; i < g.vertices.size(); ++i) {
      const auto [x, y] = s.at(g, i);
      if (ran[i] == n) dots += fmt::format("M{:.0f} {:.0f}h0", x, y);
    }
    if (dots.empty()) continue;
    svg += fmt::format("<path stroke-linecap=\"round\" stroke=\"{}\" stroke-width=\"{:.1f}\" d=\"{}\"/>\n",
                       n < 0 ? "#eee" : color_of(static_cast<std::size_t>(n), nodes), dot, dots);
  }
  return svg;
}

}  // namespace

double edges_apart_percent(const task_graph& g, const std::vector<std::int32_t>& ran) {
  const auto apart = std::ranges::count_if(g.edges, [&](const auto& e) {
    return ran[static_cast<std::size_t>(e.first)] != ran[static_cast<std::size_t>(e.second)];
  });
  return g.edges.empty() ? 0 : 100 * static_cast<double>(apart) / static_cast<double>(g.edges.size());
}

std::string draw_graph(const std::string& title, const task_graph& g, const std::vector<placed_run>& runs) {
  constexpr double most_down = 20, highest = 480;
  const double deep = static_cast<double>(std::max<std::size_t>(1, g.at_depth.size()));
  const std::int32_t widest = g.at_depth.empty() ? 1 : std::ranges::max(g.at_depth);
  const scale s{std::min(20.0, panel_width / widest), std::min(most_down, highest / deep)};
  std::vector<panel> panels;
  std::size_t nodes = 0;
  for (const placed_run& r : runs) nodes = std::max(nodes, r.where.nodes);
  for (const placed_run& r : runs) {
    panels.push_back({r.policy,
                      drawing(g, r.ran, nodes, s),
                      {fmt::format("{:.0f} % of dependences between nodes", edges_apart_percent(g, r.ran))}});
  }
  return side_by_side(title, panels, s.down * deep, nodes);
}

}  // namespace kith::tools
