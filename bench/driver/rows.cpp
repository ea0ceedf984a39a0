#include "rows.hpp"

#include "summary.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iostream>

namespace kith::bench {

namespace {

double rounded(double v) { return v < 10 ? std::round(v * 1000) / 1000 : std::round(v * 10) / 10; }

std::string text_of(const nlohmann::ordered_json& row, const char* key) {
  if (!row.contains(key) || row[key].is_null()) return "-";
  const auto& v = row[key];
  return v.is_string() ? v.get<std::string>() : v.is_number() ? fmt::format("{:g}", v.get<double>()) : v.dump();
}

}  // namespace

void add_summary(nlohmann::ordered_json& row, const std::vector<sample>& samples, const options& o) {
  std::vector<double> values, one_way;
  for (const sample& s : samples) {
    values.push_back(s.value);
    one_way.push_back((s.before.one_way_ns + s.after.one_way_ns) / 2);
  }
  const summary all = summary_of(values);
  row["median"] = rounded(all.median);
  row["min"] = rounded(all.min);
  row["max"] = rounded(all.max);
  row["rounds"] = samples.size();
  row["one_way_ns"] = rounded(summary_of(one_way).median);
  std::string state;
  nlohmann::ordered_json states;
  for (distance d : {distance::near, distance::mid, distance::far}) {
    std::vector<double> here;
    for (const sample& s : samples) {
      if (s.state() == d) here.push_back(s.value);
    }
    if (here.empty()) continue;
    const std::string name(name_of(d));
    state = state.empty() ? name : "mixed";
    states[name] = {{"median", rounded(summary_of(here).median)}, {"rounds", here.size()}};
  }
  row["state"] = state;
  row["states"] = states;
  row["realtime"] = o.realtime;
  row["quick"] = o.quick;
}

namespace {

void print_json(const std::vector<nlohmann::ordered_json>& rows) {
  std::cout << "[\n";
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::cout << "  " << rows[i].dump() << (i + 1 < rows.size() ? ",\n" : "\n");
  std::cout << "]\n";
}

}  // namespace

void print_with_workers(const std::vector<nlohmann::ordered_json>& rows, const options& o) {
  if (o.json) {
    print_json(rows);
    return;
  }
  fmt::print("{:<10} {:<26} {:>7} {:>10} {:>10} {:>10}  {:<10} {}\n", "system", "case", "workers", "median", "min",
             "max", "unit", "cores are");
  for (const auto& row : rows) {
    fmt::print("{:<10} {:<26} {:>7} {:>10} {:>10} {:>10}  {:<10} {}\n", text_of(row, "system"), text_of(row, "case"),
               text_of(row, "workers"), text_of(row, "median"), text_of(row, "min"), text_of(row, "max"),
               text_of(row, "unit"), text_of(row, "state"));
  }
}

void print(const std::vector<nlohmann::ordered_json>& rows, const options& o) {
  if (o.json) {
    print_json(rows);
    return;
  }
  fmt::print("{:<8} {:<15} {:>5} {:<9} {:>10} {:>10} {:>10}  {:<8} {}\n", "system", "case", "width", "prebuilt",
             "median", "min", "max", "unit", "cores are");
  for (const auto& row : rows) {
    const bool metg = row.contains("pattern");
    const std::string unit = metg ? text_of(row, "metric") + " " + text_of(row, "unit") : text_of(row, "unit");
    fmt::print("{:<8} {:<15} {:>5} {:<9} {:>10} {:>10} {:>10}  {:<8} {}{}\n", text_of(row, "system"),
               text_of(row, metg ? "pattern" : "case"), text_of(row, "width"), text_of(row, "prebuilt"),
               text_of(row, "median"), text_of(row, "min"), text_of(row, "max"), unit, text_of(row, "state"),
               metg ? "" : fmt::format(", {} bytes/task", text_of(row, "bytes_per_task")));
  }
}

}  // namespace kith::bench
