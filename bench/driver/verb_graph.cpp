// kith-bench graph: the cost of a node in a graph that was made before and is run again.
#include "rows.hpp"
#include "verbs.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace kith::bench {

namespace {

struct graph_case {
  const char* name;
  std::int64_t size, quick_size;
};
constexpr graph_case graph_cases[] = {
    {"wavefront", 1000, 200}, {"cholesky", 60, 30}, {"independent", 1'000'000, 50'000}};
constexpr std::array graph_systems{"kith-captured", "kith-static", "kith-repeat", "counters", "onetbb", "taskflow"};

struct rerun {
  std::unique_ptr<child> process;
  int workers;
};

reply ask_graph(child& process, verb what, const graph_case& on, std::int64_t size) {
  request q;
  q.what = what;
  q.subject = on.name;
  q.size = size;
  return process.ask(q);
}

/// True if the system runs the case, and its results are those of the sequential program.
bool is_right(const rerun& r, const graph_case& on) {
  child::turn now(*r.process);
  const reply checked = ask_graph(*r.process, verb::check, on, on.quick_size);
  if (checked.ok) return true;
  std::fprintf(stderr, "kith-bench: %s is left out of %s: %s\n", r.process->system().c_str(), on.name,
               checked.text.c_str());
  return false;
}

std::vector<rerun> start_graph_systems(const options& o, const std::vector<int>& counts) {
  for (const std::string& name : o.systems) {
    if (std::ranges::find(graph_systems, name) != graph_systems.end()) continue;
    std::string wrong = "--systems: unknown system \"" + name + "\"; expected some of";
    for (const char* known : graph_systems) wrong.append(known == graph_systems.front() ? " " : ", ").append(known);
    throw std::runtime_error(wrong);
  }
  std::vector<rerun> started;
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  for (const std::string name : graph_systems) {
    if (!o.systems.empty() && std::ranges::find(o.systems, name) == o.systems.end()) continue;
    const auto program = folder / ("kith-bench-graph-" + name);
    if (!std::filesystem::exists(program)) {
      std::fprintf(stderr, "kith-bench: %s is left out: %s was not built; %s\n", name.c_str(), program.c_str(),
                   remedy_for(name).c_str());
      continue;
    }
    for (const int workers : counts)
      started.push_back({std::make_unique<child>(name, program, workers, o.realtime), workers});
  }
  return started;
}

void take_sample(const rerun& r, const graph_case& on, std::int64_t size, const std::vector<int>& cores,
                 std::vector<sample>& samples) {
  if (!r.process->alive()) return;
  sample s{0, measure_machine(cores), {}};
  {
    child::turn now(*r.process);
    const reply answered = ask_graph(*r.process, verb::dag, on, size);
    if (!answered.ok) {
      std::fprintf(stderr, "kith-bench: %s: %s\n", r.process->system().c_str(), answered.text.c_str());
      return;
    }
    s.value = answered.nanoseconds / static_cast<double>(answered.tasks);
  }
  s.after = measure_machine(cores);
  samples.push_back(s);
}

}  // namespace

void run_graph(const options& o) {
  const std::vector<int> cores = allowed_cores();
  const std::vector<int> counts = one_and_all(o, cores.size());
  const std::vector<rerun> systems = start_graph_systems(o, counts);
  std::vector<nlohmann::ordered_json> rows;
  for (const graph_case& on : graph_cases) {  // one after the other, because a child keeps one graph
    const std::int64_t size = o.quick ? on.quick_size : on.size;
    std::vector<std::pair<const rerun*, std::vector<sample>>> measured;
    for (const rerun& r : systems) {
      show_progress(std::string("checking ") + r.process->system() + " " + on.name);
      if (is_right(r, on)) measured.push_back({&r, {}});
    }
    for (int round = 0; round < o.rounds; ++round) {
      for (auto& [r, samples] : measured) {
        show_progress(std::string(on.name) + ", round " + std::to_string(round + 1) + " of " +
                      std::to_string(o.rounds) + ": " + r->process->system());
        take_sample(*r, on, size, cores, samples);
      }
    }
    for (const auto& [r, samples] : measured) {
      if (samples.empty()) continue;
      nlohmann::ordered_json row{{"system", r->process->system()},
                                 {"version", r->process->version()},
                                 {"case", on.name},
                                 {"n", size},
                                 {"workers", r->workers}};
      add_summary(row, samples, o);
      row["unit"] = "ns/node";
      rows.push_back(std::move(row));
    }
  }
  end_progress();
  print_with_workers(rows, o);
  if (rows.empty()) throw std::runtime_error("no system could be measured: see above");
}

}  // namespace kith::bench
