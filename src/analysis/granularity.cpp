#include "analysis/granularity.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace kith::analysis {

namespace {

constexpr double wanted_share = 0.1, least_part = 0.05;

using interval = std::pair<std::uint64_t, std::uint64_t>;

/// The times of the runs: those of the roots, or that of all tasks if there is no root. In order, without overlaps.
std::vector<interval> runs_of(const recording& r) {
  std::vector<interval> found, joined;
  interval all{~std::uint64_t{0}, 0};
  for (const recorded_task& t : r.tasks) {
    if (t.worker < 0) continue;
    if (t.has(recorded_task::root)) found.emplace_back(t.started, std::max(t.ended, t.completed));
    all = {std::min(all.first, t.started), std::max(all.second, t.ended)};
  }
  if (found.empty() && all.first < all.second) found.push_back(all);
  std::ranges::sort(found);
  for (const interval& i : found) {
    if (!joined.empty() && i.first <= joined.back().second) {
      joined.back().second = std::max(joined.back().second, i.second);
    } else {
      joined.push_back(i);
    }
  }
  return joined;
}

/// By worker: from the first activity that is recorded of it to the last. Its thread may have begun late.
std::vector<interval> known_of(const recording& r) {
  std::vector<interval> known(r.worker_node.size(), {~std::uint64_t{0}, 0});
  const auto add = [&](std::int32_t worker, std::uint64_t from, std::uint64_t to) {
    const auto w = static_cast<std::size_t>(worker);
    if (worker >= 0 && w < known.size()) known[w] = {std::min(known[w].first, from), std::max(known[w].second, to)};
  };
  for (const recorded_task& t : r.tasks) add(t.worker, t.started, t.ended);
  for (const recorded_idle& i : r.idles) add(i.worker, i.begun, i.ended);
  return known;
}

/// How much of [from, to) is within the runs.
std::uint64_t within(const std::vector<interval>& runs, std::uint64_t from, std::uint64_t to) {
  std::uint64_t sum = 0;
  for (auto at = std::ranges::lower_bound(runs, from, {}, &interval::second); at != runs.end() && at->first < to; ++at)
    sum += std::min(to, at->second) - std::max(from, at->first);
  return sum;
}

/// Rounds to one digit and zeros, for messages.
std::uint64_t about(double n) {
  const double unit = std::pow(10, std::floor(std::log10(n)));
  return static_cast<std::uint64_t>(std::llround(std::round(n / unit) * unit));
}

}  // namespace

granularity granularity_of(const recording& r) {
  if (r.meta_number("dry", 0) != 0)
    throw error("the recording is dry: its tasks were not run, so what they took is not known; record without KITH_DRY",
                error_kind::input);
  const std::vector<interval> runs = runs_of(r);
  double busy = 0;
  for (const auto& [from, to] : known_of(r)) {
    if (from < to) busy += static_cast<double>(within(runs, from, to));
  }
  for (const recorded_idle& i : r.idles) busy -= static_cast<double>(within(runs, i.begun, i.ended));
  for (const recorded_job& j : r.jobs) busy -= static_cast<double>(within(runs, j.begun, j.ended));

  struct sum {
    std::uint64_t tasks = 0, work = 0;
  };
  std::map<std::uint16_t, sum> by_type;
  granularity all;
  double work = 0;
  for (const recorded_task& t : r.tasks) {
    if (t.worker < 0 || t.has(recorded_task::fence) || t.has(recorded_task::skipped)) continue;
    work += static_cast<double>(t.work_ns);
    if (t.has(recorded_task::root)) continue;
    sum& total = by_type[t.type];
    ++total.tasks;
    total.work += t.work_ns;
    ++all.tasks;
  }
  if (all.tasks == 0 || busy <= 0) return all;
  const double overhead = std::max(0.0, busy - work);
  all.overhead_ns = overhead / static_cast<double>(all.tasks);
  all.overhead_share = overhead / busy;
  for (const auto& [type, total] : by_type) {
    type_granularity g{type, total.tasks, static_cast<double>(total.work) / static_cast<double>(total.tasks),
                       0,    1,           false};
    const double each = g.mean_ns + all.overhead_ns;
    if (each > 0) g.overhead_share = all.overhead_ns / each;
    if (g.overhead_share > wanted_share) {
      const double merged = (1 - wanted_share) / wanted_share * all.overhead_ns / std::max(1.0, g.mean_ns);
      g.merge = std::max<std::uint64_t>(2, about(merged));
    }
    g.matters = each * static_cast<double>(total.tasks) >= least_part * busy;
    all.types.push_back(g);
  }
  std::ranges::sort(all.types, {}, [](const type_granularity& g) { return std::pair(-g.overhead_share, g.type); });
  return all;
}

}  // namespace kith::analysis
