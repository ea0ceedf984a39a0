#include "sim/summary.hpp"

#include "table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace kith::tools {

namespace {

struct column {
  const char* name;
  const char* format;
  double (*of)(const sim::result&);  // not a number: unknown
  const char* range_format = format;
};

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
double count(std::uint64_t n) { return static_cast<double>(n); }

constexpr column of_time[] = {
    {"time\n[s]", "{:.4g}", [](const sim::result& r) { return r.seconds; }, "{:.2g}"},
    {"speed-up\n", "{:.2f}", [](const sim::result& r) { return r.speedup(); }},
    {"balance\n%", "{:.1f}", [](const sim::result& r) { return r.load_balance_percent; }},
    {"overhead\n%", "{:.2f}", [](const sim::result& r) { return r.overhead_percent(); }},
};
constexpr column of_nodes[] = {
    {"partition\n%", "{:.3g}", [](const sim::result& r) { return r.partition_percent(); }, "{:.2g}"},
    {"remote\n%", "{:.1f}", [](const sim::result& r) { return r.remote_access_percent; }},
    {"remote\nGB", "{:.3g}", [](const sim::result& r) { return count(r.remote_bytes) * 1e-9; }, "{:.2g}"},
};
constexpr column of_lines[] = {
    {"L1 misses\n[10^6]", "{:.4g}", [](const sim::result& r) { return count(r.lines->first_misses) * 1e-6; }, "{:.2g}"},
    {"L2 misses\n[10^6]", "{:.4g}", [](const sim::result& r) { return count(r.lines->second_misses) * 1e-6; },
     "{:.2g}"},
    {"network\nMB", "{:.4g}", [](const sim::result& r) { return count(r.network_bytes) * 1e-6; }, "{:.2g}"},
    {"energy\n[uJ]", "{:.4g}",
     [](const sim::result& r) { return r.lines->energy ? r.lines->energy->sum() * 1e-3 : unknown; }, "{:.2g}"},
};
constexpr column steals{"steals", "{:.0f}", [](const sim::result& r) { return count(r.total.steals); }};
constexpr column attempts{"attempts", "{:.0f}", [](const sim::result& r) { return count(r.total.steal_attempts); }};

std::vector<column> columns_of(bool lines) {
  std::vector<column> all(std::begin(of_time), std::end(of_time));
  const std::span<const column> data = lines ? std::span<const column>(of_lines) : of_nodes;
  all.insert(all.end(), data.begin(), data.end());
  all.push_back(steals);
  if (!lines) all.push_back(attempts);  // the table would be wider than a terminal
  return all;
}

}  // namespace

sample_cells cells_of(const sample& v, const char* format, const char* range_format) {
  if (std::isnan(v.mean)) return {"-", ""};
  return {fmt::format(fmt::runtime(format), v.mean),
          v.most > v.least ? "+-" + fmt::format(fmt::runtime(range_format), (v.most - v.least) / 2) : ""};
}

std::string table_of(const std::vector<std::string>& policies, const std::vector<sim::result>& results) {
  const std::vector<column> columns = columns_of(results.front().lines.has_value());
  const std::size_t seeds = results.size() / policies.size();
  std::vector<std::string> heads;
  for (const column& c : columns) heads.emplace_back(c.name);
  table t("policy", std::move(heads));
  for (std::size_t p = 0; p < policies.size(); ++p) {
    std::vector<std::string> means, ranges;
    for (const column& c : columns) {
      std::vector<double> values;
      for (std::size_t s = 0; s < seeds; ++s) values.push_back(c.of(results[p * seeds + s]));
      sample_cells cell = cells_of(sample_of(values), c.format, c.range_format);
      means.push_back(std::move(cell.mean));
      ranges.push_back(std::move(cell.range));
    }
    t.row(policies[p], std::move(means));
    if (std::ranges::any_of(ranges, [](const std::string& one) { return !one.empty(); })) t.row("", std::move(ranges));
  }
  return t.text();
}

}  // namespace kith::tools
