// Proves the other checks: starts and uses a runtime with the settings of the environment.
#include "doctor/checks.hpp"
#include "numbers.hpp"

#include <kith/kith.hpp>

#include <fmt/format.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>

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

/// Blocks much smaller than huge pages, each first touched by a task on another node.
finding check_homes(const machine& here) {
  finding f{.key = "homes"};
  f.details = {{"asked", 0}, {"elsewhere", 0}};
  if (here.nodes.size() < 2 || here.pretended) {
    f.fact = "one memory node, or pretended ones: every home is where it is said to be";
    return f;
  }
  static constexpr std::size_t block = std::size_t{128} << 10, blocks = 64;
  try {
    runtime_options o;
    o.policy = "socket";
    runtime started(o);
    const std::unique_ptr<std::byte[]> data(new std::byte[block * blocks]);
    started.run([&] {
      for (std::size_t b = 0; b < blocks; ++b)
        spawn([at = data.get() + b * block] { std::memset(at, 1, block); }, out(data.get() + b * block, block),
              node{static_cast<int>(b % here.nodes.size())});
    });
    const statistics s = started.statistics();
    f.details = {{"asked", s.homes_asked}, {"elsewhere", s.homes_elsewhere}};
    if (s.homes_asked == 0) {
      f.is = verdict::note;
      f.fact = "the system does not say where pages are, so nobody knows whether homes are right";
    } else if (s.homes_elsewhere != 0) {
      f.is = verdict::limited;
      f.fact =
          fmt::format("of {} homes of {} KiB that were tried, {} are on another node than the task that touched them",
                      s.homes_asked, block >> 10, s.homes_elsewhere);
      f.effect = "policies that place tasks by their data are wrong until a sample finds it out";
      f.advice = "see whether a node's memory is full, and the findings on memory above";
    } else {
      f.fact = fmt::format("{} homes of {} KiB that were tried are where they were touched first", s.homes_asked,
                           block >> 10);
      f.effect = "statistics::homes_elsewhere says the same of a program's own";
    }
  } catch (const std::exception& e) {
    f.is = verdict::broken;
    f.fact = std::string("homes could not be tried: ") + e.what();
    f.effect = "see the trial above";
  }
  return f;
}

}  // namespace kith::tools
