// kith-bench dag: the cost of an empty task, in five programs.
#include "verbs.hpp"

#include "dags.hpp"
#include "rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace kith::bench {

namespace {

struct dag_case {
  const char* name;
  std::int64_t size;  // as in the literature: number of rows, tiles or tasks
  std::int64_t check_size;
  double power;  // the number of tasks grows with this power of the size
  int repeats;   // runs in one sample, so that a sample takes some milliseconds
};
constexpr dag_case cases[] = {{"wavefront", 1000, 100, 2, 1},
                              {"wavefront-address", 1000, 100, 2, 1},
                              {"cholesky", 60, 16, 3, 8},
                              {"independent", 1'000'000, 10'000, 1, 1},
                              {"nested", 1'000'000, 10'000, 1, 1}};

/// One system on one case, with the graph made before the clock starts or after.
struct contender {
  child* process;
  const dag_case* on;
  bool prebuilt;
  std::int64_t size;
  double bytes = 0;
  std::vector<sample> samples;
  std::int64_t tasks = 0;
};

request asking(verb what, const dag_case& c, std::int64_t size, bool prebuilt) {
  request q;
  q.what = what;
  q.subject = c.name;
  q.size = size;
  q.prebuilt = prebuilt;
  return q;
}

/// Checks the system, warms it up, and chooses a size that takes at most `longest_ns`. False if the system does
/// not offer the case.
bool prepare(contender& c, double longest_ns) {
  child::turn now(*c.process);
  const reply checked = c.process->ask(asking(verb::check, *c.on, c.on->check_size, c.prebuilt));
  if (!checked.ok) {
    if (checked.text != "not offered by this system") {
      std::fprintf(stderr, "kith-bench: %s is left out of %s: %s\n", c.process->system().c_str(), c.on->name,
                   checked.text.c_str());
    }
    return false;
  }
  const std::int64_t trial = std::max<std::int64_t>(
      2, static_cast<std::int64_t>(static_cast<double>(c.on->size) * std::pow(0.05, 1 / c.on->power)));
  const reply tried = c.process->ask(asking(verb::dag, *c.on, trial, c.prebuilt));
  if (!tried.ok) return false;
  const double full = tried.nanoseconds / 0.05;
  c.size =
      full <= longest_ns
          ? c.on->size
          : static_cast<std::int64_t>(static_cast<double>(c.on->size) * std::pow(longest_ns / full, 1 / c.on->power));
  c.process->ask(asking(verb::dag, *c.on, c.size, c.prebuilt));  // the first run pays for fresh memory
  return c.process->alive();
}

void measure(contender& c, const std::vector<int>& cores) {
  if (!c.process->alive()) return;
  sample s{0, measure_machine(cores), {}};
  double nanoseconds = 0;
  std::int64_t tasks = 0;
  {
    child::turn now(*c.process);
    for (int i = 0; i < c.on->repeats; ++i) {
      const reply r = c.process->ask(asking(verb::dag, *c.on, c.size, c.prebuilt));
      if (!r.ok) {
        std::fprintf(stderr, "kith-bench: %s in %s: %s\n", c.process->system().c_str(), c.on->name, r.text.c_str());
        return;
      }
      nanoseconds += r.nanoseconds;
      tasks += r.tasks;
    }
  }
  s.after = measure_machine(cores);
  s.value = nanoseconds / static_cast<double>(tasks);
  c.tasks = tasks / c.on->repeats;
  c.samples.push_back(s);
}

}  // namespace

void run_dag(const options& o) {
  const std::vector<int> cores = allowed_cores();
  const int workers = workers_of(o, cores.size());
  const auto children = start_systems(o, workers);

  std::vector<contender> contenders;
  for (const dag_case& on : cases) {
    for (const auto& process : children) {
      for (bool prebuilt : {false, true}) {
        contender c{process.get(), &on, prebuilt, on.size, 0, {}, 0};
        show_progress("checking " + process->system() + " on " + on.name);
        if (!prepare(c, o.quick ? 2e8 : 1e9)) continue;
        request what = asking(verb::bytes, on,
                              std::min(on.size, on.power == 1 ? std::int64_t{50'000} : std::int64_t{300}), prebuilt);
        c.bytes = bytes_per_task(process->system(), what, workers);
        contenders.push_back(std::move(c));
      }
    }
  }
  for (int round = 0; round < o.rounds; ++round) {
    for (contender& c : contenders) {
      show_progress("round " + std::to_string(round + 1) + " of " + std::to_string(o.rounds) + ": " +
                    c.process->system() + " " + c.on->name);
      measure(c, cores);
    }
  }
  end_progress();

  std::vector<nlohmann::ordered_json> rows;
  for (const contender& c : contenders) {
    if (c.samples.empty()) continue;
    nlohmann::ordered_json row{{"system", c.process->system()},
                               {"version", c.process->version()},
                               {"case", c.on->name},
                               {"prebuilt", c.prebuilt},
                               {"tasks", c.tasks},
                               {"workers", workers}};
    add_summary(row, c.samples, o);
    row["unit"] = "ns/task";
    row["bytes_per_task"] = c.bytes > 0 ? nlohmann::ordered_json(std::round(c.bytes)) : nlohmann::ordered_json();
    rows.push_back(std::move(row));
  }
  print(rows, o);
  if (rows.empty()) throw std::runtime_error("no system could be measured: see above");
}

}  // namespace kith::bench
