#include "calibrate/calibration.hpp"

#include "replay/schedule.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

struct pair_of_runs {
  std::uint64_t bytes, plain, cold, warm, hot;
  double ratio() const { return static_cast<double>(plain) / static_cast<double>(std::max(cold, hot)); }
};
using kind = std::pair<std::uint16_t, std::uint8_t>;  // type and size

/// A task that took this many times longer than others of its kind was interrupted, and is left out.
constexpr double disturbed = 3;

std::map<kind, std::vector<pair_of_runs>> by_kind(const recording& plain, const recording& calibrated) {
  std::unordered_map<std::uint64_t, std::size_t> by_identity;
  const std::vector<std::uint64_t> names = identities_of(plain), others = identities_of(calibrated);
  for (std::size_t t = 0; t < names.size(); ++t) by_identity.emplace(names[t], t);
  std::map<kind, std::vector<pair_of_runs>> all;
  for (const recorded_sample& s : calibrated.samples) {
    const auto at = by_identity.find(others[static_cast<std::size_t>(s.task)]);
    if (at == by_identity.end()) continue;
    const recorded_task& t = plain.tasks[at->second];
    std::uint64_t bytes = 0;
    for (std::uint64_t a = plain.first_access[at->second]; a < plain.first_access[at->second + 1]; ++a)
      bytes += plain.accesses[a].touched;
    if (bytes == 0 || t.work_ns == 0 || s.hot_ns == 0) continue;
    all[{t.type, static_cast<std::uint8_t>(std::bit_width(bytes) - 1)}].push_back(
        {bytes, t.work_ns, s.cold_ns, s.warm_ns, s.hot_ns});
  }
  return all;
}

}  // namespace

std::size_t add_calibration(recording& plain, const recording& calibrated, const core_rates& rates) {
  std::size_t used = 0;
  plain.calibrations.clear();
  for (auto& [of, samples] : by_kind(plain, calibrated)) {
    std::ranges::sort(samples, {}, &pair_of_runs::ratio);
    const double most = samples[samples.size() / 2].ratio() * disturbed;
    recorded_calibration row{.type = of.first, .size = of.second};
    for (const pair_of_runs& s : samples) {
      if (s.ratio() > most) break;
      ++row.samples;
      row.bytes += s.bytes;
      row.plain_ns += s.plain;
      row.cold_ns += s.cold;
      row.warm_ns += s.warm;
      row.hot_ns += s.hot;
    }
    used += row.samples;
    plain.calibrations.push_back(row);
  }
  if (used != 0) {
    plain.meta["core_gbs"] = fmt::format("{:.2f}", rates.memory);
    plain.meta["cache_gbs"] = fmt::format("{:.2f}", rates.last);
    plain.meta["cache_bytes"] = std::to_string(rates.last_bytes);
    plain.meta["near_bytes"] = std::to_string(rates.near_bytes);
    plain.meta["near_gbs"] = fmt::format("{:.2f}", rates.near);
  }
  return used;
}

}  // namespace kith::tools
