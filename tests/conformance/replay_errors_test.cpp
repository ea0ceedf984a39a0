// The errors of `replay` if it cannot follow a schedule: the program was another one, or the recording has
// no schedule.
#include "support/programs.hpp"
#include "support/recordings.hpp"
#include "support/replays.hpp"

#include "queue/sequential/world.hpp"
#include "replay/choose.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace {

using namespace kith;
using kith::test::record;
using kith::test::scratch_file;
using kith::test::simulate_again;

/// Tasks with a wait, and more tasks after it.
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

TEST(replay_errors, divergence_is_an_error_that_names_the_task) {
  runtime_options o;
  o.workers = 2;
  o.oversubscribe = true;
  o.policy = "dfifo:steal=off";
  const scratch_file file;
  write_recording(record(o, [](runtime& rt) { chain(rt, 40); }), file.path());
  o.policy = "replay:file=" + file.path();
  EXPECT_EQ(refusal(o, 40), "");
  EXPECT_THAT(refusal(o, 40, 2), testing::HasSubstr("is not in the schedule of " + file.path()));
  const auto more_or_less = testing::HasSubstr("its worker has created or waited for more by then");
  EXPECT_THAT(refusal(o, 50), more_or_less);  // the next task came after a wait
  EXPECT_THAT(refusal(o, 30), more_or_less);
  testing::internal::CaptureStderr();
  EXPECT_EQ(refusal(o, 40, 0), "");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("was not created"));
}

TEST(replay_errors, a_task_that_never_comes_is_named_by_what_waits_for_its_place) {
  runtime_options o;
  o.workers = 1;
  o.policy = "fifo";
  const scratch_file file;
  // Before 'other' there is a child that is not created here.
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
  EXPECT_THAT(shorter, testing::ThrowsMessage<error>(
                           testing::AllOf(testing::HasSubstr("'other' is ready, but"),
                                          testing::HasSubstr("(child) first, which was not created"))));
}

/// While one worker sleeps, because its next step does not come, another one finds that the program differs.
TEST(replay_errors, a_divergence_wakes_workers_that_wait_for_a_step) {
  runtime_options o = kith::test::make_options(2, "steal");
  o.inline_limit = 0;
  const scratch_file file;
  // The other worker runs all tasks, in this order, while the root waits outside of Kith.
  std::atomic<int> ran{0};
  const auto wait_for = [&](int tasks) {
    while (ran < tasks) std::this_thread::yield();
  };
  write_recording(record(o,
                         [&](runtime& rt) {
                           rt.run([&] {
                             spawn([&] {
                               spawn([&] { ++ran; }, task_type("child"));
                               wait();
                               ++ran;
                             });
                             wait_for(2);
                             spawn([&] { ++ran; });
                             wait_for(3);
                           });
                         }),
                  file.path());
  o.policy = "replay:order=strict,file=" + file.path();
  ran = 0;
  const auto without_child = [&] {
    runtime rt(o);
    rt.run([&] {
      spawn([&] { ++ran; });
      wait_for(1);
      spawn([&] { ++ran; });  // held: the child comes first
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      EXPECT_EQ(ran, 1);
      spawn([] {}, task_type("further"));
    });
  };
  EXPECT_THAT(without_child, testing::ThrowsMessage<error>(testing::HasSubstr("'further' is not in the schedule")));
}

TEST(replay_errors, in_the_model_divergence_is_an_error_as_well) {
  runtime_options o = kith::test::make_options(1, "fifo");
  const scratch_file file;
  write_recording(record(o, [](runtime& rt) { chain(rt, 40); }), file.path());
  const recording longer = record(o, [](runtime& rt) { chain(rt, 40, 2); });
  EXPECT_THAT([&] { simulate_again(longer, "replay:file=" + file.path(), 1); },
              testing::ThrowsMessage<error>(testing::HasSubstr("is not in the schedule")));
}

struct sleeper : sequential::worker_view {
  using worker_view::worker_view;
  bool all_sleep() const noexcept override { return sleeps; }
  bool sleeps = true;
};
struct one_name : identity_source {
  std::uint64_t identity_of(const task&) const override { return name; }
  std::uint64_t name = 0;
};

TEST(replay_errors, only_what_is_held_back_while_all_sleep_is_refused) {
  const recording first = record(kith::test::make_options(1, "fifo"), [](runtime& rt) { chain(rt, 3); });
  const scratch_file file;
  write_recording(first, file.path());
  one_name names;
  names.name = schedule_of(first).of_worker[0][1].identity;
  const machine on = synthetic_machine("core:1");
  const team workers(on, {node_id(0)});
  region_table regions;
  for (const std::string order : {"auto", "ready"}) {
    const auto following =
        choose_policy<sequential::world>("replay:file=" + file.path() + ",order=" + order,
                                         {.workers = workers, .regions = regions, .seed = 1, .identities = &names});
    sleeper by(worker_id(0), node_id(0));
    task second{};
    task* const one = &second;
    following.policy->ready({&one, 1}, by, ready_reason::creation);
    by.sleeps = false;
    EXPECT_FALSE(following.gate->stalled(by));
    by.sleeps = true;
    if (order == "ready") {
      EXPECT_FALSE(following.gate->stalled(by));
      EXPECT_EQ(following.policy->next(by).work, one);
    } else {
      EXPECT_EQ(following.policy->next(by).work, nullptr);
      EXPECT_THAT([&] { following.gate->stalled(by); },
                  testing::ThrowsMessage<error>(testing::HasSubstr("was not created")));
    }
  }
}

TEST(replay_errors, needs_a_recording_that_ended) {
  EXPECT_THAT([] { runtime rt(kith::test::make_options(1, "replay")); },
              testing::ThrowsMessage<error>(testing::HasSubstr("file=RECORDING is missing")));
  EXPECT_THAT([] { runtime rt(kith::test::make_options(1, "replay:file=/nowhere")); },
              testing::ThrowsMessage<error>(testing::HasSubstr("/nowhere")));
  recording killed = record(kith::test::make_options(1, "fifo"), [](runtime& rt) { chain(rt, 3); });
  killed.tasks.back().worker = -1;
  const scratch_file file;
  write_recording(killed, file.path());
  EXPECT_THAT([&] { runtime rt(kith::test::make_options(1, "replay:file=" + file.path())); },
              testing::ThrowsMessage<error>(testing::HasSubstr("the run did not end")));
}

}  // namespace
