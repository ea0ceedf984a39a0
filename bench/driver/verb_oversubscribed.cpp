// kith-bench oversubscribed: more workers than cores, and a busy program beside them. Each case runs in turns with one
// worker for each core and with many, so the cost of the surplus workers is a ratio of two rows.
#include "fork_systems.hpp"
#include "rows.hpp"
#include "verbs.hpp"

#include "memory.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <tuple>

namespace kith::bench {

namespace {

constexpr double crowded_sample = 0.2e9;  // ns

/// The protocol of a program: that of `dag`, of `forkjoin`, or of `loops`.
enum class family { peer, fork, loops };

struct crowded_case {
  const char* name;
  family from;
  const char* subject;
  std::int64_t trial, most, check;  // sizes; check: 0 if the program checks each run itself
  double power;                     // the number of tasks grows with this power of the size; 0: the size is fixed
  bool neighbour;                   // another program keeps one core busy
};
constexpr crowded_case crowded_cases[] = {
    {"wavefront", family::peer, "wavefront", 60, 300, 40, 2, false},
    {"cholesky", family::peer, "cholesky", 16, 50, 12, 3, false},
    {"independent", family::peer, "independent", 5'000, 200'000, 5'000, 1, false},
    {"forkjoin", family::fork, "fib", 18, 35, 0, 0, false},
    {"loops", family::loops, "tiny", 256, 256, 0, 0, false},
    {"wavefront beside a program", family::peer, "wavefront", 60, 300, 40, 2, true},
    {"cholesky beside a program", family::peer, "cholesky", 16, 50, 12, 3, true},
    {"forkjoin beside a program", family::fork, "fib", 18, 35, 0, 0, true},
};
constexpr std::array systems_here{"kith", "onetbb", "libgomp", "libomp"};

/// A process that computes whenever it may run; stopped at first.
class busy_program {
 public:
  busy_program() : pid_(fork()) {
    if (pid_ < 0) throw std::runtime_error("the busy program cannot be started");
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) relax();
    }
    kill(pid_, SIGSTOP);
  }
  ~busy_program() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  busy_program(const busy_program&) = delete;
  busy_program& operator=(const busy_program&) = delete;
  void runs(bool now) const { kill(pid_, now ? SIGCONT : SIGSTOP); }

 private:
  pid_t pid_;
};

struct crowd {
  child* process;
  const crowded_case* on;
  int workers;
  std::int64_t size;
  std::int64_t tasks = 0;
  std::vector<sample> samples;
};

reply ask(const crowd& c, verb what, std::int64_t size) {
  request q;
  q.what = what;
  q.subject = c.on->subject;
  q.size = size;
  return c.process->ask(q);
}

/// Checks the system, warms it up, and chooses a size that takes at most about `crowded_sample`. False, with a message
/// if it fails.
bool warm_up(crowd& c) {
  child::turn now(*c.process);
  reply r{true, 0, 0, ""};
  if (c.on->check != 0) r = ask(c, verb::check, c.on->check);
  if (r.ok) r = ask(c, verb::dag, c.on->trial);
  if (r.ok) r = ask(c, verb::dag, c.on->trial);
  if (!r.ok) {
    if (r.text != "not offered by this system")
      std::fprintf(stderr, "kith-bench: %s with %d workers is left out of %s: %s\n", c.process->system().c_str(),
                   c.workers, c.on->name, r.text.c_str());
    return false;
  }
  const double room = crowded_sample / std::max(1.0, r.nanoseconds);
  if (c.on->from == family::fork) {
    for (double left = room; c.size < c.on->most && (left /= 1.618) >= 1;) ++c.size;
  } else if (c.on->power > 0 && room > 1) {
    c.size =
        std::min(c.on->most, static_cast<std::int64_t>(static_cast<double>(c.size) * std::pow(room, 1 / c.on->power)));
  }
  return true;
}

void take_sample(crowd& c, const std::vector<int>& cores, const busy_program& other) {
  if (!c.process->alive()) return;
  sample s{0, measure_machine(cores), {}};
  reply r;
  {
    if (c.on->neighbour) other.runs(true);
    child::turn now(*c.process);
    r = ask(c, verb::dag, c.size);
    if (c.on->neighbour) other.runs(false);
  }
  if (!r.ok) {
    std::fprintf(stderr, "kith-bench: %s in %s: %s\n", c.process->system().c_str(), c.on->name, r.text.c_str());
    return;
  }
  s.after = measure_machine(cores);
  s.value = r.nanoseconds / static_cast<double>(r.tasks);
  c.tasks = r.tasks;
  c.samples.push_back(s);
}

std::filesystem::path program_for(family kind, const std::string& system) {
  const auto folder = program_of(system).parent_path();
  if (kind == family::peer) return program_of(system);
  if (kind == family::loops) return folder / ("kith-bench-loops-" + system);
  return folder / ("kith-bench-fork-" + (system == "kith" ? "kith-join" : system));
}

}  // namespace

void run_oversubscribed(const options& o) {
  for (const std::string& name : o.systems) {
    if (std::ranges::find(systems_here, name) == systems_here.end())
      throw std::runtime_error("--systems: unknown system \"" + name +
                               "\"; expected some of kith, onetbb, libgomp, libomp");
  }
  const std::vector<int> cores = allowed_cores();
  const int few = static_cast<int>(std::max<std::size_t>(1, cores.size()));
  const int many = o.workers > 0 ? o.workers : many_workers;
  const busy_program other;
  std::map<std::tuple<family, std::string, int>, std::unique_ptr<child>> children;
  std::vector<crowd> crowds;
  for (const crowded_case& on : crowded_cases) {
    for (const std::string system : systems_here) {
      if (!o.systems.empty() && std::ranges::find(o.systems, system) == o.systems.end()) continue;
      const auto program = program_for(on.from, system);
      if (!std::filesystem::exists(program)) {
        std::fprintf(stderr, "kith-bench: %s is left out of %s: %s was not built; %s\n", system.c_str(), on.name,
                     program.c_str(), remedy_for(system).c_str());
        continue;
      }
      for (const int workers : {few, many}) {
        show_progress("checking " + system + " on " + on.name);
        auto& process = children[{on.from, system, workers}];
        if (!process) {
          const child::settings environment = system == "kith"
                                                  ? child::settings{{"KITH_OVERSUBSCRIBE", "1"}}
                                                  : (system.starts_with("lib") ? bound_openmp() : child::settings{});
          process = std::make_unique<child>(system, program, workers, o.realtime, environment);
        }
        crowd c{process.get(), &on, workers, on.trial, 0, {}};
        if (warm_up(c)) crowds.push_back(std::move(c));
      }
    }
  }
  for (int round = 0; round < o.rounds; ++round) {
    for (crowd& c : crowds) {
      show_progress("round " + std::to_string(round + 1) + " of " + std::to_string(o.rounds) + ": " +
                    c.process->system() + " " + c.on->name);
      take_sample(c, cores, other);
    }
  }
  end_progress();
  std::vector<nlohmann::ordered_json> rows;
  for (const crowd& c : crowds) {
    if (c.samples.empty()) continue;
    nlohmann::ordered_json row{{"system", c.process->system()},
                               {"version", c.process->version()},
                               {"case", c.on->name},
                               {"tasks", c.tasks},
                               {"workers", c.workers}};
    add_summary(row, c.samples, o);
    row["unit"] = "ns/task";
    rows.push_back(std::move(row));
  }
  print_with_workers(rows, o);
  if (rows.empty()) throw std::runtime_error("no system could be measured: see above");
}

}  // namespace kith::bench
