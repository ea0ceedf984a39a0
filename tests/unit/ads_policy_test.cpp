// Decisions of `ads` in the sequential world: the two ends of a ready deque, and the turns of the buffer.
#include "support/policy_bench.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

namespace {

using kith::poll_result;
using kith::ready_reason;
using testing::ElementsAre;

class ads_bench : public kith::test::policy_bench {
 public:
  explicit ads_bench(const char* machine) : policy_bench(machine, "ads") {}
  std::vector<kith::task*> all(int worker) {
    std::vector<kith::task*> found;
    while (kith::task* t = next(worker)) found.push_back(t);
    return found;
  }
  poll_result look_once(int worker) { return chosen->next(*by[static_cast<std::size_t>(worker)]); }
};

TEST(AdsPolicy, OwnersTakeTheBottomAndThievesTheTop) {
  for (const int taker : {0, 1}) {
    ads_bench b("node:1 core:2");
    kith::task &enabled = b.task(), &then_enabled = b.task(), &old = b.task(), &recent = b.task();
    b.ready(old);
    b.ready(enabled, 0, ready_reason::completion);
    b.ready(then_enabled, 0, ready_reason::completion);
    b.ready(recent);
    // Bottom to top: recent, old, enabled, then_enabled.
    if (taker == 0) {
      EXPECT_THAT(b.all(0), ElementsAre(&recent, &old, &enabled, &then_enabled));
    } else {
      EXPECT_THAT(b.all(1), ElementsAre(&then_enabled, &enabled, &old, &recent));
    }
  }
}

TEST(AdsPolicy, OneFailedStealThenTheBuffer) {
  ads_bench b("node:1 core:2");
  kith::task &fresh = b.task(), &fresh_too = b.task(), &own = b.task(), &other = b.task();
  b.ready(fresh, 1, ready_reason::arrival);
  b.ready(fresh_too, 1, ready_reason::arrival);
  b.ready(own, 0);
  b.ready(other, 1);
  EXPECT_EQ(b.look_once(0).work, &own);
  EXPECT_EQ(b.look_once(0).work, &other);  // stolen: no failed attempt
  EXPECT_EQ(b.look_once(0).work, &fresh);  // the failed attempt and the buffer are one look
  EXPECT_EQ(b.look_once(1).work, &fresh_too);
  EXPECT_EQ(b.next(0), nullptr);
}

TEST(AdsPolicy, AWorkerAloneHasOnlyItsDequeAndTheBuffer) {
  ads_bench b("node:1 core:1");
  kith::task &fresh = b.task(), &own = b.task();
  b.ready(fresh, 0, ready_reason::arrival);
  b.ready(own);
  EXPECT_THAT(b.all(0), ElementsAre(&own, &fresh));
}

TEST(AdsPolicy, EmptyOnlyIfNobodyHasAnything) {
  ads_bench b("node:1 core:5");
  kith::task& t = b.task();
  b.ready(t, 4, ready_reason::completion);
  for (int failed_searches = 0; failed_searches < 100; ++failed_searches) {
    const poll_result l = b.look_once(0);
    ASSERT_NE(l.kind, poll_result::empty);
    if (l.work == &t) return;
  }
  ADD_FAILURE() << "100 random victims, and never the fifth worker";
}

TEST(AdsPolicy, PrioritiesComeFirstInEachQueue) {
  ads_bench b("node:1 core:2");
  kith::task &low = b.task(), &normal = b.task(), &high = b.task();
  low.priority = 2;
  high.priority = 1;
  b.ready(high, 0, ready_reason::completion);
  b.ready(normal);
  b.ready(low);
  EXPECT_THAT(b.all(0), ElementsAre(&high, &normal, &low));
}

TEST(AdsPolicy, CountsWhatThePaperCounts) {
  ads_bench b("node:1 core:2");
  for (int i = 0; i < 3; ++i) b.ready(b.task());   // lengths 1, 2, 3
  b.ready(b.task(), 0, ready_reason::completion);  // 4
  b.ready(b.task(), 1, ready_reason::arrival);     // in the buffer, in no worker's deque
  EXPECT_EQ(b.all(1).size(), 5u);
  const kith::event_sums &owner = b.by[0]->sums, &thief = b.by[1]->sums;
  EXPECT_EQ(owner[kith::event::deque_sampled], 4u);
  EXPECT_EQ(owner[kith::event::deque_length], 1u + 2 + 3 + 4);
  EXPECT_EQ(owner[kith::event::deque_peak], 4u);
  EXPECT_EQ(thief[kith::event::deque_sampled], 0u);
  EXPECT_EQ(owner[kith::event::arrival_attempt], 0u);
  EXPECT_EQ(thief[kith::event::arrival_attempt], thief[kith::event::steal_attempt] - thief[kith::event::steal]);
  EXPECT_GT(thief[kith::event::arrival_attempt], 1u);
}

TEST(AdsPolicy, CountsAreInTheStatistics) {
  kith::runtime_options o;
  o.policy = "ads";
  o.workers = 1;
  kith::runtime rt(o);
  const auto run = [&](int tasks) {
    rt.reset_statistics();
    rt.run([&] {
      for (int i = 0; i < tasks; ++i) kith::spawn([] {});
      kith::wait();
      kith::wait();  // for nothing
    });
    rt.submit([] {}).wait();
    rt.wait();
    return rt.statistics().total;
  };
  for (const int tasks : {9, 3}) {
    const kith::worker_statistics got = run(tasks);
    EXPECT_EQ(got.deque_samples, static_cast<std::uint64_t>(tasks));
    EXPECT_EQ(got.deque_peak, static_cast<std::uint64_t>(tasks));
    EXPECT_DOUBLE_EQ(got.deque_mean, (tasks + 1) / 2.0);
    EXPECT_EQ(got.stalled, 1u);
    EXPECT_GE(got.arrival_attempts, 1u);  // for the task from outside
    EXPECT_GT(got.arrival_seconds, 0);
    EXPECT_EQ(got.steal_seconds, 0);  // there is no victim
  }
}

}  // namespace
