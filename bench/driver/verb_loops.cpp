// kith-bench loops: parallel loops, reductions, scans and sorts.
#include "rows.hpp"
#include "verbs.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace kith::bench {

namespace {

struct loop_case {
  const char* name;
  std::int64_t size, quick_size;
  const char* unit;
};
constexpr loop_case loop_cases[] = {{"tiny", 256, 256, "ns/loop"},
                                    {"add", 4'000'000, 400'000, "ns/element"},
                                    {"dot", 4'000'000, 400'000, "ns/element"},
                                    {"scan", 4'000'000, 400'000, "ns/element"},
                                    {"sort", 1'000'000, 100'000, "ns/element"}};
constexpr std::array loop_systems{"kith", "onetbb", "libgomp", "libomp", "serial"};

struct looping {
  child* process;
  const loop_case* on;
  std::int64_t size;
  std::vector<sample> samples;
};

reply run_loop(const looping& l) {
  request q;
  q.what = verb::dag;
  q.subject = l.on->name;
  q.size = l.size;
  return l.process->ask(q);
}

std::vector<std::unique_ptr<child>> start_loop_systems(const options& o, int workers) {
  for (const std::string& name : o.systems) {
    if (std::ranges::find(loop_systems, name) == loop_systems.end())
      throw std::runtime_error("--systems: unknown system \"" + name +
                               "\"; expected some of kith, onetbb, libgomp, libomp, serial");
  }
  std::vector<std::unique_ptr<child>> started;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const std::string name : loop_systems) {
    if (!o.systems.empty() && std::ranges::find(o.systems, name) == o.systems.end()) continue;
    const auto program = folder / ("kith-bench-loops-" + name);
    if (!std::filesystem::exists(program)) {
      std::fprintf(stderr, "kith-bench: %s is left out: %s was not built; %s\n", name.c_str(), program.c_str(),
                   remedy_for(name).c_str());
      continue;
    }
    started.push_back(std::make_unique<child>(name, program, workers, o.realtime,
                                              name.starts_with("lib") ? bound_openmp() : child::settings{}));
  }
  return started;
}

}  // namespace

void run_loops(const options& o) {
  const std::vector<int> cores = allowed_cores();
  const int workers = workers_of(o, cores.size());
  const auto children = start_loop_systems(o, workers);
  std::vector<looping> all;
  for (const loop_case& on : loop_cases) {
    for (const auto& process : children) {
      looping l{process.get(), &on, o.quick ? on.quick_size : on.size, {}};
      child::turn now(*process);
      const reply first = run_loop(l);
      if (first.ok && run_loop(l).ok) {
        all.push_back(l);
      } else if (first.text != "not offered by this system") {
        std::fprintf(stderr, "kith-bench: %s is left out of %s: %s\n", process->system().c_str(), on.name,
                     first.text.c_str());
      }
    }
  }
  for (int round = 0; round < o.rounds; ++round) {
    for (looping& l : all) {
      show_progress("round " + std::to_string(round + 1) + " of " + std::to_string(o.rounds) + ": " +
                    l.process->system() + " " + l.on->name);
      if (!l.process->alive()) continue;
      sample s{0, measure_machine(cores), {}};
      {
        child::turn now(*l.process);
        const reply r = run_loop(l);
        if (!r.ok) continue;
        s.value = r.nanoseconds / static_cast<double>(r.tasks);
      }
      s.after = measure_machine(cores);
      l.samples.push_back(s);
    }
  }
  end_progress();
  std::vector<nlohmann::ordered_json> rows;
  for (const looping& l : all) {
    if (l.samples.empty()) continue;
    nlohmann::ordered_json row{{"system", l.process->system()},
                               {"version", l.process->version()},
                               {"case", l.on->name},
                               {"n", l.size},
                               {"workers", workers}};
    add_summary(row, l.samples, o);
    row["unit"] = l.on->unit;
    rows.push_back(std::move(row));
  }
  print_with_workers(rows, o);
  if (rows.empty()) throw std::runtime_error("no system could be measured: see above");
}

}  // namespace kith::bench
