#include "paper/plot.hpp"

#include "base/nearest.hpp"
#include "machine/model.hpp"
#include "picture/chart.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kith::tools {

namespace {

using rows_of_metric = std::vector<const paper_row*>;

/// The rows of a metric; of results by program and cores only the means.
rows_of_metric rows_of(const reproduced& r, const std::string& metric) {
  rows_of_metric rows;
  std::vector<std::string> names;
  for (const paper_row& row : r.rows) {
    if (std::ranges::find(names, row.metric) == names.end()) names.push_back(row.metric);
  }
  const bool speed = std::ranges::find(names, "speedup") != names.end();
  const std::string shown = !metric.empty() ? metric : speed ? "speedup" : names.front();
  for (const paper_row& row : r.rows) {
    if (row.metric == shown && (row.program.empty() || row.program == "mean")) rows.push_back(&row);
  }
  if (rows.empty()) throw error("--metric: " + no_such("metric", metric, names));
  return rows;
}

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() && end == text.data() + text.size();
}

std::vector<std::string> distinct(const rows_of_metric& rows, std::string paper_row::* what) {
  std::vector<std::string> all;
  for (const paper_row* row : rows) {
    if (std::ranges::find(all, row->*what) == all.end()) all.push_back(row->*what);
  }
  return all;
}

std::string spaced(std::string name) {
  std::ranges::replace(name, '_', ' ');
  return name;
}

/// The statements that the paper makes instead of values: each once, with its subject.
std::vector<std::string> statements(const rows_of_metric& rows) {
  std::vector<std::string> notes;
  for (const std::string& said : distinct(rows, &paper_row::paper_says)) {
    if (said.empty()) continue;
    std::vector<std::string> series, places;
    for (const paper_row* row : rows) {
      if (row->paper_says != said) continue;
      if (std::ranges::find(series, row->series) == series.end()) series.push_back(row->series);
      if (std::ranges::find(places, row->x) == places.end()) places.push_back(row->x);
    }
    notes.push_back(fmt::format("the paper on {} ({}): {}", fmt::join(series, ", "), fmt::join(places, ", "), said));
  }
  return notes;
}

}  // namespace

std::string draw_paper(const reproduction& about, const reproduced& r, const std::string& metric) {
  const rows_of_metric rows = rows_of(r, metric);
  const std::vector<std::string> places = distinct(rows, &paper_row::x), series = distinct(rows, &paper_row::series);
  const bool curves = places.size() > 1 && std::ranges::all_of(places, is_number);
  const bool printed = std::ranges::any_of(rows, [](const paper_row* row) { return row->paper.has_value(); });
  chart c{.title = fmt::format("{} paper, {}", about.paper, about.what),
          .subtitle = fmt::format("{}, simulated on {}", spaced(rows.front()->metric), model_by_name(r.machine).title),
          .parts = {},
          .along = "cores",
          .notes = statements(rows)};
  if (!printed && c.notes.empty()) c.notes.emplace_back("the paper prints no value of what is shown");
  for (const std::string& part : curves ? series : places) {
    c.parts.push_back({part, {}});
    for (const paper_row* row : rows) {
      if ((curves ? row->series : row->x) != part) continue;
      const auto color = static_cast<std::size_t>(std::ranges::find(series, row->series) - series.begin());
      c.parts.back().values.push_back({curves ? row->x : row->series,
                                       {row->kith, row->kith, row->kith},
                                       row->paper,
                                       series.size() > 8 ? 0 : color});
    }
  }
  return curves ? draw_curves(c) : draw_bars(c);
}

}  // namespace kith::tools
