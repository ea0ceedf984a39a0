// Schedules made before the run: where tasks run and in which order, with queues in memory and in the scheduling unit.
#include "engine/sim/simulation.hpp"
#include "support/recordings.hpp"
#include "support/simulated_programs.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace {

using namespace kith;
using test::free_chip;
using test::independent_tasks;

sim::run_options following(const sim::plan& p, int workers, bool in_unit) {
  sim::run_options s;
  s.plan = std::make_shared<const sim::plan>(p);
  s.workers = workers;
  s.fidelity = sim::fidelity::abstract;
  s.noise = false;
  s.keep_schedule = true;
  if (in_unit) s.hardware = {.used = true, .cycles = 0, .prefetch = 0};
  return s;
}

TEST(sim_plan, decides_where_tasks_run) {
  const sim::program p = independent_tasks(12);
  sim::plan made{std::vector<std::int32_t>(p.tasks(), -1), std::vector<double>(p.tasks()), false};
  for (std::size_t t = 1; t < p.tasks(); ++t) made.core[t] = static_cast<std::int32_t>(t % 3);
  for (const bool in_unit : {false, true}) {
    const sim::result r = sim::simulate(p, free_chip(), following(made, 4, in_unit));
    for (std::size_t t = 1; t < p.tasks(); ++t) {
      if (r.schedule.tasks[t].has(recorded_task::root)) continue;
      EXPECT_EQ(r.schedule.tasks[t].worker, made.core[t]) << t;
    }
  }
}

TEST(sim_plan, decides_the_order_of_a_core) {
  const sim::program p = independent_tasks(9);
  sim::plan made{std::vector<std::int32_t>(p.tasks(), 0), std::vector<double>(p.tasks()), true};
  for (std::size_t t = 0; t < p.tasks(); ++t) made.rank[t] = -static_cast<double>(t);
  const sim::result r = sim::simulate(p, free_chip(), following(made, 1, false));
  for (std::size_t t = 2; t < p.tasks(); ++t) {
    const recorded_task &before = r.schedule.tasks[t - 1], &one = r.schedule.tasks[t];
    if (before.has(recorded_task::root) || one.has(recorded_task::root)) continue;
    EXPECT_LE(one.ended, before.started) << "task " << t << " goes before the one that was created before it";
  }
}

TEST(sim_plan, lets_cores_help_or_wait) {
  const sim::program p = independent_tasks(8);
  sim::plan made{std::vector<std::int32_t>(p.tasks(), 1), std::vector<double>(p.tasks()), false};
  const sim::result alone = sim::simulate(p, free_chip(), following(made, 2, false));
  made.helps = true;
  const sim::result together = sim::simulate(p, free_chip(), following(made, 2, false));
  EXPECT_GE(alone.makespan, 8u * 1'000'000);
  EXPECT_LT(together.makespan, 5u * 1'000'000);
}

TEST(sim_plan, of_other_cores_is_no_plan_for_them) {
  const sim::program p = independent_tasks(8);
  const sim::plan far{std::vector<std::int32_t>(p.tasks(), 99), std::vector<double>(p.tasks()), false};
  const sim::plan none{{}, {}, false};
  for (const sim::plan& made : {far, none}) {
    const sim::result r = sim::simulate(p, free_chip(), following(made, 2, false));
    EXPECT_EQ(r.total.tasks, 8u);
  }
}

}  // namespace
