// kith sim: runs a recording on a modelled machine under one policy or several.
#include "verbs.hpp"

#include "analysis/addresses.hpp"
#include "base/printable.hpp"
#include "command_line/command_line.hpp"
#include "engine/sim/combine.hpp"
#include "engine/sim/line_filter.hpp"
#include "engine/sim/recorded_places.hpp"
#include "json_text.hpp"
#include "machine/hosts.hpp"
#include "numbers.hpp"
#include "output.hpp"
#include "picture/chart.hpp"
#include "policy/list.hpp"
#include "policy_library.hpp"
#include "progress.hpp"
#include "recording/file.hpp"
#include "sim/options.hpp"
#include "sim/rows.hpp"
#include "sim/runs.hpp"
#include "sim/summary.hpp"
#include "sim/together.hpp"
#include "svg.hpp"
#include "terminal.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

namespace kith::tools {

namespace {

/// Prints the values that the machine's description calls fitted, if there are any.
void print_fitted(const machine_model& m) {
  const auto fitted = [](const auto& source) { return source.second.starts_with("fitted"); };
  if (std::ranges::none_of(m.sources, fitted)) return;
  fmt::print("\n{}\n", styled("Fitted in this model (kith machines " + printable(m.hardware.name) + " says to what):",
                              tone::faint));
  for (const auto& source : m.sources) {
    if (fitted(source)) fmt::print("  {:28} {}\n", printable(source.first), folded(printable(source.second), 31));
  }
}

/// The title of the run: its files, without folders.
std::string title_of(const std::vector<std::string>& files) {
  std::vector<std::string> stems;
  for (const std::string& f : files) stems.push_back(std::filesystem::path(f).stem().string());
  return fmt::format("{}", fmt::join(stems, " + "));
}

/// Draws the speed of each policy, and the data that it moves.
std::string draw_runs(const sim_options& o, const machine_model& m, const std::vector<std::string>& policies,
                      const std::vector<sim::result>& results) {
  const auto seeds = static_cast<std::size_t>(o.seeds);
  chart c{.title = fmt::format("{} on {}", title_of(o.files), m.title),
          .subtitle = o.seeds > 1 ? fmt::format("simulated, means of {} seeds", o.seeds) : "simulated",
          .parts = {{"speed-up over one core", {}}, {"moved between nodes [GB]", {}}},
          .one_scale = false};
  for (std::size_t p = 0; p < policies.size(); ++p) {
    std::vector<double> speedups, bytes;
    for (std::size_t s = 0; s < seeds; ++s) {
      speedups.push_back(results[p * seeds + s].speedup());
      bytes.push_back(static_cast<double>(results[p * seeds + s].remote_bytes) * 1e-9);
    }
    c.parts[0].values.push_back({policies[p], sample_of(speedups)});
    c.parts[1].values.push_back({policies[p], sample_of(bytes)});
  }
  return draw_bars(c);
}

/// Without --fidelity: block, or abstract for a machine with too many caches for it, which is printed.
void abstract_if_large(sim::run_options& s, const sim_options& o, const machine_model& m) {
  if (!o.fidelity.empty() || sim::has_block_memory(m)) return;
  s.fidelity = sim::fidelity::abstract;
  fmt::print(stderr,
             "kith sim: fidelity abstract, because {} has {} nodes; memory in blocks is modelled up to {} last-level "
             "caches\n",
             m.hardware.name, m.nodes(), sim::most_block_caches);
}

/// The programs to simulate, and the workload that they form together.
struct workload {
  std::vector<sim::program> alone;  // empty without --together
  std::vector<std::string> names;   // the files; a file that is given again has a number
  std::vector<std::size_t> tasks;
  std::uint32_t throttle = 0;
  sim::program program;
};

/// Calls read(), and names the file in what it throws: there may be several recordings.
template <class Read>
auto naming_file(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const error& e) {
    throw error(fmt::format("{}: {}", file, e.what()), e.kind());
  }
}

sim::program program_in(const std::string& file, const sim_options& o, const machine_model& m, sim::fidelity how,
                        progress& bar) {
  const auto tell = [&](const char* what, double share) { bar.share(what, share); };
  auto recorded = read_recording(file, tell);
  sim::program p = naming_file(file, [&] { return sim::program_of(std::move(recorded), o.core_gbs); });
  if (how != sim::fidelity::line) return p;
  if (m.line.present) analysis::expect_addresses(p.recorded, file);  // else the machine is to blame
  bar.wait_for("reading addresses");
  p.lines = sim::line_streams_on(p.recorded, m);
  if (o.l1_filter) p.lines = sim::filtered_on(std::move(p.lines), m);
  return p;
}

std::uint32_t throttle_of(const sim::program& p) {
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();  // 0 would mean no bound
  return static_cast<std::uint32_t>(std::min(most, p.recorded.meta_number("throttle", 2048)));
}

workload workload_of(const sim_options& o, const machine_model& m, const sim::run_options& base, progress& bar) {
  if (o.files.size() > 1 && !o.together)
    throw error(fmt::format("{} recordings: --together simulates them at once on one machine; without it, give one",
                            o.files.size()));
  if (o.together && o.files.size() == 1)
    throw error("--together: one recording; expected two or more, which run at once (a file may be given again)");
  if (o.together && !o.output.empty())
    throw error("--output: a recording is of one program; leave out --together, and give one file");
  workload all;
  for (const std::string& file : o.files) {
    sim::program p = program_in(file, o, m, base.fidelity, bar);
    if (o.together && !p.recorded.places.empty())
      throw error(file +
                      ": a recording of places cannot run together with other programs; give it alone, without "
                      "--together",
                  error_kind::input);
    const std::uint32_t throttle = naming_file(file, [&] { return throttle_of(p); });
    if (base.throttle == 0 && !all.names.empty() && throttle != all.throttle)
      throw error(fmt::format("{} was recorded with throttle {}, and {} with {}; give one for both (--throttle)",
                              all.names.front(), all.throttle, file, throttle));
    all.throttle = throttle;
    const auto before =
        std::count(o.files.begin(), o.files.begin() + static_cast<std::ptrdiff_t>(all.names.size()), file);
    all.names.push_back(before == 0 ? file : fmt::format("{} ({})", file, before + 1));
    all.tasks.push_back(p.tasks());
    if (o.together) {
      all.alone.push_back(std::move(p));
    } else {
      all.program = std::move(p);
    }
  }
  if (o.together) all.program = sim::combine(all.alone);
  return all;
}

/// The figures of each run, compared with each of its programs alone.
std::vector<multiprogram_figures> compare_with_alone(const workload& all, const machine_model& m,
                                                     const std::vector<sim::run_options>& runs,
                                                     const std::vector<sim::result>& results, progress& bar) {
  std::vector<std::vector<sim::picoseconds>> alone(runs.size());
  for (std::size_t k = 0; k < all.alone.size(); ++k) {
    const std::vector<sim::result> one = simulate_all(all.alone[k], m, runs, [&](std::size_t done, std::size_t whole) {
      bar.share(fmt::format("{} alone: {} of {} runs", printable(all.names[k]), done, whole),
                static_cast<double>(done) / static_cast<double>(whole));
    });
    for (std::size_t i = 0; i < runs.size(); ++i) alone[i].push_back(one[i].makespan);
  }
  std::vector<multiprogram_figures> figures;
  for (std::size_t i = 0; i < runs.size(); ++i) figures.push_back(multiprogram_figures_of(results[i], alone[i]));
  return figures;
}

/// Throws before anything is read if an output file cannot be written.
void refuse_outputs(const sim_options& o, const std::vector<std::string>& policies) {
  std::vector<std::string> inputs = files_of(policies);
  inputs.insert(inputs.end(), o.files.begin(), o.files.end());
  inputs.push_back(o.machine);
  if (!o.output.empty()) {
    refuse_output("--output", o.output, inputs);
    refuse_to_replace(o.output);
  }
  if (!o.plot.empty()) refuse_output("--plot", o.plot, inputs);
}

/// A run for each policy and each seed; the runs of a policy are consecutive.
std::vector<sim::run_options> runs_of(const sim_options& o, const std::vector<std::string>& policies,
                                      const sim::run_options& base) {
  std::vector<sim::run_options> runs;
  for (const std::string& policy : policies) {
    for (int s = 0; s < o.seeds; ++s) {
      sim::run_options one = base;
      one.policy = policy;
      one.seed = base.seed + static_cast<std::uint64_t>(s);
      one.keep_schedule = !o.output.empty();
      runs.push_back(std::move(one));
    }
  }
  if (!o.output.empty() && runs.size() != 1)
    throw error("--output keeps one run; this is " + std::to_string(runs.size()));
  return runs;
}

void print_json(const workload& all, const machine_model& m, const std::vector<sim::run_options>& runs,
                const std::vector<sim::result>& results, const std::vector<multiprogram_figures>& together) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows.push_back(json_row(runs[i], results[i], m));
    if (!together.empty()) rows.back().update(multiprogram_row(together[i], all.names, all.tasks));
  }
  fmt::print("{}\n", json_text(rows, 2));
}

void print_text(const workload& all, const machine_model& m, const std::vector<std::string>& policies,
                sim::fidelity how, const std::vector<sim::result>& results,
                const std::vector<multiprogram_figures>& together) {
  const std::size_t seeds = results.size() / policies.size();
  fmt::print("{} on {}\n{} tasks, {}, fidelity {}{}\n", printable(fmt::format("{}", fmt::join(all.names, ", "))),
             styled(printable(m.title), tone::strong), all.program.tasks(),
             counted(results.front().workers.size(), "worker"), fidelity_name(how),
             seeds > 1 ? fmt::format(", {} seeds: means, and half the range", seeds) : "");
  std::vector<double> alone;
  for (std::size_t s = 0; s < seeds; ++s) alone.push_back(static_cast<double>(results[s].one_core) * 1e-12);
  fmt::print("speed-up: over one core of the same machine, simulated under auto: {:.4g} s\n\n", sample_of(alone).mean);
  fmt::print("{}", table_of(policies, results));
  if (!together.empty()) print_multiprogram(policies, all.names, together, seeds);
  print_fitted(m);
}

/// Without --policy: `auto`, as in native runs; for places the policy that they were recorded with, which is `ads`
/// unless the program or KITH_POLICY set another one. Prints the choice.
std::string usual_policy(const sim::program& p) {
  if (p.recorded.places.empty()) return "auto";
  const std::string recorded = p.recorded.meta_or("policy", ""), name = recorded.substr(0, recorded.find(':'));
  const std::vector<policy_entry> all = policy_list();
  const bool known = std::ranges::any_of(all, [&](const policy_entry& e) { return e.name == name; });
  const std::string usual = known ? recorded : "ads";  // other policies are from a library, or repeat a schedule
  fmt::print(stderr, "kith sim: policy {}, {}; --policy names another\n", usual,
             known ? "as the places were recorded" : "as places have natively");
  return usual;
}

outcome run_sim(const sim_options& o) {
  load_policy_libraries(o.libraries);
  if (!(o.core_gbs > 0) || !std::isfinite(o.core_gbs))
    throw error(fmt::format("--recorded-gbs {}: expected a number greater than 0", o.core_gbs));
  std::vector<std::string> policies;
  if (!o.policies.empty()) policies = split_choices(o.policies);
  refuse_outputs(o, policies);
  const machine_model m = model_by_name(o.machine, o.hosts);
  sim::run_options base = run_options_of(o);
  abstract_if_large(base, o, m);
  progress bar;
  const workload all = workload_of(o, m, base, bar);
  sim::use_recorded_places(base, all.program, base.workers);
  if (policies.empty()) policies = {usual_policy(all.program)};
  if (base.throttle == 0) base.throttle = all.throttle;
  const std::vector<sim::run_options> runs = runs_of(o, policies, base);
  bar.wait_for("simulating");
  const std::vector<sim::result> results =
      simulate_beside_one_core(all.program, m, runs, [&](std::size_t done, std::size_t count) {
        bar.share(fmt::format("{} of {} runs", done, count), static_cast<double>(done) / static_cast<double>(count));
      });
  std::vector<multiprogram_figures> together;
  if (o.together) together = compare_with_alone(all, m, runs, results, bar);
  if (!o.plot.empty()) write_picture(draw_runs(o, m, policies, results), o.plot);
  if (!o.output.empty()) {
    bar.wait_for("writing " + o.output);
    write_recording(results.front().schedule, o.output,
                    [&](const char* what, double share) { bar.share(what, share); });
  }
  bar.clear();
  if (o.json) {
    print_json(all, m, runs, results, together);
  } else {
    print_text(all, m, policies, base.fidelity, results, together);
  }
  return outcome::fine;
}

}  // namespace

std::function<outcome()> add_sim(CLI::App& command) {
  auto o = std::make_shared<sim_options>();
  add_options(command, *o);
  command.footer(
      "Figures are of what follows the recording's last mark (programs of `kith app` set one before they solve). "
      "speed-up: over one core of the same machine, simulated under `auto` with the same seed. remote %: of remote "
      "accesses, see "
      "docs/glossary.md. L1 and L2 misses, network, energy (-: the machine's file lacks a key): of fidelity line. The "
      "same input gives the same result, bit for bit. docs/simulation.md says what is modelled, "
      "and what results rest on.\n"
      "JSON: [{\"policy\", \"seed\", \"makespan_s\", \"one_core_s\", \"speedup\", \"load_balance_percent\", "
      "\"overhead_percent\", "
      "\"partition_percent\", \"remote_access_percent\", \"remote_bytes\", \"steals\", \"steal_attempts\", "
      "\"first_steal_s\" (null: no steal), ...}]\n"
      "With --together also \"programs\": [{\"file\", \"tasks\", \"start_s\", \"time_s\", \"alone_s\", "
      "\"slowdown\"}], \"antt\" (mean slow-down), \"stp\" (sum of 1 / slow-down), \"fairness\" (least slow-down over "
      "the greatest).\n"
      "Exit code: 0, or 2 for a wrong command line, recording or machine, and for a run that starves.");
  return [o] { return run_sim(*o); };
}

}  // namespace kith::tools
