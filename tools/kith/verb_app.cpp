// kith app: runs one of the programs and checks its result.
#include "verbs.hpp"

#include "app/describe.hpp"
#include "app/memory.hpp"
#include "app/on_places.hpp"
#include "app/report.hpp"
#include "apps/list.hpp"
#include "base/access_tracer.hpp"
#include "base/environment.hpp"
#include "base/nearest.hpp"
#include "machine/limits.hpp"
#include "machine/machine.hpp"
#include "paper/traced.hpp"
#include "policy_library.hpp"
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>

namespace kith::tools {

namespace {

struct options {
  std::string name;
  runtime_options run;
  std::optional<int> places;
  bool small = false, paper = false, oversubscribe = false, json = false, windows = false, one_graph = false;
  int owners = 0;  // the number of workers that colors are for; 0: that of the run
  std::vector<std::string> libraries;
};

/// Prints the window sizes as options of a policy that partitions windows.
outcome print_windows(const apps::entry& e, const apps::arguments& arguments, bool json) {
  if (e.windows == nullptr) throw error(std::string(e.name) + ": its paper partitions no windows of it");
  const apps::window_hint w = e.windows(arguments);
  fmt::print(fmt::runtime(json ? "{{\"first\": {}, \"window\": {}, \"intersection\": {}}}\n"
                               : "first={},window={},intersection={}\n"),
             w.first, w.window, w.intersection);
  return outcome::fine;
}

/// Refuses an unknown parameter if one of the program's parameters, or an option of the verb, has a similar name.
void refuse_misspelt(const apps::entry& e, const std::vector<std::string>& words, const CLI::App& command) {
  std::vector<std::string> known;
  for (const apps::parameter& p : e.parameters) known.push_back("--" + std::string(p.name));
  const std::size_t own = known.size();
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::ranges::find(known, name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    if (near.empty()) continue;
    throw error(fmt::format("{}: no parameter {}; did you mean {}? It takes {}", e.name, name, near,
                            fmt::join(known.begin(), known.begin() + static_cast<std::ptrdiff_t>(own), ", ")));
  }
}

/// Names kith-traced where addresses are to be recorded and this build has no access callbacks. If there is no
/// kith-traced either, the runtime says how to build one.
void refuse_addresses(const std::string& name) {
  const bool asked = value_of(var::record) && number_of(var::record_addresses).value_or(0) != 0;
  if (!asked || the_access_tracer() != nullptr) return;
  const std::optional<std::string> traced = find_traced_programs();
  if (!traced) return;
  throw error(fmt::format("addresses cannot be recorded: `kith app` was built without access callbacks. Some of its "
                          "programs were built with them, in {0}; alone, it lists them: kith record --addresses -- {0} "
                          "{1} ...; for all of them, build Kith by `cmake --preset addresses`",
                          *traced, name),
              error_kind::setting);
}

outcome run_app(const options& o, const std::vector<std::string>& words, const CLI::App& command) {
  load_policy_libraries(o.libraries);
  const std::vector<std::string> programs = app_names();
  if (std::ranges::find(programs, o.name) == programs.end() && !nearest_name(o.name, programs).empty())
    throw error(no_such("program", o.name, programs));
  const apps::entry& e = apps::find_app(o.name);
  refuse_misspelt(e, words, command);
  if (!o.windows && e.dry_only && number_of(var::dry).value_or(0) == 0)
    throw error(o.name + " has no data to run on: kith record --dry -- kith app " + o.name + " ...");
  const apps::arguments arguments(e.name, e.parameters, apps::read_arguments(e.name, e.parameters, words),
                                  o.small   ? apps::preset::small
                                  : o.paper ? apps::preset::paper
                                            : apps::preset::standard,
                                  o.run.seed.value_or(1));
  if (o.windows) return print_windows(e, arguments, o.json);
  if (o.one_graph && e.windows == nullptr)
    throw error(o.name + ": --one-graph is for the RIP paper's programs (those that have --windows)");
  if (const apps::places_entry* const p = apps::find_places_app(o.name)) {
    try {
      const std::optional<app_report> report = run_on_places(*p, arguments, o.places, o.run);
      if (!report) return outcome::fine;  // the process of place 0 reports
      fmt::print("{}", o.json ? to_json(*report) : to_text(*report));
      return report->result.check.verified ? outcome::fine : outcome::limited;
    } catch (const place_lost& lost) {
      fmt::print(stderr, "kith app: {}: {}\n", o.name, lost.what());
      return outcome::lost;
    }
  }
  if (o.places) throw error(o.name + ": --places is for programs on places; `kith apps` lists them as places_...");
  refuse_addresses(o.name);
  const machine on = current_machine(o.run.machine);
  progress bar;
  bar.wait_for(o.name);  // before the runtime binds this thread, so that the thread of `bar` is not bound
  runtime rt(o.run);
  tell_workers(rt.workers(), o.run.workers.value_or(0));
  const allocation_scope with_memory_of(rt);
  const apps::target where{rt, static_cast<int>(on.nodes.size()), nullptr, o.owners};
  app_report report{e.name, rt.policy(), on.name, rt.workers(), 0, {}};
  try {
    const std::uint64_t before = address_space();
    const std::unique_ptr<apps::app> program = e.make(arguments);
    const std::uint64_t after = address_space();  // less, if workers have given memory back meanwhile
    const memory_need need{after > before ? after - before : 0, program->verifying_bytes()};
    report.memory_bytes = need.all();
    if (!rt.dry()) refuse_what_does_not_fit(o.name, words, need);
    report.result = apps::run(*program, where, o.one_graph);
  } catch (const std::bad_alloc&) {
    throw error(o.name + ": out of memory; lower its parameters (`kith app " + o.name + " --help` lists them)");
  }
  bar.clear();
  fmt::print("{}", o.json ? to_json(report) : to_text(report));
  return report.result.check.verified ? outcome::fine : outcome::limited;
}

}  // namespace

std::function<outcome()> add_app(CLI::App& command) {
  auto o = std::make_shared<options>();
  command.add_option("name", o->name, "the program; `kith apps` lists them with their parameters")
      ->required()
      ->type_name("APP");
  command
      .add_option("--policy", o->run.policy, "the policy, with options (KITH_POLICY, \"auto\"); see `kith policies`")
      ->check(some_text())
      ->type_name("POLICY");
  add_policy_library(command, o->libraries);
  command.add_option("--workers", o->run.workers, "workers (KITH_WORKERS, as many as this process may use cores)")
      ->check(whole_number(1, most_workers));
  command
      .add_option("--places", o->places,
                  "places of a program that runs on them; --workers is for each place (KITH_PLACES, 1)")
      ->check(whole_number(1, var::places.most));
  command.add_flag("--oversubscribe", o->oversubscribe, "start all of --workers, even if there are fewer cores");
  command.add_option("--machine", o->run.machine, "behave as if on this machine (KITH_MACHINE), as for `kith machine`")
      ->type_name("MACHINE|FILE|SYNTHETIC");
  command
      .add_option("--throttle", o->run.throttle,
                  "unfinished tasks before their creator helps; 0: no bound (KITH_THROTTLE)")
      ->check(whole_number(0, 1 << 26));
  command
      .add_option("--memory", o->run.memory,
                  "how the program's memory is spread over the nodes (KITH_MEMORY, system); with ',huge' in huge pages")
      ->type_name("system|fine|coarse|local|block|node:N|deferred");
  command.add_option("--seed", o->run.seed, "of generated input and of the policies' random choices (1)")
      ->check(whole_number(1, std::int64_t{1} << 40));
  CLI::Option* const small = command.add_flag("--small", o->small, "the small preset: ends within 2 seconds");
  command.add_flag("--paper", o->paper, "the paper's sizes: most need the paper's machine")->excludes(small);
  command.add_flag("--windows", o->windows,
                   "run nothing; print the windows that its paper chose for these parameters, as options of a policy");
  command.add_flag(
      "--one-graph", o->one_graph,
      "no barrier between the tasks that initialise and those that compute (programs with --windows); both "
      "are timed");
  command.add_option("--owners", o->owners, "how many workers share the colors, and so the data (all workers)")
      ->check(whole_number(1, most_workers));
  command.add_flag("--json", o->json, "write JSON");
  command.allow_extras();
  command.footer([&command] {
    const std::vector<std::string> named = command.get_option("name")->results();
    std::string parameters;
    try {
      if (!named.empty()) parameters = "\nParameters of " + to_text(apps::find_app(named.front())) + "\n";
    } catch (const error&) {  // no such program: the rest of the help is still right
    }
    return parameters +
           "APP comes first; then these options and the program's own parameters in any order.\n"
           "JSON: {\"app\", \"policy\", \"machine\", \"pretended\", \"workers\", \"verified\" (null: not run), "
           "\"what_was_checked\", "
           "\"seconds\", \"tasks\", \"steals\", \"steal_attempts\", \"colored_steals\", \"colored_attempts\", "
           "\"remote_access_percent\", \"idle_seconds\", \"first_steal_s\" (null: no steal), "
           "\"load_balance_percent\", \"per_worker\": [...], ...}\n"
           "Programs on places also: \"places\", \"as\", \"transport\", \"messages\", \"message_bytes\", "
           "\"by_kind\", \"largest_spawn\", \"most_edges\", \"bytes_factor\", \"spawns\", "
           "\"fab_attempts\", \"fab_taken\", \"fab_refused\", \"fab_mean\", \"fab_peak\", \"fab_seconds\", "
           "\"steal_seconds\", \"stalled\", \"deque_mean\", \"deque_peak\", \"graph_depth\", \"per_place\": [...] "
           "(null: does not apply)\n"
           "Exit code: 0 if the result was verified, 1 if it is wrong, 2 for a wrong command line or input, 3 if a "
           "place was lost.";
  });
  return [o, &command] {
    if (o->oversubscribe) o->run.oversubscribe = true;
    return run_app(*o, command.remaining(), command);
  };
}

}  // namespace kith::tools
