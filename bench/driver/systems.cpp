#include "systems.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace kith::bench {

namespace {

const std::array<system_description, 8> systems{{
    {"kith", {}, {{"KITH_THROTTLE", "0"}}},
    {"floor", {}, {}},
    {"libgomp", bound_openmp(), {}},
    {"libomp", bound_openmp(), {{"KMP_ENABLE_TASK_THROTTLING", "0"}}},
    {"onetbb", {}, {}},
    {"taskflow-async", {}, {}},
    {"taskflow-static", {}, {}},
    {"starpu", {{"STARPU_SILENT", "1"}, {"STARPU_NCUDA", "0"}, {"STARPU_NOPENCL", "0"}}, {}},
}};

constexpr std::string_view with_policy = "kith:";

/// A system by its name; `kith:POLICY` is kith under that policy.
struct named_system {
  std::string name;
  const system_description* about;
  child::settings environment;  // set always

  explicit named_system(const std::string& n) : name(n) {
    const bool has_policy = name.starts_with(with_policy);
    std::string known;
    for (const system_description& s : systems) {
      if ((has_policy ? "kith" : name) == s.name) {
        about = &s;
        environment = s.environment;
        if (has_policy) environment.emplace_back("KITH_POLICY", name.substr(with_policy.size()));
        return;
      }
      known += known.empty() ? "" : ", ";
      known += s.name;
    }
    throw std::runtime_error("--systems: unknown system \"" + name + "\"; expected some of " + known +
                             ", or kith:POLICY");
  }
};

}  // namespace

std::string remedy_for(std::string_view system) {
  constexpr std::pair<std::string_view, std::string_view> checkouts[] = {
      {"taskflow", "KITH_TASKFLOW"}, {"lace", "KITH_LACE"}, {"libfork", "KITH_LIBFORK"}};
  for (const auto& [name, variable] : checkouts) {
    if (system.starts_with(name))
      return "name its checkout by cmake -D" + std::string(variable) + "=FOLDER and build again";
  }
  return "install its package (make bench does) and build again";
}

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
  if (names.empty()) {
    for (const system_description& s : systems) names.emplace_back(s.name);
  }
  const std::vector<named_system> chosen(names.begin(), names.end());
  std::vector<std::unique_ptr<child>> started;
  for (const named_system& s : chosen) {
    const auto program = program_of(s.about->name);
    if (!std::filesystem::exists(program)) {
      std::fprintf(stderr, "kith-bench: %s is left out: %s was not built; %s\n", s.name.c_str(), program.c_str(),
                   remedy_for(s.name).c_str());
      continue;
    }
    started.push_back(std::make_unique<child>(s.name, program, workers, o.realtime, s.environment));
  }
  if (started.empty())
    throw std::runtime_error("no system is left to measure; build the benchmarks first (make build)");
  return started;
}

double bytes_per_task(const std::string& system, const request& what, int workers) {
  named_system s(system);
  s.environment.insert(s.environment.end(), s.about->unlimited.begin(), s.about->unlimited.end());
  // At least two workers: the first task waits on one worker while another creates the rest.
  child fresh(system, program_of(s.about->name), std::max(2, workers), false, s.environment);
  child::turn now(fresh);
  const reply r = fresh.ask(what);
  return r.ok && r.tasks > 0 ? r.nanoseconds / static_cast<double>(r.tasks) : 0;
}

void show_progress(const std::string& text) {
  if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K%s", text.c_str());
}
void end_progress() { show_progress(""); }

}  // namespace kith::bench
