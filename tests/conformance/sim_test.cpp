// Every policy in simulated time: each task runs once, after the tasks that it needs. With one worker,
// tasks run in the order of the native engine.
#include "support/matrix.hpp"
#include "support/programs.hpp"
#include "support/recordings.hpp"
#include "support/scale.hpp"

#include "engine/sim/combine.hpp"
#include "engine/sim/simulation.hpp"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace kith;
using kith::test::from_outside;
using kith::test::programs;
using kith::test::record;

class simulated : public testing::TestWithParam<kith::test::setup> {
 public:
  static void SetUpTestSuite() {
    for (const auto& run : programs)
      recorded.push_back(sim::program_of(record(kith::test::make_options(1, "fifo"), run)));
    recorded.push_back(sim::combine(recorded));  // all at once
    model = model_by_name("bullion-s16-8");
  }
  static void TearDownTestSuite() { recorded.clear(); }

  static inline std::vector<sim::program> recorded;  // once for all policies
  static inline machine_model model;
};
KITH_FOR_ALL_POLICIES(simulated);

/// Whether both began their tasks in the same order. Tasks with equal times, which a coarse clock gives, may be in
/// any order.
bool same_order(const recording& one, const recording& other) {
  std::vector<std::size_t> tasks;
  for (std::size_t t = 0; t < one.tasks.size(); ++t) {
    if (!one.tasks[t].has(recorded_task::fence)) tasks.push_back(t);
  }
  const auto began = [&](std::size_t t) { return other.tasks[t].started; };
  std::ranges::sort(tasks, {}, [&](std::size_t t) {
    return std::tuple(one.tasks[t].started, one.tasks[t].ended, began(t), other.tasks[t].ended);
  });
  return std::ranges::is_sorted(tasks, {}, began);
}

/// Each task has run once, after its predecessors.
void expect_all_in_order(const sim::program& p, const sim::result& r) {
  std::uint64_t tasks = 0;
  for (const worker_statistics& w : r.workers) tasks += w.tasks;
  std::uint64_t expected = 0;
  for (const recorded_task& t : p.recorded.tasks)
    expected += !t.has(recorded_task::root) && !t.has(recorded_task::fence);
  EXPECT_EQ(tasks, expected);
  EXPECT_LE(r.load_balance_percent, 100.001);
  for (std::size_t t = 0; t < r.schedule.tasks.size(); ++t) {
    const recorded_task& mine = r.schedule.tasks[t];
    if (mine.has(recorded_task::fence)) continue;
    ASSERT_GE(mine.worker, 0);
    for (const recorded_dependence& d : p.dependences(t)) {
      const recorded_task& other = r.schedule.tasks[static_cast<std::size_t>(d.before)];
      if (other.has(recorded_task::fence)) continue;
      ASSERT_GE(mine.started, other.ended) << t << " after " << d.before;
    }
  }
}

TEST_P(simulated, each_task_once_and_after_what_it_needs) {
  const kith::test::setup& s = GetParam();
  sim::run_options set;
  set.policy = s.policy;
  set.workers = s.workers;
  set.keep_schedule = true;
  for (const sim::program& p : recorded) {
    SCOPED_TRACE("program " + std::to_string(&p - recorded.data()));
    for (sim::fidelity how : {sim::fidelity::abstract, sim::fidelity::block}) {
      set.fidelity = how;
      expect_all_in_order(p, sim::simulate(p, model, set));
    }
  }
}

/// A worker that helps at the throttle of a group to which its own task belongs must not block any task.
TEST_P(simulated, nobody_is_left_where_creators_help) {
  const kith::test::setup& s = GetParam();
  sim::run_options set;
  set.policy = s.policy;
  set.workers = s.workers;
  const auto at = std::ranges::find(programs, &kith::test::filled_groups) - std::begin(programs);
  const sim::program& p = recorded[static_cast<std::size_t>(at)];
  for (std::uint32_t throttle : {1u, 2u, 3u, 5u, 8u}) {
    for (std::uint64_t seed = 1; seed <= (kith::test::sanitized ? 1 : 3); ++seed) {
      set.throttle = throttle;
      set.seed = seed;
      EXPECT_NO_THROW(sim::simulate(p, model, set)) << throttle << ", seed " << seed;
    }
  }
}

/// Only one worker has an order that can be compared.
class ordered : public testing::TestWithParam<kith::test::setup> {};

std::vector<kith::test::setup> with_one_worker() {
  std::vector<kith::test::setup> all = kith::test::matrix();
  std::erase_if(all, [](const kith::test::setup& s) { return s.workers != 1; });
  return all;
}
INSTANTIATE_TEST_SUITE_P(all, ordered, testing::ValuesIn(with_one_worker()), kith::test::name_of);

TEST_P(ordered, one_worker_runs_in_the_order_of_the_native_engine) {
  const kith::test::setup& s = GetParam();
  machine_model m = model_by_name("bullion-s16-8");
  m.hardware = synthetic_machine("node:1 core:1");  // as in the native run, because policies count nodes
  m.links.clear();
  sim::run_options set;
  set.policy = s.policy;
  set.workers = 1;
  set.keep_schedule = true;
  for (const auto& run : programs) {
    if (run == from_outside) continue;                     // its order depends on when tasks came
    if (run == kith::test::delivered_arguments) continue;  // simulated arguments arrive when their deliverer ends
    for (std::uint32_t throttle : {0u, 20u}) {
      runtime_options o = kith::test::make_options(1, s.policy);
      o.throttle = throttle;
      o.inline_limit = 0;  // else measured times decide
      const recording native = record(o, run);
      set.throttle = throttle;
      const sim::result r = sim::simulate(sim::program_of(native), m, set);
      EXPECT_TRUE(same_order(native, r.schedule)) << "program " << (&run - programs) << ", throttle " << throttle;
    }
  }
}

}  // namespace
