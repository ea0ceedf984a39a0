// Task queues in hardware: the scheduling unit and the prefetchers, compared with what can be computed by hand.
#include "engine/sim/simulation.hpp"
#include "policy/contract/register_policy.hpp"
#include "policy/list.hpp"
#include "queue/shared_queue.hpp"
#include "support/recordings.hpp"
#include "support/simulated_programs.hpp"

#include "base/rng.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kith;
using sim::program;
using sim::result;
using sim::run_options;
using test::cycle;
using test::free_chip;
using test::independent_tasks;
using test::random_program;
using testing::HasSubstr;
using testing::ThrowsMessage;

run_options on_unit(const std::string& policy, int workers, std::uint32_t cycles, std::uint32_t prefetch) {
  run_options s;
  s.policy = policy;
  s.workers = workers;
  s.fidelity = sim::fidelity::abstract;
  s.noise = false;
  s.hardware = {.used = true, .cycles = cycles, .prefetch = prefetch};
  return s;
}

program chains(int count, int length, std::uint64_t work_ns) {
  test::script s;
  std::vector<std::int32_t> last(static_cast<std::size_t>(count));
  for (int t = 0; t < length; ++t) {
    for (std::int32_t& before : last)
      before = t == 0 ? s.task(work_ns) : s.task(work_ns, std::vector<std::int32_t>{before});
  }
  return sim::program_of(s.finish());
}

TEST(sim_unit, serves_one_operation_at_a_time) {
  constexpr std::uint64_t tasks = 200;
  const program p = independent_tasks(static_cast<int>(tasks), 0);
  for (std::uint32_t prefetch : {0u, 1u, 4u}) {
    for (int workers : {1, 4, 32}) {
      const result r = sim::simulate(p, free_chip(), on_unit("fifo", workers, 20, prefetch));
      // Each task is added and taken.
      EXPECT_GE(r.unit_operations, 2 * tasks);
      EXPECT_EQ(r.unit_busy, r.unit_operations * 20 * cycle);
      EXPECT_GE(r.makespan, 2 * tasks * 20 * cycle) << workers << " " << prefetch;
    }
  }
}

TEST(sim_unit, a_task_takes_both_ways_and_two_operations) {
  machine_model m = free_chip();
  m.unit.node = node_id(0);
  const program p = independent_tasks(1, 1000);
  // The worker is in the unit's tile. Its request is served behind the added task.
  EXPECT_EQ(sim::simulate(p, m, on_unit("fifo", 1, 20, 0)).makespan, 1'000'000 + 40 * cycle);
  m.unit.node = node_id(31);  // 7 + 3 hops away
  const std::uint64_t way = 30 * cycle;
  EXPECT_EQ(sim::simulate(p, m, on_unit("fifo", 1, 20, 0)).makespan, 1'000'000 + 40 * cycle + 2 * way);
}

TEST(sim_unit, prefetching_hides_an_operation_that_is_shorter_than_a_task) {
  const program p = chains(8, 50, 10'000);
  const auto takes = [&](std::uint32_t cycles, std::uint32_t prefetch) {
    return static_cast<double>(sim::simulate(p, free_chip(), on_unit("fifo", 4, cycles, prefetch)).makespan);
  };
  EXPECT_LT(takes(300, 1), 1.005 * takes(0, 1));
  EXPECT_GT(takes(300, 0), 1.02 * takes(0, 0));    // two operations of 150 ns for each task of 10 us
  EXPECT_GT(takes(30'000, 1), 1.5 * takes(0, 1));  // one operation takes longer than a task
}

TEST(sim_unit, takes_no_time_without_scheduling) {
  run_options s = on_unit("fifo", 1, 20, 0);
  s.parts.scheduling = false;
  const result r = sim::simulate(independent_tasks(10, 1000), free_chip(), s);
  EXPECT_EQ(r.makespan, 10'000'000u);
}

TEST(sim_unit, every_policy_ends_and_repeats) {
  for (const policy_entry& p : policy_list()) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const program made = random_program(seed, 300);
      run_options s = on_unit(p.name, 32, 20, 0);
      s.fidelity = sim::fidelity::block;
      const result once = sim::simulate(made, free_chip(), s), again = sim::simulate(made, free_chip(), s);
      EXPECT_EQ(once.makespan, again.makespan) << p.name;
      EXPECT_EQ(once.total.tasks, 300u) << p.name;
    }
  }
}

// Windows of rip-mw are partitioned by a worker that then says that there is work, and has pushed nothing.
TEST(sim_unit, no_task_runs_before_it_was_created) {
  for (const char* policy : {"rip-mw", "rip-dep", "reference", "steal"}) {
    for (std::uint32_t prefetch : {0u, 1u, 2u}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const program made = random_program(seed, 300);
        run_options s = on_unit(policy, 5, 20, prefetch);
        s.fidelity = sim::fidelity::block;
        s.keep_schedule = true;
        const result r = sim::simulate(made, free_chip(), s);
        for (const recorded_task& t : r.schedule.tasks) {
          EXPECT_LE(t.created, t.ready) << policy;
          EXPECT_LE(t.ready, t.started) << policy;
        }
      }
    }
  }
}

TEST(sim_unit, with_an_interval_operations_overlap) {
  constexpr std::uint64_t tasks = 200;
  const program p = independent_tasks(static_cast<int>(tasks), 0);
  const auto run = [&](std::uint32_t cycles, std::optional<std::uint32_t> interval) {
    run_options s = on_unit("fifo", 32, cycles, 1);
    s.hardware.interval = interval;
    return sim::simulate(p, free_chip(), s);
  };
  const result r = run(300, 20), in_turn = run(300, std::nullopt);
  EXPECT_EQ(r.unit_busy, r.unit_operations * 20 * cycle);
  EXPECT_GE(r.makespan, (2 * tasks * 20 + 280) * cycle);  // the last one takes its 300 cycles
  EXPECT_LT(r.makespan, in_turn.makespan / 5);
  EXPECT_EQ(run(300, 300).makespan, in_turn.makespan);
}

TEST(sim_unit, tasks_beyond_its_entries_wait_in_memory_in_their_order) {
  constexpr int tasks = 100;
  const program p = independent_tasks(tasks, 1000);
  const auto run = [&](std::optional<std::uint32_t> entries) {
    run_options s = on_unit("fifo", 1, 20, 0);
    s.keep_schedule = true;
    s.hardware.entries = entries;
    return sim::simulate(p, free_chip(), s);
  };
  const result all = run(std::nullopt);
  EXPECT_EQ(all.unit_spills, 0u);
  EXPECT_EQ(run(tasks).makespan, all.makespan);
  EXPECT_EQ(run(tasks).unit_spills, 0u);
  const result few = run(4);
  EXPECT_EQ(few.unit_spills, 96u);  // the worker creates all of them before it runs one
  ASSERT_EQ(few.schedule.tasks.size(), all.schedule.tasks.size());
  const auto order = [](const result& r) {
    std::vector<std::pair<std::uint64_t, std::size_t>> begun;
    for (std::size_t t = 0; t < r.schedule.tasks.size(); ++t) begun.emplace_back(r.schedule.tasks[t].started, t);
    std::ranges::sort(begun);
    std::vector<std::size_t> numbers;
    for (const auto& b : begun) numbers.push_back(b.second);
    return numbers;
  };
  EXPECT_EQ(order(few), order(all));
  // A line of memory has two tasks, and is read while a task runs. The last tasks are not waited for.
  EXPECT_EQ(few.unit_operations, all.unit_operations + 48);
  EXPECT_EQ(few.makespan, all.makespan);
}

TEST(sim_unit, memory_is_waited_for_where_tasks_are_short) {
  machine_model m = free_chip();
  const program p = independent_tasks(64, 0);
  run_options s = on_unit("fifo", 1, 0, 0);
  const std::uint64_t all = sim::simulate(p, m, s).makespan;
  s.hardware.entries = 2;
  const auto memory = static_cast<std::uint64_t>(m.line.memory_cycles) * cycle;
  const result two = sim::simulate(p, m, s);
  EXPECT_EQ(two.unit_spills, 62u);
  EXPECT_GE(two.makespan, 31 * memory);  // one line after the other, each when the queues have room for it
  EXPECT_LE(two.makespan, all + 31 * memory);
  s.hardware.entries = 1;
  const result one = sim::simulate(p, m, s);
  EXPECT_EQ(one.unit_spills, 63u);
  EXPECT_GE(one.makespan, 63 * memory);
  EXPECT_LE(one.makespan, all + 63 * memory);
  m.line.present = false;
  EXPECT_THAT([&] { sim::simulate(p, m, s); }, ThrowsMessage<error>(HasSubstr("does not say how long memory takes")));
}

TEST(sim_unit, every_policy_ends_with_few_entries) {
  std::uint64_t spills = 0;
  for (const policy_entry& p : policy_list()) {
    for (const std::uint32_t entries : {1u, 2u, 7u}) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        for (const int workers : {1, 5, 32}) {
          const program made = random_program(seed, 300);
          run_options s = on_unit(p.name, workers, 20, 0);
          s.fidelity = sim::fidelity::block;
          s.hardware.entries = entries;
          const result once = sim::simulate(made, free_chip(), s), again = sim::simulate(made, free_chip(), s);
          EXPECT_EQ(once.makespan, again.makespan) << p.name;
          EXPECT_EQ(once.total.tasks, 300u) << p.name << " with " << entries;
          spills += once.unit_spills;
        }
      }
    }
  }
  EXPECT_GT(spills, 1000u);
}

TEST(sim_unit, the_papers_policies_end_with_tasks_in_buffers) {
  for (const char* policy :
       {"fifo", "random", "source", "token", "token:organisation=global", "reference", "reference:organisation=global",
        "reference:ahead=on,grouped=on,kept=filters", "fifo:organisation=deques", "random:organisation=deques",
        "source:organisation=global", "steal"}) {
    for (std::uint32_t prefetch : {1u, 2u, 4u}) {
      for (int workers : {1, 3, 32}) {
        const program made = random_program(prefetch, 300);
        const result r = sim::simulate(made, free_chip(), on_unit(policy, workers, 20, prefetch));
        EXPECT_EQ(r.total.tasks, 300u) << policy;
      }
    }
  }
}

bool all_ring = true;

/// One queue, and a note whether all workers that pushed were told that somebody may wait.
template <class World>
class listening final : public policy<World> {
 public:
  using worker = typename World::worker;
  static constexpr policy_entry about{
      .name = "listening", .paper = "none", .section = "none", .summary = "for this test", .options = {}};

  listening(const policy_context& context, const policy_options&)
      : queue_(context.workers.everybody(), queue_order::fifo) {}
  task* ready(std::span<task* const> tasks, worker& self, ready_reason) override {
    all_ring = all_ring && self.anybody_sleeps();
    queue_.push(tasks, self);
    return nullptr;
  }
  poll_result next(worker& self) override { return poll_result::at(queue_.pop(self), poll_result::empty); }

 private:
  shared_queue<World> queue_;
};

/// Queues that ring only if anybody sleeps would else leave a prefetcher's request unanswered.
TEST(sim_unit, prefetchers_that_wait_count_as_sleepers) {
  register_policy<listening>();
  const program p = chains(2, 50, 1000);
  sim::simulate(p, free_chip(), on_unit("listening", 2, 20, 1));
  EXPECT_TRUE(all_ring);
  run_options without = on_unit("listening", 2, 20, 1);
  without.hardware = {};
  sim::simulate(p, free_chip(), without);
  EXPECT_FALSE(all_ring) << "both workers were busy";
}

TEST(sim_unit, what_it_cannot_do_is_refused) {
  const program p = independent_tasks(10, 1000);
  EXPECT_THAT([&] { sim::simulate(p, model_by_name("xeon-8s"), on_unit("fifo", 4, 20, 1)); },
              ThrowsMessage<error>(HasSubstr("has no scheduling unit")));
  EXPECT_THAT([&] { sim::simulate(p, free_chip(), on_unit("auto", 4, 20, 1)); },
              ThrowsMessage<error>(HasSubstr("expected --prefetch 0")));
}

}  // namespace
