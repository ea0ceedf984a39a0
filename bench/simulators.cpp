// kith-bench-simulators: the time of Kith's simulator and of SimGrid for the same task graph.
//
// The graph is that of a recording: its tasks with their computing time, and their dependences, but no data. SimGrid
// (S4U, one actor for each core) takes ready tasks first come, first served. Kith runs the recording under `fifo`, in
// abstract fidelity, with scheduling free; each task is created by its creator, in no time. Each run is a process of
// its own, and the two alternate.
#include "engine/sim/program.hpp"
#include "engine/sim/simulation.hpp"
#include "recording/file.hpp"
#include "summary.hpp"

#include <kith/error.hpp>

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <simgrid/s4u.hpp>
// The header is not self-contained.
#include <simgrid/version.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace {

struct sample {
  double seconds = 0;   // building the graph and running it
  double makespan = 0;  // simulated
};

std::string version_of_simgrid() {
  int major = 0, minor = 0, patch = 0;
  sg_version_get(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

bool computes(const kith::recorded_task& t) {
  return !t.has(kith::recorded_task::root) && !t.has(kith::recorded_task::fence) && t.worker >= 0;
}

/// One actor on each host takes ready tasks, first come, first served.
double by_simgrid(const kith::recording& r, int workers) {
  namespace s4u = simgrid::s4u;
  int argc = 2;
  char name[] = "simgrid", quiet[] = "--log=root.thresh:error";
  char* argv[] = {name, quiet, nullptr};
  s4u::Engine engine(&argc, argv);

  const std::size_t tasks = r.tasks.size();
  std::vector<std::vector<std::int32_t>> successors(tasks);
  std::vector<std::int32_t> waits_for(tasks);
  std::deque<std::size_t> ready;
  std::size_t left = 0;
  for (std::size_t t = 0; t < tasks; ++t) {
    if (!computes(r.tasks[t])) continue;
    for (std::uint64_t d = r.first_dependence[t]; d < r.first_dependence[t + 1]; ++d) {
      const auto before = static_cast<std::size_t>(r.dependences[d].before);
      if (!computes(r.tasks[before])) continue;
      successors[before].push_back(static_cast<std::int32_t>(t));
      ++waits_for[t];
    }
    if (waits_for[t] == 0) ready.push_back(t);
    ++left;
  }

  std::vector<s4u::ActorPtr> idle;
  const auto work = [&] {
    while (left > 0) {
      if (ready.empty()) {
        idle.emplace_back(s4u::Actor::self());
        s4u::this_actor::suspend();
        continue;
      }
      const std::size_t t = ready.front();
      ready.pop_front();
      s4u::this_actor::execute(static_cast<double>(r.tasks[t].work_ns));
      for (std::int32_t s : successors[t]) {
        if (--waits_for[static_cast<std::size_t>(s)] == 0) ready.push_back(static_cast<std::size_t>(s));
      }
      --left;
      for (std::size_t wanted = left == 0 ? idle.size() : ready.size(); wanted > 0 && !idle.empty(); --wanted) {
        const s4u::ActorPtr next = idle.back();
        idle.pop_back();
        next->resume();  // other actors run meanwhile
      }
    }
  };
  s4u::NetZone* const zone = s4u::create_full_zone("machine");
  std::vector<s4u::Host*> hosts;
  for (int w = 0; w < workers; ++w) hosts.push_back(zone->create_host("core-" + std::to_string(w), 1e9)->seal());
  zone->seal();
  for (s4u::Host* h : hosts) s4u::Actor::create("worker", h, work);
  engine.run();
  return s4u::Engine::get_clock();
}

double by_kith(const kith::recording& r, const kith::machine_model& on, int workers) {
  kith::sim::run_options set;
  set.policy = "fifo";
  set.workers = workers;
  set.fidelity = kith::sim::fidelity::abstract;
  set.parts.scheduling = false;
  set.noise = false;
  kith::sim::program p = kith::sim::program_of(r, on.core_gbs);
  std::ranges::fill(p.bytes, 0);
  for (std::int32_t root : p.roots) {
    for (std::uint64_t a = p.first_action[static_cast<std::size_t>(root)];
         a < p.first_action[static_cast<std::size_t>(root) + 1]; ++a) {
      if (p.actions[a].what == kith::sim::action::compute) p.actions[a].value = 0;
    }
  }
  return kith::sim::simulate(p, on, set).seconds;
}

/// One run in a process of its own, because SimGrid has one engine in a process, and so that both start with equally
/// fresh memory.
sample measure(const std::function<double()>& run) {
  int ends[2];
  if (pipe(ends) != 0) throw kith::error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    const auto begin = std::chrono::steady_clock::now();
    sample s;
    try {
      s.makespan = run();
    } catch (const std::exception& e) {
      fmt::print(stderr, "kith-bench-simulators: {}\n", e.what());
      _exit(1);
    }
    s.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    _exit(write(ends[1], &s, sizeof s) == sizeof s ? 0 : 1);
  }
  close(ends[1]);
  sample s;
  const bool told = read(ends[0], &s, sizeof s) == sizeof s;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (!told) throw kith::error("a simulation ended without a result");
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("times Kith's simulator and SimGrid's on the task graph of a recording", "kith-bench-simulators");
  std::string file, machine = "xeon-e7-8860";
  int workers = 80, runs = 5;
  app.add_option("file", file, "the recording (`kith record` makes one)")->required();
  app.add_option("--machine", machine, "for Kith, one of `kith machines` (xeon-e7-8860)");
  app.add_option("--workers", workers, "cores (80)")->check(CLI::Range(1, 4096));
  app.add_option("--runs", runs, "of each (5)")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  try {
    const kith::recording r = kith::read_recording(file);
    kith::machine_model on = kith::model_by_name(machine);
    on.memory_share = 0;  // the location of data does not matter
    struct simulator {
      const char* name;
      std::function<double()> run;
      std::vector<double> seconds;
      double makespan = 0;
    };
    simulator all[] = {{"kith", [&] { return by_kith(r, on, workers); }, {}},
                       {"simgrid", [&] { return by_simgrid(r, workers); }, {}}};
    for (int i = 0; i < runs; ++i) {
      for (simulator& s : all) {
        const sample one = measure(s.run);
        s.seconds.push_back(one.seconds);
        s.makespan = one.makespan;
      }
    }
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const simulator& s : all) {
      const kith::bench::summary of = kith::bench::summary_of(s.seconds);
      rows.push_back({{"simulator", s.name},
                      {"version", std::string(s.name) == "kith" ? std::string(KITH_VERSION) : version_of_simgrid()},
                      {"tasks", r.tasks.size()},
                      {"dependences", r.dependences.size()},
                      {"workers", workers},
                      {"seconds", of.median},
                      {"min", of.min},
                      {"max", of.max},
                      {"makespan_s", s.makespan}});
    }
    fmt::print("{}\n", rows.dump(1));
  } catch (const std::exception& e) {
    fmt::print(stderr, "kith-bench-simulators: {}\n", e.what());
    return 2;
  }
  return 0;
}
