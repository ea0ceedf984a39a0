#include "doctor/recorded.hpp"

#include "base/printable.hpp"
#include "doctor/examination.hpp"
#include "numbers.hpp"
#include "recording/file.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kith::tools {

namespace {

/// The share of overhead in a type's time from which its tasks are reported as too small.
constexpr double large_share = 0.25;
constexpr std::uint64_t few_tasks = 100;

finding of_type(const analysis::type_granularity& g, const std::string& name) {
  finding f{.key = "task_size"};
  f.fact = fmt::format("tasks of `{}` take {}; {:.0f}% of the time is overhead", name, in_time(g.mean_ns),
                       100 * g.overhead_share);
  f.details = {{"type", name},
               {"tasks", g.tasks},
               {"mean_ns", std::round(g.mean_ns)},
               {"overhead_share", g.overhead_share},
               {"merge", g.merge}};
  if (g.overhead_share < large_share || !g.matters || g.tasks < few_tasks) return f;
  f.is = verdict::limited;
  f.fact += fmt::format("; merge about {}", g.merge);
  f.effect = "the workers create, queue and end tasks for longer than a tenth of the time that tasks should cost";
  f.advice = fmt::format("give each task the work of about {}: larger blocks, or an earlier cut-off", g.merge);
  return f;
}

}  // namespace

bool examination_of_run::is_limited() const {
  return std::ranges::any_of(findings, [](const finding& f) { return f.is == verdict::limited; });
}

examination_of_run examine_run(const std::string& file) {
  const recording r = read_recording(file);
  examination_of_run e{analysis::granularity_of(r), {}};
  e.findings.push_back(
      {.key = "run",
       .fact = fmt::format("{} on {}; of the time in which they had something to do, {:.0f}% is overhead, {} a task",
                           counted(e.granularity.tasks, "task"), counted(r.worker_node.size(), "worker"),
                           100 * e.granularity.overhead_share, in_time(e.granularity.overhead_ns))});
  // What is to be done comes first: a single tiny task may have a larger share of overhead than thousands that matter.
  std::vector<finding> fine;
  for (const analysis::type_granularity& g : e.granularity.types) {
    finding f = of_type(g, printable(r.types[g.type], 60));
    (f.is == verdict::limited ? e.findings : fine).push_back(std::move(f));
  }
  e.findings.insert(e.findings.end(), fine.begin(), fine.end());
  return e;
}

nlohmann::ordered_json to_json(const examination_of_run& e) {
  return {{"status", e.is_limited() ? "limited" : "fine"},
          {"tasks", e.granularity.tasks},
          {"overhead_ns", std::round(e.granularity.overhead_ns)},
          {"overhead_share", e.granularity.overhead_share},
          {"findings", to_json(e.findings)}};
}

}  // namespace kith::tools
