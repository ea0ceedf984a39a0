// Decisions of `ads` in the plain world: the two ends of a ready deque, and when the buffer's turn is.
#include "support/policy_bench.hpp"

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
  for (int looks = 0; looks < 100; ++looks) {
    const poll_result l = b.look_once(0);
    ASSERT_NE(l.what, poll_result::empty);
    if (l.work == &t) return;
  }
  ADD_FAILURE() << "100 random victims, and never the fifth worker";
}

TEST(AdsPolicy, PrioritiesComeFirstInEachQueue) {
  ads_bench b("node:1 core:2");
  kith::task &low = b.task(), &normal = b.task(), &high = b.task();
  low.flags |= kith::task::low;
  high.flags |= kith::task::high;
  b.ready(high, 0, ready_reason::completion);
  b.ready(normal);
  b.ready(low);
  EXPECT_THAT(b.all(0), ElementsAre(&high, &normal, &low));
}

}  // namespace
