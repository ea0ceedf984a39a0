// Uses a recording as the verbs do: reads, examines and replays it. A kith::error is a valid answer;
// anything else is a fault.
#pragma once

#include "analysis/address_comparison.hpp"
#include "analysis/block_shape.hpp"
#include "analysis/find_task.hpp"
#include "analysis/homes.hpp"
#include "analysis/place_counts.hpp"
#include "analysis/placement.hpp"
#include "analysis/task_graph.hpp"
#include "analysis/touch_check.hpp"
#include "analysis/why.hpp"
#include "engine/sim/loops.hpp"
#include "engine/sim/recorded_places.hpp"
#include "engine/sim/simulation.hpp"
#include "recording/check.hpp"
#include "recording/file.hpp"
#include "replay/choose.hpp"
#include "replay/schedule.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace kith::test {

/// For a file that could be read, which of the uses had a result.
struct uses {
  bool read = false, explained = false, placed = false, replayed = false;
};

template <class Use>
bool has_result(Use&& use) {
  try {
    use();
    return true;
  } catch (const error&) {
    return false;
  }
}

/// `kith why`, for some tasks.
inline void explain_some(const recording& r) {
  const analysis::data_costs costs(r);
  const std::size_t step = std::max<std::size_t>(1, r.tasks.size() / 6);
  for (std::size_t t = 0; t < r.tasks.size(); t += step) analysis::explain(r, static_cast<std::int32_t>(t), costs);
  for (const char* name : {"step:1", "key:14", "0"}) has_result([&] { analysis::find_task(r, name); });
}

/// `kith check`, and the comparison of `kith record --addresses`. Streams of very many touches are left out, because
/// each touch is examined, which takes long without being a fault.
inline void check_addresses(const recording& r) {
  std::uint64_t touches = 0;
  for (const recorded_stream& s : r.streams) touches += s.touches;
  if (touches > 1000000) return;
  analysis::check_touches(r);
  analysis::compare_addresses(r, r, 3);
}

/// `kith placement`.
inline void place_all(const recording& r) {
  analysis::counts_of_places(r);
  for (const analysis::block_array& a : analysis::arrays_of(r)) {
    const analysis::block_shape l = analysis::find_shape(a.regions.size(), analysis::links_of(r, a));
    analysis::place_array(r, a);
    analysis::where_it_ran(r, analysis::graph_of(r, a, l, 100));
  }
}

/// `kith sim`; `choice` selects how.
inline void replay(recording r, const machine_model& on, std::uint8_t choice, const std::string& file) {
  constexpr std::uint64_t most_modelled = std::uint64_t{1} << 28;
  std::uint64_t bytes = 0;
  for (const recorded_access& a : r.accesses) bytes += a.touched;
  for (const recorded_region& g : r.regions) bytes += g.bytes;
  const sim::program p = bytes < most_modelled || r.calibrations.empty() ? sim::program_of(std::move(r))
                                                                         : throw error("takes too long to be modelled");
  const std::vector<policy_entry> policies = choosable_policies();
  const policy_entry& by = policies[choice % policies.size()];
  sim::run_options s;
  s.policy = std::string(by.name) + (by.needs_file() ? ":file=" + file : "");
  s.seed = 1;
  s.throttle = 4;
  s.fidelity = bytes < most_modelled && choice < 128 ? sim::fidelity::block : sim::fidelity::abstract;
  constexpr sim::distribution spread[] = {sim::distribution::first_touch, sim::distribution::fine,
                                          sim::distribution::coarse,      sim::distribution::recorded,
                                          sim::distribution::regions,     sim::distribution::colors};
  s.distribution = spread[choice / policies.size() % std::size(spread)];
  s.keep_schedule = true;
  sim::use_recorded_places(s, p, 1);
  const recording kept = sim::simulate(p, on, s).schedule;
  try {
    check_recording(kept, "the simulated run");
  } catch (const error& e) {
    throw std::logic_error(std::string("what a simulation keeps is no recording: ") + e.what());
  }
  if (choice % 16 == 0) has_result([&] { sim::simulate_loops(p, on, s, sim::loop_schedule::static_); });
}

inline uses use_recording(const std::string& file, const machine_model& on, std::uint8_t choice) {
  uses u;
  recording r;
  u.read = has_result([&] { r = read_recording(file); });
  if (!u.read) return u;
  u.explained = has_result([&] { explain_some(r); });
  u.placed = has_result([&] { place_all(r); });
  has_result([&] { check_addresses(r); });
  has_result([&] { schedule_of(r); });
  u.replayed = has_result([&] { replay(std::move(r), on, choice, file); });
  return u;
}

}  // namespace kith::test
