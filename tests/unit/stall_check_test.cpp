// What a worker leaves behind if the question whether all sleep ends by an exception.
#include "base/stall_check.hpp"

#include <gmock/gmock.h>

#include <stdexcept>

namespace {

using kith::worker_id;

TEST(stall_check, a_worker_whose_question_throws_no_longer_counts_as_asleep) {
  kith::sleepers parked(1);
  kith::stall_check all(1);
  int asked = 0;
  kith::stall_check::sleep_epoch asleep = 0;
  for (int sleep = 1; sleep <= 2; ++sleep) {
    parked.announce(worker_id(0));
    EXPECT_THROW(all.sleep(worker_id(0), parked,
                           [&](kith::stall_check::sleep_epoch now) -> bool {
                             ++asked;
                             asleep = now;
                             throw std::runtime_error("no room");
                           }),
                 std::runtime_error);
    ASSERT_FALSE(all.lasts(asleep)) << "it counts as asleep: the next sleep would have no end";
    EXPECT_EQ(asked, sleep) << "the only worker is the last one to sleep";
    EXPECT_TRUE(parked.retract(worker_id(0))) << "it is still announced";
  }
}

}  // namespace
