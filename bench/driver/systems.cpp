#include "systems.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>

namespace kith::bench {

namespace {

const std::array<system_description, 6> systems{{
    {"kith", {}, {{"KITH_THROTTLE", "0"}}},
    {"floor", {}, {}},
    {"libgomp", bound_openmp(), {}},
    {"libomp", bound_openmp(), {{"KMP_ENABLE_TASK_THROTTLING", "0"}}},
    {"onetbb", {}, {}},
    {"starpu", {{"STARPU_SILENT", "1"}, {"STARPU_NCUDA", "0"}, {"STARPU_NOPENCL", "0"}}, {}},
}};

const system_description& description_of(const std::string& name) {
  std::string known;
  for (const system_description& s : systems) {
    if (name == s.name) return s;
    known += known.empty() ? "" : ", ";
    known += s.name;
  }
  throw std::runtime_error("--systems: unknown system \"" + name + "\"; expected some of " + known);
}

}  // namespace

child::settings bound_openmp() {
  return {{"OMP_PROC_BIND", "close"}, {"OMP_PLACES", "cores"}, {"OMP_DYNAMIC", "false"}};
}

std::span<const system_description> all_systems() { return systems; }

std::filesystem::path program_of(const std::string& system) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / ("kith-bench-peer-" + system);
}

int workers_of(const options& o, std::size_t cores) {
  return o.workers > 0 ? o.workers : static_cast<int>(std::max<std::size_t>(1, cores));
}

std::vector<int> one_and_all(const options& o, std::size_t cores) {
  const int most = workers_of(o, cores);
  if (o.workers > 0 || most == 1) return {most};
  return {1, most};
}

std::vector<std::unique_ptr<child>> start_systems(const options& o, int workers) {
  std::vector<std::string> names = o.systems;
  for (const std::string& name : names) description_of(name);
  if (names.empty()) {
    for (const system_description& s : systems) names.emplace_back(s.name);
  }
  std::vector<std::unique_ptr<child>> started;
  for (const std::string& name : names) {
    const auto program = program_of(name);
    if (!std::filesystem::exists(program)) {
      std::fprintf(
          stderr,
          "kith-bench: %s is left out: %s was not built; install its package (make bench does) and build again\n",
          name.c_str(), program.c_str());
      continue;
    }
    started.push_back(std::make_unique<child>(name, program, workers, o.realtime, description_of(name).environment));
  }
  if (started.empty())
    throw std::runtime_error("no system is left to measure; build the benchmarks first (make build)");
  return started;
}

double bytes_per_task(const std::string& system, const request& what, int workers) {
  const system_description& s = description_of(system);
  child::settings environment = s.environment;
  environment.insert(environment.end(), s.unlimited.begin(), s.unlimited.end());
  // At least two workers: the first task waits on one worker while another creates the rest.
  child fresh(system, program_of(system), std::max(2, workers), false, environment);
  child::turn now(fresh);
  const reply r = fresh.ask(what);
  return r.ok && r.tasks > 0 ? r.nanoseconds / static_cast<double>(r.tasks) : 0;
}

void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K%s", text.c_str());
}
void end_progress() { show_progress(""); }

}  // namespace kith::bench
