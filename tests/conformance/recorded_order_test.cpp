// `replay` with another policy: that policy gets tasks in the order of a recorded run.
#include "base/sanitizers.hpp"
#include "recording/file.hpp"
#include "support/matrix.hpp"
#include "support/programs.hpp"
#include "support/recordings.hpp"
#include "support/replays.hpp"
#include "support/scale.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <deque>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace kith;
using kith::test::record;
using kith::test::scratch_file;
using kith::test::simulate_again;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// The tasks in the order in which they began, on any worker.
std::vector<std::uint64_t> order_of(const recording& r) {
  std::vector<recorded_schedule::step> steps;
  for (const auto& some : schedule_of(r).of_worker) steps.insert(steps.end(), some.begin(), some.end());
  std::ranges::sort(steps, {}, [](const auto& s) { return std::tuple(s.started, s.task, !s.explores); });
  std::vector<std::uint64_t> order;
  for (const auto& s : steps) order.push_back(s.explores ? ~s.identity : s.identity);
  return order;
}

/// 64 tasks that can run in any order.
void independent(runtime& rt) {
  rt.run([] {
    for (int i = 0; i < 64; ++i) spawn([] {});
  });
}

constexpr void (*ordered_programs[])(runtime&) = {independent,
                                                  kith::test::random_accesses,
                                                  kith::test::fork_and_join,
                                                  kith::test::keyed_grid,
                                                  kith::test::valued_grid,
                                                  kith::test::static_diamond,
                                                  kith::test::filled_groups,
                                                  kith::test::delivered_arguments};

TEST(recorded_order, one_worker_under_fifo_begins_tasks_as_one_did_under_random) {
  const recording first = record(kith::test::make_options(1, "random"), independent);
  const recording mixed = simulate_again(first, "random", 1);
  const scratch_file file;
  write_recording(mixed, file.path());
  const std::string text = "replay:file=" + file.path() + ",policy=fifo";
  EXPECT_EQ(order_of(simulate_again(first, text, 1)), order_of(mixed));
  EXPECT_EQ(order_of(record(kith::test::make_options(1, text), independent)), order_of(mixed));
  EXPECT_NE(order_of(simulate_again(first, "fifo", 1)), order_of(mixed)) << "which was another order";
}

/// A program as it was recorded with two workers, and the file of that.
struct recorded_program {
  void (*run)(runtime&);
  recording first = record(kith::test::make_options(2, "steal"), run);
  sim::program modelled = sim::program_of(first);
  scratch_file file;

  explicit recorded_program(void (*f)(runtime&)) : run(f) { write_recording(first, file.path()); }
};

class in_recorded_order : public testing::TestWithParam<kith::test::setup> {
 public:
  static void SetUpTestSuite() {
    for (const auto& run : ordered_programs) recorded.emplace_back(run);
  }
  static void TearDownTestSuite() { recorded.clear(); }

  static inline std::deque<recorded_program> recorded;  // once for all policies
};

std::vector<kith::test::setup> with_all_policies() {
  std::vector<kith::test::setup> all = kith::test::matrix();
  std::erase_if(all, [](const kith::test::setup& s) { return s.workers == 5; });
  return all;
}
INSTANTIATE_TEST_SUITE_P(all, in_recorded_order, testing::ValuesIn(with_all_policies()), kith::test::name_of);

TEST_P(in_recorded_order, every_program_ends_under_every_policy) {
  const kith::test::setup& s = GetParam();
  for (std::size_t k = 0; k < recorded.size(); ++k) {
    SCOPED_TRACE("program " + std::to_string(k));
    const recorded_program& p = recorded[k];
    const std::size_t tasks = p.first.tasks.size();
    runtime_options o = s.options();
    o.policy = "replay:file=" + p.file.path() + ",policy=" + s.policy;
    if (!KITH_TSAN) {
      EXPECT_EQ(record(o, p.run).tasks.size(), tasks);
    }
    o.throttle = 2;  // holds creators up where they were not held up before
    EXPECT_EQ(record(o, p.run).tasks.size(), tasks);
    if (KITH_TSAN) continue;  // the simulator has one thread
    for (const std::uint32_t throttle : {2048u, 2u}) {
      if (kith::test::sanitized && throttle == 2048) continue;
      EXPECT_EQ(simulate_again(p.modelled, *o.policy, s.workers, true, throttle).tasks.size(), tasks);
    }
  }
}

TEST(recorded_order, tasks_that_the_recording_does_not_have_run_as_well) {
  const recording first = record(kith::test::make_options(2, "steal"), kith::test::fork_and_join);
  const scratch_file file;
  write_recording(first, file.path());
  const recording other =
      record(kith::test::make_options(2, "replay:file=" + file.path() + ",policy=steal"), kith::test::keyed_grid);
  EXPECT_GT(other.tasks.size(), 10u);
}

TEST(recorded_order, wrong_texts_are_named) {
  const recording first = record(kith::test::make_options(1, "fifo"), independent);
  const scratch_file file;
  write_recording(first, file.path());
  const auto make = [&](const std::string& rest) {
    return [rest] { runtime rt(kith::test::make_options(1, "replay:" + rest)); };
  };
  EXPECT_THAT(make("policy=steal"), ThrowsMessage<error>(HasSubstr("file=RECORDING is missing")));
  EXPECT_THAT(make("file=" + file.path() + ",policy=stel"), ThrowsMessage<error>(HasSubstr("did you mean 'steal'")));
  EXPECT_THAT(make("file=" + file.path() + ",policy=steal:victim=me,end=fifo"),
              ThrowsMessage<error>(HasSubstr("victim=me: expected one of")));
  EXPECT_THAT(make("file=" + file.path() + ",order=strict,policy=steal"),
              ThrowsMessage<error>(HasSubstr("order=strict: expected nothing")));
  EXPECT_THAT(make("file=" + file.path() + ",policy=replay:file=x"),
              ThrowsMessage<error>(HasSubstr("no policy 'replay'")));
}

}  // namespace
