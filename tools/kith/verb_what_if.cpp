// kith what-if: the gain of a recorded program from other hardware. --hardware: from a scheduler in hardware.
#include "verbs.hpp"

#include "base/printable.hpp"
#include "command_line/command_line.hpp"
#include "json_text.hpp"
#include "numbers.hpp"
#include "policy_library.hpp"
#include "progress.hpp"
#include "recording/file.hpp"
#include "sim/runs.hpp"
#include "sim/summary.hpp"
#include "table.hpp"
#include "terminal.hpp"
#include "what_if/hardware.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

struct what_if_options {
  std::string file, machine = "cmp-32", policies, software = "auto";
  std::vector<std::string> libraries;
  sim::run_options run;
  std::optional<int> budget;
  int seeds = 5;
  bool hardware = false, json = false;
};

nlohmann::json or_null(const std::optional<sample>& value) {
  return value ? nlohmann::json(value->mean) : nlohmann::json();
}

nlohmann::json to_json(const what_if_row& r, int seeds) {
  return {{"policy", r.policy},
          {"organisation", r.organisation},
          {"seeds", seeds},
          {"makespan_s", r.seconds.mean},
          {"speedup", r.speedup.mean},
          {"speedup_min", r.speedup.least},
          {"speedup_max", r.speedup.most},
          {"over_software", r.over_software.mean},
          {"over_software_min", r.over_software.least},
          {"over_software_max", r.over_software.most},
          {"in_software", or_null(r.in_software)},
          {"l1_misses_percent", or_null(r.first_misses)},
          {"l2_misses_percent", or_null(r.second_misses)},
          {"network_percent", or_null(r.network)},
          {"energy_percent", or_null(r.energy)}};
}

void print_table(const what_if_answer& answer) {
  table t("policy", {"queues", "time\n[s]", "over\nfifo", "over\nsoftware", "itself in\nsoftware", "L1 misses\n%",
                     "L2 misses\n%", "network\n%", "energy\n%"});
  t.left(0);
  for (const what_if_row& r : answer.rows) {
    std::vector<std::string> means{r.organisation}, ranges{""};
    const auto add = [&](const std::optional<sample>& v, const char* format, const char* range_format) {
      sample_cells cell = v ? cells_of(*v, format, range_format) : sample_cells{"-", ""};
      means.push_back(std::move(cell.mean));
      ranges.push_back(std::move(cell.range));
    };
    add(r.seconds, "{:.4g}", "{:.2g}");
    add(r.speedup, "{:.2f}", "{:.2f}");
    add(r.over_software, "{:.2f}", "{:.2f}");
    add(r.in_software, "{:.2f}", "{:.2f}");
    for (const auto& percent : {r.first_misses, r.second_misses, r.network, r.energy}) add(percent, "{:.0f}", "{:.0f}");
    t.row(r.policy, std::move(means));
    if (std::ranges::any_of(ranges, [](const std::string& one) { return !one.empty(); })) t.row("", std::move(ranges));
  }
  fmt::print("{}\n", t.text());
}

/// "1.07 (0.82 to 1.30)"
std::string with_range(const sample& v) {
  return v.most > v.least ? fmt::format("{:.2f} ({:.2f} to {:.2f})", v.mean, v.least, v.most)
                          : fmt::format("{:.2f}", v.mean);
}

void print_answer(const what_if_answer& answer, const std::string& software, int seeds) {
  const what_if_row &best = answer.rows[answer.best], &last = answer.rows.back();
  const auto gains = [&](const what_if_row& r) {
    return fmt::format("{} times fifo there, {} times {} in software", with_range(r.speedup),
                       with_range(r.over_software), printable(software));
  };
  fmt::print(
      "{}\n",
      folded(fmt::format("{} ({}) is the fastest policy in hardware{}: {}.", styled(best.policy, tone::strong),
                         best.organisation,
                         seeds > 1 ? fmt::format(" in the mean, and with {} of {} seeds", answer.seeds_won, seeds) : "",
                         gains(best)),
             0));
  if (answer.runs == 0) return;  // no search
  fmt::print("{}\n", folded(fmt::format("The best order found offline{}: {} (search of {} runs, begun with {}).",
                                        seeds > 1 ? ", one for all seeds" : "", gains(last), answer.runs,
                                        answer.from == "data" ? "a schedule for the caches" : printable(answer.from)),
                            0));
}

outcome run_what_if(what_if_options& o) {
  load_policy_libraries(o.libraries);
  if (!o.hardware) throw error("no change is named; expected --hardware, for a scheduler in hardware");
  const machine_model m = model_by_name(o.machine);
  progress bar;
  sim::program p =
      sim::program_of(read_recording(o.file, [&](const char* what, double share) { bar.share(what, share); }));
  if (!p.place.empty())
    throw error(o.file +
                ": a recording of places; a scheduling unit is of one machine, and is not simulated with them");
  what_if_question q{.policies = o.policies.empty() ? hardware_policies() : split_choices(o.policies),
                     .software = o.software,
                     .base = o.run,
                     .seeds = o.seeds,
                     .budget = o.budget};
  choose_fidelity(p, m, q.base);
  const what_if_answer answer = ask_hardware(p, m, q, [&](const char* what, double share) { bar.share(what, share); });
  bar.clear();
  if (o.json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const what_if_row& r : answer.rows) rows.push_back(to_json(r, o.seeds));
    fmt::print("{}\n", json_text(rows, 2));
    return outcome::fine;
  }
  fmt::print("{} on {}\n{} tasks, fidelity {}{}\n\n", printable(o.file), styled(printable(m.title), tone::strong),
             p.tasks(), q.base.fidelity == sim::fidelity::line ? "line" : "block",
             o.seeds > 1 ? fmt::format(", {} seeds: means, and half the range", o.seeds) : "");
  print_table(answer);
  print_answer(answer, o.software, o.seeds);
  return outcome::fine;
}

}  // namespace

std::function<outcome()> add_what_if(CLI::App& command) {
  auto o = std::make_shared<what_if_options>();
  command.add_option("file", o->file, "the recording (`kith record` makes one; best with --addresses)")
      ->required()
      ->type_name("FILE");
  command.add_flag("--hardware", o->hardware, "what a scheduler in hardware would give");
  command
      .add_option("--machine", o->machine, "a machine with a scheduling unit, of `kith machines` or a file (cmp-32)")
      ->type_name("MACHINE|FILE");
  command
      .add_option("--policy", o->policies, "the policies in hardware (those of the paper, token and reference twice)")
      ->check(some_text())
      ->type_name("POLICY,...");
  command.add_option("--software", o->software, "the policy in software to compare with (auto)")->type_name("POLICY");
  add_policy_library(command, o->libraries);
  command.add_option("--workers", o->run.workers, "use the first cores only (all)")->check(whole_number(1, 4096));
  command.add_option("--seeds", o->seeds, "runs of each policy, with seeds of their own (5)")
      ->check(whole_number(1, 100000));
  command.add_option("--seed", o->run.seed, "the first seed (1)")->check(whole_number(1, std::int64_t{1} << 40));
  command
      .add_option("--budget", o->budget,
                  "runs of the search for the best order; 0: no oracle (40 to 200, fewer where a run takes long)")
      ->check(whole_number(0, 1'000'000));
  command.add_option("--gsu", o->run.hardware.cycles, "cycles of an operation of the unit (the machine's)")
      ->check(whole_number(0, 100000));
  command.add_option("--prefetch", o->run.hardware.prefetch, "tasks that a core's buffer holds (the machine's)")
      ->check(whole_number(0, most_prefetched));
  command.add_flag("--cold", o->run.cold, "caches are empty when the figures begin");
  command.add_flag("--json", o->json, "write JSON");
  command.footer(
      "usage: kith what-if --hardware FILE [--machine NAME]\n"
      "Simulates the program with its task queues in the machine's scheduling unit, under each policy, and compares "
      "with fifo there and with a policy in software, seed by seed: the figures are means, those with +- half their "
      "range. `oracle` is the best order that a bounded search has found offline with the first seed, run with all "
      "seeds: a scheduler can gain that much, perhaps more. In the mean it is never slower than a policy simulated in "
      "hardware; one in software may be faster. A recording with addresses is run line by line, others "
      "by what their tasks declare. docs/simulation.md says more.\n"
      "JSON: [{\"policy\", \"organisation\" (deques, global, software, offline), \"seeds\", "
      "\"makespan_s\", \"speedup\" (over fifo in hardware), \"speedup_min\", \"speedup_max\", \"over_software\" (over "
      "the policy in software), \"over_software_min\", \"over_software_max\", \"in_software\" (speedup of the same "
      "policy "
      "with queues in software), \"l1_misses_percent\", \"l2_misses_percent\", \"network_percent\", \"energy_percent\" "
      "(of fifo's; line by line of caches, memory, mesh and unit, else, or if the machine lacks those, of the network; "
      "null: not known)}]\n"
      "Exit code: 0, or 2 for a wrong command line, recording or machine, and for a run that starves.");
  return [o] { return run_what_if(*o); };
}

}  // namespace kith::tools
