// A run's schedule is followed by another run: native or simulated, of a native or a simulated run.
#include "support/matrix.hpp"
#include "support/programs.hpp"
#include "support/recordings.hpp"

#include "engine/sim/simulation.hpp"
#include "policy/list.hpp"
#include "queue/plain/world.hpp"
#include "recording/schedule.hpp"

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

namespace {

using namespace kith;
using kith::test::record;
using kith::test::scratch_file;

/// Tasks from a thread that is no worker, and a run right behind them.
void submitted(runtime& rt) {
  static std::array<int, 3> data;
  rt.run([] { spawn([] {}); });
  for (int t = 0; t < 50; ++t) rt.submit([] { spawn([] {}); }, inout(data[static_cast<std::size_t>(t) % 3]));
  rt.wait();
  rt.run([] { spawn([] {}); });
}

constexpr void (*programs[])(runtime&) = {kith::test::random_accesses, kith::test::fork_and_join,
                                          kith::test::keyed_grid, kith::test::static_diamond, submitted};

class replayed : public testing::TestWithParam<kith::test::setup> {};

/// It is what policies decided that is repeated: their variants add nothing.
std::vector<kith::test::setup> decided() {
  std::vector<kith::test::setup> all = kith::test::matrix();
  std::erase_if(all, [](const kith::test::setup& s) {
    return s.workers == 1 || s.workers == 5 ||
           (s.policy.find(':') != std::string::npos && s.policy != "dfifo:steal=off");
  });
  return all;
}
INSTANTIATE_TEST_SUITE_P(all, replayed, testing::ValuesIn(decided()), kith::test::name_of);

/// What each worker began, in its order.
std::vector<std::vector<std::uint64_t>> decisions(const recording& r) {
  std::vector<std::vector<std::uint64_t>> all;
  for (const auto& steps : schedule_of(r).of_worker) {
    all.emplace_back();
    for (const recorded_schedule::step& s : steps) all.back().push_back(s.explores ? ~s.identity : s.identity);
  }
  return all;
}

runtime_options following(const scratch_file& file, const kith::test::setup& s) {
  runtime_options o = s.options();
  o.policy = "replay:file=" + file.path();
  return o;
}

recording simulate_again(const sim::program& p, const std::string& policy, int workers, bool scheduling = true) {
  sim::settings set;
  set.policy = policy;
  set.workers = workers;
  set.keep_schedule = true;
  set.with.scheduling = scheduling;
  return sim::simulate(p, model_by_name("bullion-s16-8"), set).schedule;
}

recording simulate_again(const recording& r, const std::string& policy, int workers) {
  return simulate_again(sim::program_of(r), policy, workers);
}

TEST_P(replayed, a_native_run_natively_and_in_the_model) {
  const kith::test::setup& s = GetParam();
  for (const auto& run : programs) {
    SCOPED_TRACE("program " + std::to_string(&run - programs));
    const recording first = record(s.options(), run);
    const scratch_file file;
    write_recording(first, file.path());
    const recording again = record(following(file, s), run);
    ASSERT_EQ(again.tasks.size(), first.tasks.size());
    if (run == submitted) continue;  // its order is free
    EXPECT_EQ(decisions(again), decisions(first));
    EXPECT_EQ(decisions(simulate_again(first, "replay:file=" + file.path(), s.workers)), decisions(first));
  }
}

TEST_P(replayed, a_simulated_run_natively) {
  const kith::test::setup& s = GetParam();
  for (const auto& run : programs) {
    SCOPED_TRACE("program " + std::to_string(&run - programs));
    const recording modelled = simulate_again(record(kith::test::with("fifo", 1), run), s.policy, s.workers);
    const scratch_file file;
    write_recording(modelled, file.path());
    const recording native = record(following(file, s), run);
    ASSERT_EQ(native.tasks.size(), modelled.tasks.size());
    if (run != submitted) {
      EXPECT_EQ(decisions(native), decisions(modelled));
    }
  }
}

/// A task behind a wait for tasks that wait for theirs.
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

/// Nodes are computed in the reverse order of their creation, and what is created behind a wait may be less deep than what
/// was waited for: of the steps of one moment, what the others waited for is first.
TEST(replay, tasks_that_take_no_time_have_an_order) {
  for (const auto& run : {kith::test::keyed_grid, kith::test::fork_and_join, waits_within}) {
    for (const char* policy : {"steal", "nabbitc", "fifo"}) {
      for (const int workers : {1, 2}) {
        sim::program p = sim::program_of(record(kith::test::with("fifo", 1), run));
        for (sim::action& a : p.actions) {
          if (a.what == sim::action::compute) a.value = 0;
        }
        std::ranges::fill(p.compute, 0);
        const recording modelled = simulate_again(p, policy, workers, false);
        const scratch_file file;
        write_recording(modelled, file.path());
        EXPECT_EQ(decisions(record(kith::test::with("replay:file=" + file.path(), workers), run)), decisions(modelled));
      }
    }
  }
}

/// Tasks with a wait, and more tasks behind it.
void chain(runtime& rt, int tasks, int behind = 1) {
  static int data;
  rt.run([&] {
    for (int t = 0; t < tasks; ++t) spawn([] {}, inout(data));
    wait();
    for (int t = 0; t < behind; ++t) spawn([] {}, task_type("behind"));
  });
}

std::string refusal(const runtime_options& o, int tasks, int behind = 1) {
  try {
    runtime rt(o);
    chain(rt, tasks, behind);
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

/// Two waits, the first a long one, and a task that has one as well.
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

/// Had the second task begun in the first one's first wait, it would wait for a task that another worker runs behind one
/// that the first has not created.
void begins_in_the_wait_it_began_in(void (*program)(runtime&)) {
  recording r = record(kith::test::with("fifo", 1), program);
  ASSERT_EQ(r.tasks.size(), 6u);
  r.worker_node = {0, 0};
  struct when {
    std::uint64_t created, started, ended;
    std::int16_t worker;
  };
  const auto set = [&](std::size_t t, when w) {
    recorded_task& x = r.tasks[t];
    x.created = x.create_until = w.created;
    x.started = w.started;
    x.ended = w.ended;
    x.worker = w.worker;
  };
  const auto of_type = [&](const char* name) {
    for (std::size_t t = 0; t < r.tasks.size(); ++t) {
      if (r.types[r.tasks[t].type] == name) return t;
    }
    throw error(name);
  };
  const auto children = [&](std::size_t of) {
    std::vector<std::size_t> all;
    for (std::size_t t = 0; t < r.tasks.size(); ++t) {
      if (r.tasks[t].creator == static_cast<std::int32_t>(of)) all.push_back(t);
    }
    return all;
  };
  const std::size_t first = of_type("first"), second = of_type("second");
  set(0, {0, 0, 120, 0});
  set(first, {5, 10, 100, 1});
  set(children(first).at(0), {12, 15, 40, 0});
  set(children(first).at(1), {45, 65, 70, 0});
  set(second, {8, 55, 85, 1});
  set(children(second).at(0), {55, 75, 80, 0});  // in the moment in which it begins, as clocks may be coarse
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
  o.oversubscribe = 1;
  o.policy = "replay:file=" + file.path();
  EXPECT_EQ(decisions(record(o, program)), decisions(r));
}
TEST(replay, a_task_begins_in_the_wait_it_began_in) { begins_in_the_wait_it_began_in(two_waits<wait_for_a_task>); }
TEST(replay, a_task_begins_in_the_wait_for_a_graph_it_began_in) {
  begins_in_the_wait_it_began_in(two_waits<wait_for_a_graph>);
}

TEST(replay, divergence_is_an_error_that_names_the_task) {
  runtime_options o;
  o.workers = 2;
  o.oversubscribe = 1;
  o.policy = "dfifo:steal=off";
  const scratch_file file;
  write_recording(record(o, [](runtime& rt) { chain(rt, 40); }), file.path());
  o.policy = "replay:file=" + file.path();
  EXPECT_EQ(refusal(o, 40), "");
  EXPECT_THAT(refusal(o, 40, 2), testing::HasSubstr("is not in the schedule of " + file.path()));
  const auto more_or_less = testing::HasSubstr("its worker has created or waited for more by then");
  EXPECT_THAT(refusal(o, 50), more_or_less);  // the next task was behind a wait
  EXPECT_THAT(refusal(o, 30), more_or_less);
  testing::internal::CaptureStderr();
  EXPECT_EQ(refusal(o, 40, 0), "");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("never came"));
}

TEST(replay, a_task_that_never_comes_is_named_by_what_waits_for_its_place) {
  runtime_options o;
  o.workers = 1;
  o.policy = "fifo";
  const scratch_file file;
  // Before 'other' there is a child that is not made here.
  write_recording(record(o,
                         [](runtime& rt) {
                           rt.run([] {
                             spawn([] { spawn([] {}, task_type("child")); });
                             wait();
                             spawn([] {}, task_type("other"));
                           });
                         }),
                  file.path());
  o.policy = "replay:file=" + file.path();
  const auto shorter = [&] {
    runtime rt(o);
    rt.run([] {
      spawn([] {});
      wait();
      spawn([] {}, task_type("other"));
    });
  };
  EXPECT_THAT(shorter,
              testing::ThrowsMessage<error>(testing::AllOf(testing::HasSubstr("'other' is ready, but"),
                                                           testing::HasSubstr("(child) first, which never came"))));
}

TEST(replay, in_the_model_divergence_is_an_error_as_well) {
  runtime_options o = kith::test::with("fifo", 1);
  const scratch_file file;
  write_recording(record(o, [](runtime& rt) { chain(rt, 40); }), file.path());
  const recording longer = record(o, [](runtime& rt) { chain(rt, 40, 2); });
  EXPECT_THAT([&] { simulate_again(longer, "replay:file=" + file.path(), 1); },
              testing::ThrowsMessage<error>(testing::HasSubstr("is not in the schedule")));
}

struct sleeper : plain::worker_view {
  using worker_view::worker_view;
  bool all_sleep() const noexcept override { return sleeps; }
  bool sleeps = true;
};
struct one_name : identity_source {
  std::uint64_t identity_of(const task&) const override { return name; }
  std::uint64_t name = 0;
};

TEST(replay, only_what_is_held_back_while_all_sleep_is_refused) {
  const recording first = record(kith::test::with("fifo", 1), [](runtime& rt) { chain(rt, 3); });
  const scratch_file file;
  write_recording(first, file.path());
  one_name names;
  names.name = schedule_of(first).of_worker[0][1].identity;
  const machine on = synthetic_machine("core:1");
  const team workers(on, {node_id(0)});
  region_table regions;
  for (const std::string order : {"auto", "ready"}) {
    const auto following =
        make_policy<plain::world>("replay:file=" + file.path() + ",order=" + order,
                                  {.workers = workers, .regions = regions, .seed = 1, .identities = &names});
    sleeper by(worker_id(0), node_id(0));
    task second;
    task* const one = &second;
    following->ready({&one, 1}, by, moment::creation);
    by.sleeps = false;
    EXPECT_FALSE(following->stalled(by));
    by.sleeps = true;
    if (order == "ready") {
      EXPECT_FALSE(following->stalled(by));
      EXPECT_EQ(following->next(by).work, one);
    } else {
      EXPECT_EQ(following->next(by).work, nullptr);
      EXPECT_THAT([&] { following->stalled(by); }, testing::ThrowsMessage<error>(testing::HasSubstr("never came")));
    }
  }
}

/// Two tasks with commutative accesses to one region: the greatest number that ran at once.
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
  o.oversubscribe = 1;
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
  for (const auto& run : programs) {
    SCOPED_TRACE("program " + std::to_string(&run - programs));
    const scratch_file file;
    write_recording(simulate_again(record(kith::test::with("fifo", 1), run), "nabbitc", 30), file.path());
    runtime_options o = kith::test::with("replay:file=" + file.path(), 2);
    EXPECT_NO_THROW(record(o, run));
    o.policy += ",order=strict";
    EXPECT_THAT([&] { runtime rt(o); }, testing::ThrowsMessage<error>(testing::HasSubstr("order=strict")));
  }
}

TEST(replay, needs_a_recording_that_ended) {
  EXPECT_THAT([] { runtime rt(kith::test::with("replay", 1)); },
              testing::ThrowsMessage<error>(testing::HasSubstr("file=RECORDING is missing")));
  EXPECT_THAT([] { runtime rt(kith::test::with("replay:file=/nowhere", 1)); },
              testing::ThrowsMessage<error>(testing::HasSubstr("/nowhere")));
  recording killed = record(kith::test::with("fifo", 1), [](runtime& rt) { chain(rt, 3); });
  killed.tasks.back().worker = -1;
  const scratch_file file;
  write_recording(killed, file.path());
  EXPECT_THAT([&] { runtime rt(kith::test::with("replay:file=" + file.path(), 1)); },
              testing::ThrowsMessage<error>(testing::HasSubstr("the run did not end")));
}

}  // namespace
