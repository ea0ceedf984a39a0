// kith-bench startup: starting and stopping a runtime, beside bare threads. Each sample is a fresh process.
#include "job.hpp"
#include "rows.hpp"
#include "verbs.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <stdexcept>

namespace kith::bench {

namespace {

struct figure {
  const char* system;
  const char* what;
};
/// In the order in which kith-bench-startup prints them.
constexpr std::array figures{figure{"kith", "first start"}, figure{"kith", "start"}, figure{"kith", "stop"},
                             figure{"threads", "start"}, figure{"threads", "stop"}};

}  // namespace

void run_startup(const options& o) {
  if (!o.systems.empty())
    throw std::runtime_error("--systems has no effect here: only kith and bare threads are timed");
  const std::vector<int> cores = allowed_cores();
  const auto program = program_of("kith").parent_path() / "kith-bench-startup";
  if (!std::filesystem::exists(program)) throw std::runtime_error(program.string() + " was not built (make build)");
  std::vector<int> counts{static_cast<int>(std::max<std::size_t>(1, cores.size())), many_workers};
  if (o.workers > 0) counts = {o.workers};

  std::map<int, std::array<std::vector<sample>, figures.size()>> samples;
  for (int round = 0; round < o.rounds; ++round) {
    for (const int workers : counts) {
      show_progress("round " + std::to_string(round + 1) + " of " + std::to_string(o.rounds));
      const machine_state before = measure_machine(cores);
      std::istringstream said(output_of({program.string(), std::to_string(workers)}));
      const machine_state after = measure_machine(cores);
      for (auto& of : samples[workers]) {
        double value = 0;
        if (!(said >> value)) throw std::runtime_error(program.string() + " has not printed its five times");
        of.push_back({value, before, after});
      }
    }
  }
  end_progress();
  std::vector<nlohmann::ordered_json> rows;
  for (const auto& [workers, of] : samples) {
    for (std::size_t i = 0; i < figures.size(); ++i) {
      nlohmann::ordered_json row{{"system", figures[i].system}, {"case", figures[i].what}, {"workers", workers}};
      add_summary(row, of[i], o);
      row["unit"] = "ms";
      rows.push_back(std::move(row));
    }
  }
  print_with_workers(rows, o);
}

}  // namespace kith::bench
