#include "placement/draw.hpp"

#include "numbers.hpp"
#include "placement/picture.hpp"
#include "svg.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kith::tools {

namespace {

using analysis::array_placement;
using analysis::block_shape;
using analysis::placed_block;

/// Where cells are drawn. A long line is folded like text.
struct sheet {
  std::int32_t rows, columns;
  std::pair<std::int32_t, std::int32_t> at(const block_shape& l, std::int32_t i) const {
    return l.what == block_shape::line ? std::pair{i / columns, i % columns} : l.at(i);
  }
};

constexpr std::int32_t longest_column = 64;

sheet sheet_of(const block_shape& l) {
  if (l.what != block_shape::line || l.rows <= longest_column) return {l.rows, l.columns};
  const auto columns = static_cast<std::int32_t>(std::ceil(std::sqrt(l.rows)));
  return {(l.rows + columns - 1) / columns, columns};
}

/// One path for all cells of a color. Neighbours in a row are merged into one rectangle.
std::string cells_of(const std::vector<std::vector<std::int32_t>>& home, std::int32_t node) {
  std::string path;
  for (std::size_t row = 0; row < home.size(); ++row) {
    for (std::size_t from = 0; from < home[row].size();) {
      std::size_t to = from;
      while (to < home[row].size() && home[row][to] == node) ++to;
      if (to > from) path += fmt::format("M{} {}h{}v1h-{}z", from, row, to - from, to - from);
      from = to > from ? to : from + 1;
    }
  }
  return path;
}

std::string cells(const block_shape& l, const sheet& s, const array_placement& p, double side_x, double side_y) {
  constexpr std::int32_t nothing = -2;  // no cell
  std::vector<std::vector<std::int32_t>> home(static_cast<std::size_t>(s.rows),
                                              std::vector<std::int32_t>(static_cast<std::size_t>(s.columns), nothing));
  std::vector<std::string> spots(p.nodes);
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const placed_block& b = p.blocks[i];
    const auto [row, column] = s.at(l, static_cast<std::int32_t>(i));
    home[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)] = b.home;
    if (b.ran >= 0 && b.ran != b.home)
      spots[static_cast<std::size_t>(b.ran)] += fmt::format("M{} {:g}h.4v.4h-.4z", column + 0.3, row + 0.3);
  }
  std::string svg = fmt::format("<g transform=\"scale({:.4g} {:.4g})\">\n", side_x, side_y);
  for (std::int32_t n = -1; n < static_cast<std::int32_t>(p.nodes); ++n) {
    const std::string path = cells_of(home, n);
    if (path.empty()) continue;
    svg += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n",
                       n < 0 ? "#eee" : color_of(static_cast<std::size_t>(n), p.nodes), path);
  }
  for (std::size_t n = 0; n < p.nodes; ++n) {
    if (!spots[n].empty()) svg += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", color_of(n, p.nodes), spots[n]);
  }
  // Lines between cells, thin at any scale.
  std::string lines;
  for (std::int32_t c = 1; c < s.columns; ++c) lines += fmt::format("M{} 0v{}", c, s.rows);
  for (std::int32_t r = 1; r < s.rows; ++r) lines += fmt::format("M0 {}h{}", r, s.columns);
  svg += fmt::format("<path fill=\"none\" stroke=\"#fff\" stroke-width=\".05\" d=\"{}\"/>\n</g>\n", lines);
  return svg;
}

}  // namespace

double tasks_at_home_percent(const array_placement& p) {
  std::uint64_t all = 0, home = 0;
  for (const placed_block& b : p.blocks) {
    all += b.tasks;
    home += b.tasks_at_home;
  }
  return all == 0 ? 0 : 100 * static_cast<double>(home) / static_cast<double>(all);
}

std::string draw(const std::string& title, const block_shape& l, const std::vector<placed_run>& runs) {
  const sheet s = sheet_of(l);
  const double longer = std::max(s.rows, s.columns);
  // Blocks in one column are rows of something, so they are as wide as the panel.
  const bool line = s.columns == 1;
  const double side_x = line ? panel_width : panel_width / longer;
  const double side_y = line ? panel_width / s.rows : panel_width / longer;
  std::vector<panel> panels;
  std::size_t nodes = 0;
  for (const placed_run& r : runs) {
    nodes = std::max(nodes, r.where.nodes);
    panels.push_back({r.policy,
                      cells(l, s, r.where, side_x, side_y),
                      {fmt::format("fullest node {:.2f} of the mean", r.where.balance),
                       fmt::format("{:.0f} % of neighbours apart", r.where.cut_percent),
                       fmt::format("{:.0f} % of tasks at home", tasks_at_home_percent(r.where))}});
  }
  return side_by_side(title, panels, side_y * s.rows, nodes);
}

std::string as_text(const block_shape& l, const array_placement& p) {
  constexpr std::int32_t most_columns = 72, most_rows = 48;
  static const std::string names = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  sheet s = sheet_of(l);
  if (l.what == block_shape::line) {  // folded like text
    s.columns = std::min(l.rows, most_columns);
    s.rows = (l.rows + s.columns - 1) / s.columns;
  }
  if (s.columns > most_columns || s.rows > most_rows) return {};
  std::vector<std::string> rows(static_cast<std::size_t>(s.rows));
  for (std::size_t i = 0; i < p.blocks.size(); ++i) {
    const auto [row, column] = s.at(l, static_cast<std::int32_t>(i));
    const std::int32_t home = p.blocks[i].home;
    std::string& line = rows[static_cast<std::size_t>(row)];
    line.resize(std::max(line.size(), static_cast<std::size_t>(column) + 1), ' ');
    line[static_cast<std::size_t>(column)] = home < 0 ? '.'
                                             : static_cast<std::size_t>(home) < names.size()
                                                 ? names[static_cast<std::size_t>(home)]
                                                 : '+';
  }
  std::string text;
  for (const std::string& row : rows) text += "  " + row + "\n";
  return text;
}

std::string described(const block_shape& l, const analysis::block_array& a) {
  const std::string each = a.block_bytes == 0 ? "of different sizes" : "of " + in_bytes(a.block_bytes);
  const std::string how = l.given ? "" : l.linked == 0 ? ", in the order of addresses" : ", found from the dependences";
  const std::string form = l.what == block_shape::line       ? "one after the other"
                           : l.what == block_shape::triangle ? fmt::format("a triangle of {} rows", l.rows)
                                                             : fmt::format("{} rows of {}", l.rows, l.columns);
  return fmt::format("{} {}: {}{}", counted(a.regions.size(), "block"), each, form, how);
}

}  // namespace kith::tools
