// kith-bench-events: the number of events that Kith's simulator processes on one core in a second.
//
// An event is the end of a wait of a worker, which an event queue would therefore hold: the end of a piece of
// computing, of a chunk, of a creation, of a look for work; a wake. Steps that take no time (a task that begins where
// another ended) are counted separately, as `steps`. The time is the thread's processor time, so that other work on the
// machine matters little. It includes setting up and taking down the run, but not reading the recording.
#include "engine/sim/program.hpp"
#include "engine/sim/simulation.hpp"
#include "recording/file.hpp"
#include "summary.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <ctime>
#include <map>
#include <string>
#include <vector>

namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

nlohmann::ordered_json row(const kith::sim::program& p, const kith::machine_model& on,
                           const kith::sim::run_options& set, int runs) {
  std::vector<double> seconds;
  kith::sim::result r;
  for (int i = 0; i < runs; ++i) {
    const double begin = processor_seconds();
    r = kith::sim::simulate(p, on, set);
    seconds.push_back(processor_seconds() - begin);
  }
  const kith::bench::summary s = kith::bench::summary_of(seconds);
  return {{"policy", set.policy},
          {"fidelity", set.fidelity == kith::sim::fidelity::block ? "block" : "abstract"},
          {"workers", r.workers.size()},
          {"tasks", p.tasks()},
          {"attempts", r.total.steal_attempts},
          {"chunks", r.cache_hits + r.cache_misses},
          {"steps", r.steps},
          {"events", r.events},
          {"seconds", s.median},
          {"min", s.min},
          {"max", s.max},
          {"million_events_per_s", static_cast<double>(r.events) / s.median * 1e-6}};
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("times Kith's simulator on a recording", "kith-bench-events");
  std::string file, machine = "xeon-e7-8860";
  std::vector<std::string> policies{"nabbit", "nabbitc", "steal", "fifo"};
  int runs = 5;
  kith::sim::run_options set;
  set.workers = 80;
  set.fidelity = kith::sim::fidelity::abstract;
  const std::map<std::string, kith::sim::fidelity> fidelities{{"abstract", kith::sim::fidelity::abstract},
                                                              {"block", kith::sim::fidelity::block}};
  app.add_option("file", file, "the recording (`kith record` makes one)")->required();
  app.add_option("--machine", machine, "one of `kith machines` (xeon-e7-8860)");
  app.add_option("--workers", set.workers, "cores (80)")->check(CLI::Range(1, 4096));
  app.add_option("--policy", policies, "policies (nabbit nabbitc steal fifo)");
  app.add_option("--fidelity", set.fidelity, "abstract or block (abstract)")
      ->transform(CLI::CheckedTransformer(fidelities));
  app.add_option("--runs", runs, "of each (5)")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  try {
    const kith::machine_model on = kith::model_by_name(machine);
    const kith::sim::program p = kith::sim::program_of(kith::read_recording(file));
    set.throttle = static_cast<std::uint32_t>(p.recorded.meta_number("throttle", 2048));
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const std::string& policy : policies) {
      set.policy = policy;
      rows.push_back(row(p, on, set, runs));
    }
    fmt::print("{}\n", rows.dump(1));
  } catch (const std::exception& e) {
    fmt::print(stderr, "kith-bench-events: {}\n", e.what());
    return 2;
  }
  return 0;
}
