#include "sim/rows.hpp"

#include <optional>
#include <string>
#include <utility>

namespace kith::tools {

namespace {

/// The energy by part, or the reason that it is not known.
nlohmann::json energy_row(const sim::run_options& s, const sim::result& r, const machine_model& m) {
  const std::optional<sim::part_energies>& e = r.lines->energy;
  if (!e) {
    return {{"energy_nj", nullptr},
            {"energy_by_part_nj", nullptr},
            {"energy_missing", "machine " + m.hardware.name + " has no " + sim::missing_energies(m, s.hardware.used)}};
  }
  return {{"energy_nj", e->sum()},
          {"energy_by_part_nj",
           {{"l1", e->first},
            {"l2", e->second},
            {"directory", e->directory},
            {"memory", e->memory},
            {"network", e->network},
            {"unit", e->unit}}},
          {"energy_missing", nullptr}};
}

}  // namespace

nlohmann::json json_row(const sim::run_options& s, const sim::result& r, const machine_model& m) {
  nlohmann::json links = nlohmann::json::array();
  for (const sim::interconnect::link& l : r.links)
    links.push_back({{"from", l.from}, {"to", l.to}, {"data_bytes", l.data}, {"control_bytes", l.control}});
  const double first = r.total.first_steal_seconds;
  nlohmann::json all = {{"policy", s.policy},
                        {"seed", s.seed},
                        {"makespan_s", r.seconds},
                        {"one_core_s", static_cast<double>(r.one_core) * 1e-12},
                        {"speedup", r.speedup()},
                        {"load_balance_percent", r.load_balance_percent},
                        {"overhead_percent", r.overhead_percent()},
                        {"partition_percent", r.partition_percent()},
                        {"windows", r.windows},
                        {"partitioned_tasks", r.partitioned_tasks},
                        {"remote_access_percent", r.lines ? nlohmann::json() : nlohmann::json(r.remote_access_percent)},
                        {"remote_bytes", r.remote_bytes},
                        {"local_bytes", r.local_bytes},
                        {"migrated_bytes", r.migrated_bytes},
                        {"stall_s_per_task", r.stall_seconds_per_task()},
                        {"cache_hits", r.cache_hits},
                        {"cache_misses", r.cache_misses},
                        {"simulated_steps", r.steps},
                        {"simulated_events", r.events},
                        {"steals", r.total.steals},
                        {"steal_attempts", r.total.steal_attempts},
                        {"first_steal_s", first < 0 ? nlohmann::json() : nlohmann::json(first)},
                        {"network_bytes", r.network_bytes},
                        {"network_nj", r.network_nj},
                        {"unit_operations", r.unit_operations},
                        {"unit_busy_s", static_cast<double>(r.unit_busy) * 1e-12},
                        {"unit_spills", r.unit_spills},
                        {"links", std::move(links)}};
  if (r.lines) {
    all.update({{"l1_misses", r.lines->first_misses},
                {"l2_misses", r.lines->second_misses},
                {"lines_from_memory", r.lines->from_memory},
                {"lines_from_cores", r.lines->from_cores},
                {"upgrades", r.lines->upgrades},
                {"invalidations", r.lines->invalidations},
                {"written_back", r.lines->written_back},
                {"network_flits", r.lines->flits},
                {"cycles", r.lines->cycles},
                {"accesses", r.lines->touches},
                {"line_accesses", r.lines->accesses},
                {"line_accesses_per_second", r.lines->replayed_per_second}});
    all.update(energy_row(s, r, m));
  }
  return all;
}

}  // namespace kith::tools
