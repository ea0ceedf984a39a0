#include "engine/sim/calibrated.hpp"

#include "base/printable.hpp"
#include "engine/sim/memory.hpp"
#include "engine/sim/node_time.hpp"

#include <kith/access.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <numeric>
#include <utility>

namespace kith::sim {

namespace {

constexpr std::uint64_t chunk_size = 65536;

double number_in(const recording& r, const char* key) {
  const std::string text = r.meta_or(key, "");
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(number >= 1e-3 && number < 1e15))
    throw error(std::string("the recording is damaged: meta '") + key + "' is '" + printable(text, 80) +
                    "', expected a number above 0.001",
                error_kind::input);
  return number;
}

/// One core with its caches, as measured when the recording was calibrated.
machine_model recorded_core(const recording& r) {
  machine_model m;
  m.hardware = synthetic_machine("node:1 core:1");
  m.speeds = {1};
  m.core_gbs = m.memory_gbs = number_in(r, "core_gbs");
  m.cache_gbs = number_in(r, "cache_gbs");
  m.cache_bytes = static_cast<std::uint64_t>(number_in(r, "cache_bytes"));
  m.private_gbs = number_in(r, "near_gbs");
  m.private_bytes = static_cast<std::uint64_t>(number_in(r, "near_bytes"));
  if (m.core_gbs >= m.cache_gbs || m.cache_gbs > m.private_gbs)
    throw error("the recording is damaged: meta 'core_gbs' (memory), 'cache_gbs' and 'near_gbs' are not each faster",
                error_kind::input);
  return m;
}

/// The rows of a recording's calibration, by type and size.
class kinds {
 public:
  kinds(const recording& r, const machine_model& machine) : machine_(machine) {
    for (const recorded_calibration& c : r.calibrations) rows_[c.type][c.size] = &c;
  }
  /// The row of the nearest size, the smaller of two. Null if the type is not calibrated.
  const recorded_calibration* find(std::uint16_t type, std::uint64_t bytes) const {
    const auto rows = rows_.find(type);
    if (rows == rows_.end() || bytes == 0) return nullptr;
    const int size = static_cast<int>(std::bit_width(bytes)) - 1;
    const auto apart = [&](const auto& row) { return std::abs(int{row.first} - size); };
    return std::ranges::min_element(rows->second, {}, apart)->second;
  }
  /// The time that a level added to the hot time, divided by what streaming the bytes would have added.
  program::exposure_factors exposure(const recorded_calibration& c) const {
    const auto bytes = static_cast<double>(c.bytes);
    const bool fits = c.bytes / c.samples <= machine_.private_bytes;
    const double near = fits ? machine_.private_gbs : machine_.cache_gbs;
    const auto factor = [&](std::uint64_t took, double gbs) {
      const double more = took > c.hot_ns ? static_cast<double>(took - c.hot_ns) : 0;
      const double streams = bytes / gbs - bytes / near;
      return streams <= 0 ? 0u : static_cast<std::uint32_t>(std::min(1e9, 1024 * more / streams + 0.5));
    };
    return {factor(c.warm_ns, machine_.cache_gbs), factor(c.cold_ns, machine_.core_gbs)};
  }

 private:
  const machine_model& machine_;
  std::map<std::uint16_t, std::map<std::uint8_t, const recorded_calibration*>> rows_;
};

}  // namespace

void split_calibrated_times(program& p) {
  if (p.recorded.calibrations.empty()) return;
  const machine_model core = recorded_core(p.recorded);
  const kinds all(p.recorded, core);
  const data_rates rates(core);
  model_parts parts;
  parts.contention = false;
  memory data(p, core, distribution::first_touch, parts, chunk_size);
  p.exposure.resize(p.tasks());
  std::vector<std::size_t> order(p.tasks());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t t) { return std::pair(p.recorded.tasks[t].started, t); });
  for (std::size_t t : order) {
    const recorded_calibration* const kind = all.find(p.recorded.tasks[t].type, p.bytes[t]);
    if (kind != nullptr) p.exposure[t] = all.exposure(*kind);
    picoseconds took = 0;
    for (const recorded_access& a : p.recorded_accesses(t)) {
      for (std::uint64_t from = 0; from < a.touched; from += chunk_size) {
        const std::uint64_t bytes = std::min(chunk_size, a.touched - from);
        const fetched got = data.touch(data.first_chunk(a.region) + static_cast<std::uint32_t>(from / chunk_size),
                                       bytes, static_cast<mode>(a.mode) != mode::in, {node_id(0)}, 0);
        took += exposed_time(p.exposure[t], got, rates.nearest(p.bytes[t])(bytes));
      }
    }
    if (kind == nullptr) continue;
    const std::uint64_t whole = p.recorded.tasks[t].work_ns * 1000;
    const auto hot = static_cast<picoseconds>(std::min(
        1e18,
        static_cast<double>(kind->hot_ns) * 1000 * static_cast<double>(p.bytes[t]) / static_cast<double>(kind->bytes)));
    p.compute[t] = std::max(std::min(whole, hot), whole - std::min(whole, took));
  }
}

}  // namespace kith::sim
