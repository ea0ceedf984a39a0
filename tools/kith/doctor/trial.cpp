// The proof of the other checks: a runtime with the settings of the environment, started and used.
#include "doctor/checks.hpp"
#include "numbers.hpp"

#include <kith/kith.hpp>

#include <fmt/format.h>

#include <atomic>

namespace kith::tools {

finding check_trial(const worker_plan& plan) {
  finding f{.key = "trial"};
  constexpr int tasks = 1000;
  try {
    runtime started;
    std::atomic<int> ran{0};
    started.run([&] {
      for (int i = 0; i < tasks; ++i) spawn([&] { ran.fetch_add(1, std::memory_order_relaxed); });
    });
    f.details = {{"workers", started.workers()}, {"policy", started.policy()}, {"tasks", ran.load()}};
    f.fact = fmt::format("a runtime starts: {}, policy '{}', {} of {} tasks ran",
                         counted(static_cast<std::size_t>(started.workers()), "worker"), started.policy(), ran.load(),
                         tasks);
    f.effect = "this is how a program runs that sets nothing itself";
    if (ran != tasks || started.workers() != plan.workers) {
      f.is = verdict::broken;
      f.advice = fmt::format("expected {} workers and {} tasks; please report this", plan.workers, tasks);
    }
  } catch (const std::exception& e) {
    f.is = verdict::broken;
    f.fact = std::string("a runtime does not start: ") + e.what();
    f.effect = "programs that set nothing themselves end with this error";
    f.advice = "correct the setting that the error names";
  }
  return f;
}

}  // namespace kith::tools
