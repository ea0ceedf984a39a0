// Tasks that are too small, on recordings written by hand whose answers are known.
#include "analysis/granularity.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>

namespace {

using namespace kith;
using analysis::granularity;
using analysis::granularity_of;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

/// A run of 100 us on two workers. Worker 1 is idle for 60 us of it. 200 tasks of 90 ns, and two of 20 us.
recording small() {
  recording r;
  r.worker_node = {0, 0};
  r.types = {"task", "axpy", "gemm"};
  const auto add = [&](std::uint16_t type, std::uint64_t started, std::uint64_t ended, std::uint64_t work) {
    recorded_task t;
    t.creator = r.tasks.empty() ? -1 : 0;
    if (r.tasks.empty()) t.flags = recorded_task::root;
    t.worker = 0;
    t.type = type;
    t.started = started;
    t.ended = ended;
    t.work_ns = work;
    r.tasks.push_back(t);
  };
  add(0, 1000, 101'000, 2000);
  for (std::uint64_t i = 0; i < 200; ++i) add(1, 2000 + 400 * i, 2090 + 400 * i, 90);
  add(2, 3000, 23'000, 20'000);
  add(2, 3000, 23'000, 20'000);
  r.idles = {{1, 0, 31'000}, {1, 71'000, 150'000}};  // 30 us and 30 us of these are within the run
  return r;
}

TEST(granularity_of, is_measured_against_the_time_that_workers_had_something_to_do) {
  const granularity g = granularity_of(small());
  // 200 us of two workers, 60 of them idle: 140. Work: 2 + 18 + 40.
  EXPECT_EQ(g.tasks, 202U);
  EXPECT_NEAR(g.overhead_ns, 80'000.0 / 202, 0.01);
  EXPECT_NEAR(g.overhead_share, 80.0 / 140, 1e-6);
  ASSERT_THAT(g.types, SizeIs(2));
  EXPECT_EQ(g.types[0].type, 1);  // the one with the most overhead
  EXPECT_EQ(g.types[0].tasks, 200U);
  EXPECT_DOUBLE_EQ(g.types[0].mean_ns, 90);
  EXPECT_NEAR(g.types[0].overhead_share, 396.04 / 486.04, 1e-4);
  EXPECT_EQ(g.types[0].merge, 40U);  // 9 * 396 / 90
  EXPECT_TRUE(g.types[0].matters);
  EXPECT_EQ(g.types[1].merge, 1U);
  EXPECT_LT(g.types[1].overhead_share, 0.02);
}

TEST(granularity_of, does_not_matter_where_the_type_has_little_of_the_time) {
  recording r = small();
  r.tasks[0].ended = 10'001'000;  // a root that computes for 10 ms
  r.tasks[0].work_ns = 9'900'000;
  r.idles = {{1, 0, 20'000'000}};
  EXPECT_FALSE(granularity_of(r).types[0].matters);
}

TEST(granularity_of, of_a_program_without_tasks_is_empty) {
  recording r = small();
  r.tasks.resize(1);
  EXPECT_THAT(granularity_of(r).types, SizeIs(0));
}

TEST(granularity_of, of_a_dry_recording_is_refused) {
  recording r = small();
  r.meta["dry"] = "1";
  EXPECT_THAT([&] { granularity_of(r); }, ThrowsMessage<error>(HasSubstr("dry")));
}

}  // namespace
