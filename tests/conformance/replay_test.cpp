// A run follows the schedule of another run. Each of the two is native or simulated.
#include "support/matrix.hpp"
#include "support/programs.hpp"
#include "support/recordings.hpp"
#include "support/replays.hpp"
#include "support/scale.hpp"

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using namespace kith;
using kith::test::decisions;
using kith::test::record;
using kith::test::scratch_file;
using kith::test::simulate_again;

/// Tasks from a thread that is no worker, and a run right after them.
void submitted(runtime& rt) {
  static std::array<int, 3> data;
  rt.run([] { spawn([] {}); });
  for (int t = 0; t < 50; ++t)
    static_cast<void>(rt.submit([] { spawn([] {}); }, inout(data[static_cast<std::size_t>(t) % 3])));
  rt.wait();
  rt.run([] { spawn([] {}); });
}

constexpr void (*replayed_programs[])(runtime&) = {
    kith::test::random_accesses, kith::test::fork_and_join,       kith::test::keyed_grid,
    kith::test::valued_grid,     kith::test::static_diamond,      kith::test::captured_accesses,
    kith::test::filled_groups,   kith::test::delivered_arguments, submitted};

constexpr std::size_t step = kith::test::sanitized ? 2 : 1;  // each program in one of two tests, instead of both

class replayed : public testing::TestWithParam<kith::test::setup> {
 public:
  static void SetUpTestSuite() {
    for (const auto& run : replayed_programs)
      modelled.push_back(sim::program_of(record(kith::test::make_options(1, "fifo"), run)));
  }
  static void TearDownTestSuite() { modelled.clear(); }

  static inline std::vector<sim::program> modelled;  // for each of the replayed programs
};

/// Replay repeats the decisions of policies, so variants of these add nothing.
std::vector<kith::test::setup> decided() {
  std::vector<kith::test::setup> all = kith::test::matrix();
  std::erase_if(all, [](const kith::test::setup& s) {
    return s.workers == 1 || s.workers == 5 ||
           (s.policy.find(':') != std::string::npos && s.policy != "dfifo:steal=off");
  });
  return all;
}
INSTANTIATE_TEST_SUITE_P(all, replayed, testing::ValuesIn(decided()), kith::test::name_of);

runtime_options following(const scratch_file& file, const kith::test::setup& s) {
  runtime_options o = s.options();
  o.policy = "replay:file=" + file.path();
  return o;
}

TEST_P(replayed, a_native_run_natively_and_in_the_model) {
  const kith::test::setup& s = GetParam();
  for (std::size_t k = 0; k < std::size(replayed_programs); k += step) {
    SCOPED_TRACE("program " + std::to_string(k));
    const auto run = replayed_programs[k];
    const recording first = record(s.options(), run);
    const scratch_file file;
    write_recording(first, file.path());
    const recording again = record(following(file, s), run);
    ASSERT_EQ(again.tasks.size(), first.tasks.size());
    if (run == submitted) continue;  // its order is free
    EXPECT_EQ(decisions(again), decisions(first));
    if (KITH_TSAN) continue;  // the simulator has one thread
    EXPECT_EQ(decisions(simulate_again(first, "replay:file=" + file.path(), s.workers)), decisions(first));
  }
}

TEST_P(replayed, a_simulated_run_natively) {
  const kith::test::setup& s = GetParam();
  for (std::size_t k = step - 1; k < std::size(replayed_programs); k += step) {
    SCOPED_TRACE("program " + std::to_string(k));
    const recording first = simulate_again(modelled[k], s.policy, s.workers);
    const scratch_file file;
    write_recording(first, file.path());
    const recording native = record(following(file, s), replayed_programs[k]);
    ASSERT_EQ(native.tasks.size(), first.tasks.size());
    if (replayed_programs[k] != submitted) {
      EXPECT_EQ(decisions(native), decisions(first));
    }
  }
}

/// A task after a wait for tasks that wait for their own.
void waits_within(runtime& rt) {
  rt.run([] {
    spawn([] {
      spawn([] {
        spawn([] {});
        wait();
      });
      wait();
    });
    wait();
    spawn([] {});
  });
}

/// Nodes are computed in the reverse order of their creation, and a task created after a wait may have a lower
/// level than what was waited for. Of steps at the same time, the one that the others waited for comes first.
TEST(replay, tasks_that_take_no_time_have_an_order) {
  for (const auto& run : {kith::test::keyed_grid, kith::test::valued_grid, kith::test::fork_and_join,
                          kith::test::static_diamond, waits_within}) {
    for (const char* policy : {"steal", "nabbitc", "fifo"}) {
      for (const int workers : {1, 2}) {
        sim::program p = sim::program_of(record(kith::test::make_options(1, "fifo"), run));
        for (sim::action& a : p.actions) {
          if (a.what == sim::action::compute) a.value = 0;
        }
        std::ranges::fill(p.compute, 0);
        const recording modelled = simulate_again(p, policy, workers, false);
        const scratch_file file;
        write_recording(modelled, file.path());
        EXPECT_EQ(decisions(record(kith::test::make_options(workers, "replay:file=" + file.path()), run)),
                  decisions(modelled));
      }
    }
  }
}

/// Two waits, of which the first is long, and a task that has a wait as well.
template <auto inside_second_wait>
void two_waits(runtime& rt) {
  rt.run([] {
    spawn(
        [] {
          spawn([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
          wait();
          inside_second_wait();
        },
        task_type("first"));
    spawn(
        [] {
          spawn([] {});
          wait();
        },
        task_type("second"));
  });
}
void wait_for_a_task() {
  spawn([] {});
  wait();
}
void wait_for_a_graph() {
  static_graph g;
  g.add([] {});
  g.run();
}

std::size_t first_of_type(const recording& r, const char* name) {
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    if (r.types[r.tasks[t].type] == name) return t;
  }
  throw error(name);
}
std::vector<std::size_t> children_of(const recording& r, std::size_t t) {
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < r.tasks.size(); ++c) {
    if (r.tasks[c].creator == static_cast<std::int32_t>(t)) all.push_back(c);
  }
  return all;
}
struct when {
  std::uint64_t created, started, ended;
  std::int16_t worker;
};
void set_times(recording& r, std::size_t t, when w) {
  recorded_task& x = r.tasks[t];
  x.created = x.create_until = w.created;
  x.started = w.started;
  x.ended = w.ended;
  x.work_ns = w.ended - w.started;
  x.worker = w.worker;
}

/// If the second task began in the first wait of the first task, it would wait for a task that another
/// worker runs after one that the first task has not created yet.
void begins_in_the_wait_it_began_in(void (*program)(runtime&)) {
  recording r = record(kith::test::make_options(1, "fifo"), program);
  ASSERT_EQ(r.tasks.size(), 6u);
  r.worker_node = {0, 0};
  const auto set = [&](std::size_t t, when w) { set_times(r, t, w); };
  const auto children = [&](std::size_t t) { return children_of(r, t); };
  const std::size_t first = first_of_type(r, "first"), second = first_of_type(r, "second");
  set(0, {0, 0, 120, 0});
  set(first, {5, 10, 100, 1});
  set(children(first).at(0), {12, 15, 40, 0});
  set(children(first).at(1), {45, 65, 70, 0});
  set(second, {8, 55, 85, 1});
  set(children(second).at(0), {55, 75, 80, 0});  // at the time at which it begins, because clocks may be coarse
  const auto scope = [&](std::size_t t) { return r.tasks[t].scope; };
  r.waits = {{0, scope(first), 0, 9, 119},
             {static_cast<std::int32_t>(first), scope(children(first).at(0)), 1, 20, 41},
             {static_cast<std::int32_t>(first), scope(children(first).at(1)), 1, 50, 99},
             {static_cast<std::int32_t>(second), scope(children(second).at(0)), 1, 55, 84}};
  const scratch_file file;
  write_recording(r, file.path());
  EXPECT_EQ(schedule_of(r).of_worker[1].back().waits_before, 2u);
  runtime_options o;
  o.workers = 2;
  o.oversubscribe = true;
  o.policy = "replay:file=" + file.path();
  EXPECT_EQ(decisions(record(o, program)), decisions(r));
}
TEST(replay, a_task_begins_in_the_wait_it_began_in) { begins_in_the_wait_it_began_in(two_waits<wait_for_a_task>); }
TEST(replay, a_task_begins_in_the_wait_for_a_graph_it_began_in) {
  begins_in_the_wait_it_began_in(two_waits<wait_for_a_graph>);
}

/// Each has a child that it waits for; all but the last one create another child afterwards.
void three_parents(runtime& rt) {
  rt.run([] {
    const auto parent = [](const char* name, bool creates_more) {
      spawn(
          [=] {
            spawn([] {});
            wait();
            if (creates_more) spawn([] {});
          },
          task_type(name));
    };
    parent("first", true);
    parent("second", true);
    parent("third", false);
  });
}

/// One worker begins the first task; inside its wait, the second; and after the second has ended, still inside that
/// wait, the third. Now the first has ended when the second begins. While the second waits, the worker has ended,
/// created and waited for as much as when the third began. If the third began inside the wait of the second, its
/// child would wait for its turn behind the second's other child, which is created only after the third has ended.
recording three_parents_at(bool first_waits_long) {
  recording r = record(kith::test::make_options(1, "fifo"), three_parents);
  r.worker_node = {0, 0, 0};
  const std::size_t first = first_of_type(r, "first"), second = first_of_type(r, "second"),
                    third = first_of_type(r, "third");
  const auto child = [&](std::size_t of, std::size_t n) { return children_of(r, of).at(n); };
  const std::size_t first_child = child(first, 0), other_child = child(first, 1);
  const std::size_t second_child = child(second, 0), blocked_child = child(second, 1), third_child = child(third, 0);
  const std::uint64_t late = first_waits_long ? 0 : 1'000'000;  // when the second and the third task are created
  set_times(r, 0, {0, 0, late + 200, 0});
  set_times(r, first, {1, 10, 150, 1});
  set_times(r, first_child, {12, 15, 100, 2});
  set_times(r, other_child, {102, 105, 120, 2});
  set_times(r, second, {late + 2, late + 20, late + 60, 1});
  set_times(r, second_child, {late + 22, late + 25, late + 40 + late, 0});
  set_times(r, blocked_child, {late + 42, late + 45, late + 58, 0});
  set_times(r, third, {late + 3, late + 65, late + 90, 1});
  set_times(r, third_child, {late + 66, late + 70, late + 88, 0});
  const auto waits = [&](std::size_t t, std::size_t one, int worker, std::uint64_t begun, std::uint64_t ended) {
    r.waits.push_back(
        {static_cast<std::int32_t>(t), r.tasks[one].scope, static_cast<std::int16_t>(worker), begun, ended});
  };
  r.waits.clear();
  waits(0, first, 0, late + 4, late + 199);
  waits(first, first_child, 1, 14, 101);
  waits(first, first_child, 1, 104, 149);
  waits(second, second_child, 1, late + 24, late + 41);
  waits(second, second_child, 1, late + 44, late + 59);
  waits(third, third_child, 1, late + 67, late + 89);
  return r;
}

TEST(replay, a_task_begins_in_no_wait_but_of_those_that_waited_then) {
  const recording r = three_parents_at(true);
  const scratch_file file;
  write_recording(r, file.path());
  const std::vector<recorded_schedule::step> steps = schedule_of(r).of_worker[1];
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[1].inside, steps[0].identity);
  EXPECT_EQ(steps[2].inside, steps[0].identity);
  EXPECT_EQ(steps[2].inside_at, 0);
  EXPECT_EQ(decisions(simulate_again(three_parents_at(false), "replay:file=" + file.path(), 3)), decisions(r));
  EXPECT_EQ(decisions(record(kith::test::make_options(3, "replay:file=" + file.path()), three_parents)), decisions(r));
}

/// Draws how long each piece of computing takes: from nothing to a long time, mostly short.
void draw_times(sim::program& p, rng& draw) {
  const auto time = [&]() -> sim::picoseconds { return 1000 + draw.below(draw.below(4) == 0 ? 500'000'000 : 300'000); };
  for (sim::action& a : p.actions) {
    if (a.what == sim::action::compute) a.value = static_cast<std::uint64_t>(time());
  }
  for (sim::picoseconds& t : p.compute) t = time();
}

TEST(replay, a_schedule_is_followed_however_long_tasks_take) {
  rng draw(7, purpose::test, 0);
  for (const auto& run :
       {kith::test::random_accesses, kith::test::fork_and_join, kith::test::keyed_grid, kith::test::static_diamond}) {
    sim::program p = sim::program_of(record(kith::test::make_options(1, "fifo"), run));
    for (int round = 0; round < kith::test::scaled(10); ++round) {
      for (const char* policy : {"steal", "lifo", "nabbitc"}) {
        const int workers = 2 + static_cast<int>(draw.below(5));
        draw_times(p, draw);
        const recording modelled = simulate_again(p, policy, workers);
        const scratch_file file;
        write_recording(modelled, file.path());
        draw_times(p, draw);
        EXPECT_EQ(decisions(simulate_again(p, "replay:file=" + file.path(), workers)), decisions(modelled));
      }
    }
  }
}

/// Two tasks with commutative accesses to one region. Returns the largest number that ran at once.
int at_once(const runtime_options& o) {
  static int data;
  atomic<int> now{0}, most{0};
  runtime rt(o);
  rt.run([&] {
    for (int t = 0; t < 2; ++t) {
      spawn(
          [&] {
            const int n = now.fetch_add(1, seq_cst) + 1;
            if (n > most.load(seq_cst)) most.store(n, seq_cst);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            now.fetch_sub(1, seq_cst);
          },
          commutative(data));
    }
  });
  return most.load(seq_cst);
}

TEST(replay, tasks_exclude_each_other_even_if_the_recorded_ones_did_not) {
  runtime_options o;
  o.workers = 2;
  o.oversubscribe = true;
  o.policy = "dfifo:steal=off";
  const scratch_file file;
  write_recording(record(o,
                         [&](runtime& rt) {
                           static std::array<int, 2> data;
                           rt.run([&] {
                             for (int& d : data) spawn([] {}, commutative(d));
                           });
                         }),
                  file.path());
  o.policy = "replay:file=" + file.path();
  EXPECT_EQ(at_once(o), 1);
}

TEST(replay, many_workers_schedule_is_run_by_few) {
  for (const auto& run : replayed_programs) {
    SCOPED_TRACE("program " + std::to_string(&run - replayed_programs));
    const scratch_file file;
    write_recording(simulate_again(record(kith::test::make_options(1, "fifo"), run), "nabbitc", 30), file.path());
    runtime_options o = kith::test::make_options(2, "replay:file=" + file.path());
    EXPECT_NO_THROW(record(o, run));
    *o.policy += ",order=strict";
    EXPECT_THAT([&] { runtime rt(o); }, testing::ThrowsMessage<error>(testing::HasSubstr("order=strict")));
  }
}

}  // namespace
