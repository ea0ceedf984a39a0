// When recorded tasks were completed, in native runs and in their simulation, under every policy.
#include "engine/sim/simulation.hpp"
#include "recording/completed_times.hpp"
#include "support/matrix.hpp"
#include "support/recordings.hpp"

#include <gtest/gtest.h>

namespace {

using namespace kith;

class recorded_ends : public testing::TestWithParam<kith::test::setup> {};
KITH_FOR_ALL_POLICIES(recorded_ends);

void link(int left) {
  if (left > 0) spawn([left] { link(left - 1); });
}

/// Tasks that leave children behind, with and without successors; a chain; tasks that wait; a group that
/// its tasks fill.
void families(runtime& rt) {
  rt.run([] {
    int data = 0;
    for (int i = 0; i < 6; ++i) {
      spawn(
          [](int&) {
            for (int c = 0; c < 3; ++c) spawn([c] { link(c); });
          },
          inout(data));
      spawn([](const int&) {}, in(data));
      spawn([](const int&) {}, in(data));
    }
    spawn([] { link(20); });
    spawn([] {
      spawn([] { link(2); });
      wait();
    });
    group g;
    g.spawn([&g] { g.spawn([] { link(2); }); });
    g.wait();
  });
}

/// Returns how many tasks ended after their bodies.
int check(const recording& r) {
  const std::vector<std::int32_t> parents = parents_of(r);
  int late = 0;
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    const recorded_task& x = r.tasks[t];
    SCOPED_TRACE("task " + std::to_string(t));
    EXPECT_GE(x.completed, x.ended);
    late += x.completed > x.ended;
    if (parents[t] >= 0) {
      EXPECT_LE(x.completed, r.tasks[static_cast<std::size_t>(parents[t])].completed);
    }
    if (x.has(recorded_task::fence)) continue;
    EXPECT_GE(x.worker, 0);
    for (std::uint64_t d = r.first_dependence[t]; d < r.first_dependence[t + 1]; ++d) {
      const recorded_task& before = r.tasks[static_cast<std::size_t>(r.dependences[d].before)];
      EXPECT_GE(before.completed, before.ended);
      // Two processors' clocks may differ a little.
      if (r.meta.at("engine") == "sim" || r.worker_node.size() == 1) {
        EXPECT_GE(x.started, before.completed);
      }
    }
  }
  return late;
}

TEST_P(recorded_ends, come_after_bodies_and_children) {
  const recording native = kith::test::record(GetParam().options(), families);
  EXPECT_EQ(native.tasks.size(), 1u + 6 * (1 + 6 + 2) + 21 + 4 + 4);
  check(native);
  sim::run_options set;
  set.policy = GetParam().policy;
  set.workers = GetParam().workers;
  set.keep_schedule = true;
  const recording modelled = sim::simulate(sim::program_of(native), model_by_name("bullion-s16-8"), set).schedule;
  const int late = check(modelled);
  EXPECT_GE(late, 20) << "the links of the chain, at least";
  for (const recorded_task& t : modelled.tasks) EXPECT_NE(t.completed, 0u);
}

}  // namespace
