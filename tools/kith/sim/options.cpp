#include "sim/options.hpp"

#include "base/nearest.hpp"
#include "machine/hosts.hpp"
#include "numbers.hpp"
#include "policy_library.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <initializer_list>
#include <utility>

namespace kith::tools {

namespace {

constexpr std::initializer_list<std::pair<const char*, sim::fidelity>> fidelities = {
    {"block", sim::fidelity::block}, {"abstract", sim::fidelity::abstract}, {"line", sim::fidelity::line}};

template <class T>
T pick(const char* option, const std::string& given, std::initializer_list<std::pair<const char*, T>> choices) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (given == name) return value;
    names.emplace_back(name);
  }
  const std::string near = nearest_name(given, names);
  throw error(fmt::format("{} '{}': {}expected one of {}", option, given,
                          near.empty() ? "" : "did you mean '" + near + "'? ", fmt::join(names, ", ")));
}

void add_programs(CLI::App& command, sim_options& o) {
  command.add_option("file", o.files, "the recording (`kith record` makes one); with --together, several")
      ->required()
      ->type_name("FILE");
  command.add_flag("--together", o.together,
                   "the recorded programs run at once on one machine, under one policy; each is compared with itself "
                   "alone");
  command
      .add_option("--stagger", o.stagger,
                  "with --together: seconds from the start of one program to that of the next (0)")
      ->check(CLI::Range(0.0, 1e6));
}

void add_machine_and_policies(CLI::App& command, sim_options& o) {
  command.add_option("--machine", o.machine, "the machine, one of `kith machines` or a file (bullion-s16-8)")
      ->type_name("MACHINE|FILE");
  command
      .add_option("--policy", o.policies,
                  "policies, with options (POLICY:key=value,key=value); NAME+pm: written pages move to their writers "
                  "(auto; of places the recorded one)")
      ->check(some_text())
      ->type_name("POLICY,...");
  add_policy_library(command, o.libraries);
  command.add_option("--seeds", o.seeds, "runs of each policy, with seeds of their own (1)")
      ->check(whole_number(1, 100000));
  command.add_option("--seed", o.run.seed, "the first seed (1)")->check(whole_number(1, std::int64_t{1} << 40));
  command.add_option("--workers", o.run.workers, "use the first cores only (all); of places: of each place's cores")
      ->check(whole_number(1, 4096));
  command
      .add_option("--hosts", o.hosts,
                  "how many hosts the machine has, a cluster or torus of equal hosts (its own number)")
      ->check(whole_number(1, most_hosts));
}

void add_memory(CLI::App& command, sim_options& o) {
  command
      .add_option("--fidelity", o.fidelity, "what is modelled of memory (block; abstract above 64 last-level caches)")
      ->type_name("block|abstract|line");
  command.add_option("--distribution", o.data, "where data lies (first-touch)")
      ->type_name("first-touch|fine|coarse|regions|block|colors|recorded");
  command.add_option("--chunk", o.run.chunk_bytes, "bytes that are moved at a time (65536)")
      ->check(whole_number(256, 1 << 30));
  command.add_flag("--cold", o.run.cold, "caches are empty when the figures begin");
  command.add_option("--throttle", o.run.throttle, "unfinished tasks before their creator helps (the recording's)")
      ->check(whole_number(1, 1 << 30));
}

void add_hardware(CLI::App& command, sim_options& o) {
  command
      .add_option("--gsu", o.gsu,
                  "queues are in the machine's scheduling unit: cycles of an operation there, or the machine's (none)")
      ->type_name("0..100000|machine")
      ->check(CLI::Validator(
          [cycles = whole_number(0, 100000)](const std::string& text) {
            return text == "machine" || cycles(text).empty()
                       ? std::string()
                       : fmt::format("'{}' is neither machine nor a whole number from 0 to 100000", text);
          },
          ""));
  command.add_option("--prefetch", o.run.hardware.prefetch, "tasks that a core's buffer holds then (the machine's)")
      ->check(whole_number(0, most_prefetched));
  command
      .add_option("--entries", o.run.hardware.entries,
                  "tasks that the unit's queues hold; others wait in memory (no bound)")
      ->check(whole_number(1, 1 << 30));
}

void add_model(CLI::App& command, sim_options& o) {
  command.add_option("--recorded-gbs", o.core_gbs,
                     "GB/s of one core where it was recorded: what bytes took there is no computing (10)");
  command
      .add_option("--access-cycles", o.access_cycles,
                  "fidelity line: cycles of a core between two accesses (the machine's)")
      ->check(CLI::Range(0.0, 1e6));
  command.add_flag("--l1-filter", o.l1_filter,
                   "fidelity line: replay only what passes a first level that is empty when a task begins");
  one_value_each_time(command.add_option("--without", o.without, "what is left out of the model"))
      ->type_name("contention|latency|caches|scheduling|noise,...")
      ->delimiter(',');
}

}  // namespace

void add_options(CLI::App& command, sim_options& o) {
  add_programs(command, o);
  add_machine_and_policies(command, o);
  add_memory(command, o);
  add_hardware(command, o);
  add_model(command, o);
  command.add_option("--plot", o.plot, "write a picture of speed-ups and of what moves")->type_name("FILE.svg|png");
  command.add_option("-o,--output", o.output, "write the simulated run as a recording")->type_name("FILE");
  command.add_flag("--json", o.json, "write JSON");
}

sim::run_options run_options_of(const sim_options& o) {
  sim::run_options s = o.run;
  if (!o.fidelity.empty()) s.fidelity = pick("--fidelity", o.fidelity, fidelities);
  s.distribution = pick("--distribution", o.data,
                        {std::pair{"first-touch", sim::distribution::first_touch},
                         {"fine", sim::distribution::fine},
                         {"coarse", sim::distribution::coarse},
                         {"regions", sim::distribution::regions},
                         {"block", sim::distribution::block},
                         {"recorded", sim::distribution::recorded},
                         {"colors", sim::distribution::colors}});
  for (const std::string& w : o.without) {
    *pick("--without", w,
          {std::pair{"contention", &s.parts.contention},
           {"latency", &s.parts.latency},
           {"caches", &s.parts.caches},
           {"scheduling", &s.parts.scheduling},
           {"noise", &s.noise}}) = false;
  }
  if (!std::isfinite(o.access_cycles)) throw error("--access-cycles: expected a number of cycles");
  if (o.access_cycles >= 0) {
    if (s.fidelity != sim::fidelity::line)
      throw error("--access-cycles: is of the fidelity line; expected --fidelity line");
    s.access_cycles = o.access_cycles;
  }
  if (o.l1_filter && s.fidelity != sim::fidelity::line)
    throw error("--l1-filter: is of the fidelity line; expected --fidelity line");
  if (!std::isfinite(o.stagger)) throw error("--stagger: expected a number of seconds");
  if (o.stagger > 0 && !o.together) throw error("--stagger: is of programs that run at once; expected --together");
  s.stagger = static_cast<sim::picoseconds>(o.stagger * 1e12);
  if (!o.gsu.empty()) {
    s.hardware.used = true;
    if (o.gsu != "machine") s.hardware.cycles = static_cast<std::uint32_t>(std::stoul(o.gsu));
  } else if (s.hardware.prefetch) {
    throw error("--prefetch: is of a scheduling unit; expected --gsu as well");
  } else if (s.hardware.entries) {
    throw error("--entries: is of a scheduling unit; expected --gsu as well");
  }
  return s;
}

const char* fidelity_name(sim::fidelity how) {
  for (const auto& [name, value] : fidelities) {
    if (value == how) return name;
  }
  return "";
}

}  // namespace kith::tools
