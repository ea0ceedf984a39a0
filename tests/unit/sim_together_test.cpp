// Several programs on one simulated machine: what a combined program has, and when its members run.
#include "engine/sim/combine.hpp"
#include "engine/sim/simulation.hpp"
#include "support/line_runs.hpp"
#include "support/programs.hpp"
#include "support/simulated_programs.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kith;
using sim::combine;
using sim::fidelity;
using sim::program;
using sim::result;
using sim::run_options;
using test::chip;
using test::free_chip;
using test::independent_tasks;
using test::lines;
using test::ns;
using test::plain;
using test::random_program;
using test::touching_script;
using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Tasks that write a block each, then tasks that read one that another has written, and their own stacks.
program touching_program(std::uint32_t blocks, std::uint64_t bytes) {
  touching_script s;
  std::vector<std::pair<std::uint32_t, std::int32_t>> made;
  for (std::uint32_t b = 0; b < blocks; ++b) made.emplace_back(s.block(bytes), s.task(1000));
  for (const auto& [block, task] : made) {
    for (std::uint64_t at = 0; at < bytes; at += 64) s.write(task, block, at);
  }
  for (std::uint32_t b = 0; b < blocks; ++b) {
    const std::int32_t t = s.task(1000, std::vector<std::int32_t>{made[(b + 1) % blocks].second});
    for (std::uint64_t at = 0; at < bytes; at += 64) s.read(t, made[(b + 1) % blocks].first, at);
    for (std::uint64_t at = 8; at < 4096; at += 64) s.write(t, touching_script::stack, at);
  }
  return test::program_of(s);
}

void expect_same_run(const result& one, const result& other) {
  EXPECT_EQ(one.makespan, other.makespan);
  EXPECT_EQ(one.serial, other.serial);
  EXPECT_EQ(one.steps, other.steps);
  EXPECT_EQ(one.events, other.events);
  EXPECT_EQ(one.total.tasks, other.total.tasks);
  EXPECT_EQ(one.total.steals, other.total.steals);
  EXPECT_EQ(one.remote_bytes, other.remote_bytes);
  EXPECT_EQ(one.cache_misses, other.cache_misses);
  ASSERT_EQ(one.schedule.tasks.size(), other.schedule.tasks.size());
  for (std::size_t t = 0; t < one.schedule.tasks.size(); ++t) {
    ASSERT_EQ(one.schedule.tasks[t].started, other.schedule.tasks[t].started) << t;
    ASSERT_EQ(one.schedule.tasks[t].worker, other.schedule.tasks[t].worker) << t;
  }
}

TEST(sim_together, one_member_runs_as_the_program_itself) {
  const program random = random_program(7, 400), touching = touching_program(24, 4096);
  for (const char* policy : {"auto", "steal", "fifo", "dep", "nabbitc", "token", "reference", "ads"}) {
    for (const bool in_hardware : {false, true}) {
      SCOPED_TRACE(std::string(policy) + (in_hardware ? " in hardware" : ""));
      run_options s;
      s.policy = policy;
      s.keep_schedule = true;
      s.hardware = {.used = in_hardware, .cycles = 20, .prefetch = std::string(policy) == "auto" ? 0 : 1};
      const machine_model m = model_by_name("cmp-32");
      for (const fidelity how : {fidelity::abstract, fidelity::block}) {
        s.fidelity = how;
        expect_same_run(sim::simulate(combine({random}), m, s), sim::simulate(random, m, s));
      }
      s.fidelity = fidelity::line;
      expect_same_run(sim::simulate(combine({touching}), m, s), sim::simulate(touching, m, s));
    }
  }
}

/// Programs of every kind of task, with tasks from outside and waits for futures.
TEST(sim_together, one_member_of_any_kind_runs_as_the_program_itself) {
  for (const auto& run : test::programs) {
    const program p = sim::program_of(test::record(test::make_options(1, "fifo"), run));
    run_options s;
    s.workers = 5;
    const result combined = sim::simulate(combine({p}), model_by_name("xeon-8s"), s);
    expect_same_run(combined, sim::simulate(p, model_by_name("xeon-8s"), s));
  }
}

/// Each begins on a worker of its own, and has cores enough: its time is that alone, but for the wake of its worker.
TEST(sim_together, independent_members_run_side_by_side) {
  const program a = independent_tasks(4, 1000), b = independent_tasks(8, 5000);
  for (const char* policy : {"fifo", "steal", "token", "reference"}) {
    const result together = sim::simulate(combine({a, b}), free_chip(), plain(policy, 32));
    ASSERT_EQ(together.programs.size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) {
      const result alone = sim::simulate(k == 0 ? a : b, free_chip(), plain(policy, 32));
      EXPECT_EQ(together.programs[k].started, 0u);
      EXPECT_NEAR(static_cast<double>(together.programs[k].took()), static_cast<double>(alone.makespan), 10 * ns)
          << policy << ", member " << k;
    }
    EXPECT_EQ(together.makespan, std::max(together.programs[0].ended, together.programs[1].ended));
    EXPECT_EQ(together.total.tasks, 12u);
  }
}

TEST(sim_together, members_share_what_cores_there_are) {
  const program p = independent_tasks(64, 1000);
  const result together = sim::simulate(combine({p, p, p}), free_chip(), plain("fifo", 4));
  EXPECT_EQ(together.serial, 3 * sim::simulate(p, free_chip(), plain("fifo", 4)).serial);
  EXPECT_GE(together.makespan, 3 * 64 * 1000 * ns / 4);
  EXPECT_LT(together.makespan, 3 * 64 * 1000 * ns / 4 + 1100 * ns);
}

TEST(sim_together, more_members_than_workers_take_turns) {
  const program p = independent_tasks(3, 1000);
  const result r = sim::simulate(combine({p, p, p, p, p}), free_chip(), plain("steal", 2));
  EXPECT_EQ(r.total.tasks, 15u);
  for (const sim::program_times& t : r.programs) EXPECT_GE(t.took(), 3000 * ns / 2);
}

TEST(sim_together, a_member_starts_later_by_the_stagger) {
  const program p = independent_tasks(1, 1000);
  run_options s = plain("fifo", 32);
  s.stagger = 5000 * ns;
  const result r = sim::simulate(combine({p, p, p}), free_chip(), s);
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(r.programs[k].started, k * 5000 * ns);
    EXPECT_NEAR(static_cast<double>(r.programs[k].took()), 1000.0 * ns, 10 * ns) << k;
  }
}

/// With one core the second member waits for the first one's task, which is longer than the stagger.
TEST(sim_together, the_wait_for_a_core_is_part_of_a_members_time) {
  run_options s = plain("fifo", 1);
  s.stagger = 1000 * ns;
  const result r = sim::simulate(combine({independent_tasks(1, 5000), independent_tasks(1, 1000)}), free_chip(), s);
  EXPECT_NEAR(static_cast<double>(r.programs[0].took()), 5000.0 * ns, 10 * ns);
  EXPECT_NEAR(static_cast<double>(r.programs[1].took()), 5000.0 * ns, 10 * ns);
}

/// What comes before a mark runs before any figure begins.
TEST(sim_together, members_start_when_all_have_reached_their_marks) {
  const auto with_preparation = [](std::uint64_t before, std::uint64_t measured) {
    test::script s;
    s.task(before);
    recording r = s.finish();
    recorded_task root = r.tasks[0], task = r.tasks[1];
    root.started = 100;
    root.ended = 200;
    task.creator = 2;
    task.work_ns = measured;
    task.created = task.create_until = 101;
    task.scope = root.scope + 1;
    r.tasks.insert(r.tasks.end(), {root, task});
    for (int t = 0; t < 2; ++t) {
      r.first_access.push_back(r.accesses.size());
      r.first_dependence.push_back(r.dependences.size());
    }
    r.waits.push_back({2, 1, 0, 102, 199});
    r.marks.push_back({"solve", 50});
    return sim::program_of(std::move(r));
  };
  const program a = with_preparation(9000, 1000), b = with_preparation(7000, 2000);
  ASSERT_EQ(a.members.front().measured_from, 1u);
  const result r = sim::simulate(combine({a, b}), free_chip(), plain("fifo", 4));
  EXPECT_NEAR(static_cast<double>(r.programs[0].took()), 1000.0 * ns, 10 * ns);
  EXPECT_NEAR(static_cast<double>(r.programs[1].took()), 2000.0 * ns, 10 * ns);
  EXPECT_EQ(r.serial, 3000 * ns);
}

TEST(sim_together, regions_and_types_are_a_members_own) {
  const program p = random_program(1, 50), both = combine({p, p});
  ASSERT_EQ(both.recorded.regions.size(), 2 * p.recorded.regions.size());
  std::uint64_t end = 0;
  for (const recorded_region& r : p.recorded.regions) end = std::max(end, r.address + r.bytes);
  for (std::size_t r = 0; r < p.recorded.regions.size(); ++r) {
    const recorded_region& mine = both.recorded.regions[p.recorded.regions.size() + r];
    EXPECT_GE(mine.address, end);
    EXPECT_EQ((mine.address - p.recorded.regions[r].address) % (1 << 30), 0u);
    EXPECT_EQ(mine.bytes, p.recorded.regions[r].bytes);
  }
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    const std::size_t mine = p.tasks() + t;
    EXPECT_EQ(both.recorded.tasks[mine].type, p.recorded.tasks[t].type + p.recorded.types.size());
    ASSERT_EQ(both.recorded_accesses(mine).size(), p.recorded_accesses(t).size());
    for (std::size_t a = 0; a < p.recorded_accesses(t).size(); ++a)
      EXPECT_EQ(both.recorded_accesses(mine)[a].region, p.recorded_accesses(t)[a].region + p.recorded.regions.size());
    for (const recorded_dependence& d : both.dependences(mine)) EXPECT_GE(d.before, static_cast<int>(p.tasks()));
    EXPECT_EQ(both.member_of(t), 0u);
    EXPECT_EQ(both.member_of(mine), 1u);
  }
}

/// A member has other lines than the others, and they lie to each other as alone.
TEST(sim_together, lines_are_a_members_own) {
  constexpr std::uint32_t cores = 4;
  const std::vector<program> all = {touching_program(10, 4096), touching_program(3, 9000), touching_program(5, 64)};
  const program both = combine(all);
  std::set<std::uint32_t> of_others;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const program::member& of = both.members[k];
    const sim::line_streams& alone = all[k].lines;
    const std::uint32_t below = alone.stacks[0].size - 20;  // some of its lines are at the other end then
    std::set<std::uint32_t> mine;
    std::map<std::pair<bool, std::uint32_t>, std::set<std::uint32_t>> moved;  // by shared or own, and by core
    for (std::size_t t = of.first_task; t < of.end_task; ++t) {
      const std::span<const sim::line_touches> rows = both.lines.rows_of(t), as = alone.rows_of(t - of.first_task);
      ASSERT_EQ(rows.size(), as.size());
      for (std::size_t r = 0; r < rows.size(); ++r) {
        EXPECT_EQ(rows[r].writes, as[r].writes);
        EXPECT_EQ(rows[r].count, as[r].count);
        for (std::uint32_t core = 0; core < cores; ++core) {
          const std::uint32_t line = both.lines.line_of(rows[r].line, core, below, both.lines.stacks[k]);
          EXPECT_EQ(of_others.count(line), 0u) << "member " << k << ", task " << t;
          mine.insert(line);
          const bool shared = as[r].line < alone.shared;
          const std::uint32_t begin = shared ? 0 : both.lines.shared + core * both.lines.own;
          EXPECT_GE(line, begin);
          EXPECT_LT(line, begin + (shared ? both.lines.shared : both.lines.own));
          moved[{shared, core}].insert(line - alone.line_of(as[r].line, core, below, alone.stacks[0]));
        }
      }
    }
    for (const auto& [what, by] : moved) EXPECT_EQ(by.size(), 1u) << "member " << k;
    EXPECT_EQ(moved.size(), 2 * cores) << "there are shared lines and stacks";
    of_others.insert(mine.begin(), mine.end());
  }
  // Where shared lines are in a set is as alone.
  for (std::size_t p = 0; p < all[1].lines.pages.size(); ++p) {
    const sim::line_streams::page& mine = both.lines.pages[all[0].lines.pages.size() + p];
    EXPECT_EQ((mine.first - all[1].lines.pages[p].first) % ((1 << 20) / sim::line_bytes), 0u);
  }
}

/// All data fits the second level: if a line were shared, it would be found there.
TEST(sim_together, members_miss_what_they_miss_alone_where_caches_hold_all) {
  const program a = touching_program(10, 4096), b = touching_program(7, 9000);
  const auto misses = [](const program& p) { return sim::simulate(p, chip(), lines("fifo", 1)).cache_misses; };
  EXPECT_EQ(misses(combine({a, b})), misses(a) + misses(b));
  EXPECT_EQ(misses(combine({a, a})), 2 * misses(a));
}

TEST(sim_together, homes_are_as_alone) {
  const program a = random_program(5, 200), b = random_program(6, 200);
  run_options s;
  s.workers = 1;
  s.distribution = sim::distribution::regions;
  s.parts.caches = false;
  const machine_model m = model_by_name("bullion-s16-8");
  const auto moved = [&](const program& p) {
    const result r = sim::simulate(p, m, s);
    return r.local_bytes + r.remote_bytes;
  };
  EXPECT_EQ(moved(combine({a, b})), moved(a) + moved(b));
}

/// A member's tasks have the same random factors as alone, under the same seed.
TEST(sim_together, noise_is_as_alone) {
  const program p = independent_tasks(1, 1'000'000);
  run_options s = plain("fifo", 8);
  s.noise = true;
  const std::uint64_t alone = sim::simulate(p, free_chip(), s).makespan;
  EXPECT_NE(alone, 1'000'000 * ns);
  for (const sim::program_times& t : sim::simulate(combine({p, p, p}), free_chip(), s).programs)
    EXPECT_NEAR(static_cast<double>(t.took()), static_cast<double>(alone), 10 * ns);
}

TEST(sim_together, every_policy_in_hardware_runs_all_tasks_and_repeats) {
  const program all = combine({random_program(1, 150), random_program(2, 100), independent_tasks(50)});
  for (const char* policy : {"fifo", "random", "source", "token", "token:organisation=global", "reference",
                             "reference:organisation=global", "ads", "steal"}) {
    for (const std::uint32_t prefetch : {0u, 1u, 4u}) {
      for (const int workers : {1, 2, 5, 32}) {
        SCOPED_TRACE(std::string(policy) + " on " + std::to_string(workers) + ", " + std::to_string(prefetch));
        run_options s = plain(policy, workers);
        s.parts = {};
        s.hardware = {.used = true, .cycles = 20, .prefetch = prefetch};
        const result once = sim::simulate(all, free_chip(), s), again = sim::simulate(all, free_chip(), s);
        EXPECT_EQ(once.total.tasks, 300u);
        EXPECT_EQ(once.makespan, again.makespan);
        for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(once.programs[k].ended, again.programs[k].ended);
      }
    }
  }
}

TEST(sim_together, what_cannot_be_combined_is_refused) {
  const auto refused = [](const std::vector<program>& all, const char* why) {
    EXPECT_THAT([&] { combine(all); }, ThrowsMessage<error>(HasSubstr(why)));
  };
  const program p = random_program(1, 10), touching = touching_program(4, 4096);
  refused({p, touching}, "touched lines");
  program shorter = touching;
  shorter.lines.bytes = 32;
  refused({touching, shorter}, "lines of another size");
  program many = touching;
  many.lines.shared = 1u << 29;
  refused({many, many}, "more than 2^30");
  program typed = p;
  typed.recorded.types.resize(40000);
  refused({typed, typed}, "80000 types");
  program high = p;
  high.recorded.regions.back().address = (std::uint64_t{1} << 62) - 4096 * 1024;
  refused({p, high}, "2^62");
}

TEST(sim_together, what_members_cannot_do_is_refused) {
  const program both = combine({random_program(1, 10), random_program(2, 10)});
  run_options s = plain("fifo", 4);
  s.places.count = 2;
  EXPECT_THAT([&] { sim::simulate(both, free_chip(), s); }, ThrowsMessage<error>(HasSubstr("without places")));
}

}  // namespace
