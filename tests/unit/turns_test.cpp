// Turns at regions with commutative access: which task is next, and that a turn's cost does not grow with
// the number of waiting tasks.
#include "task/turns.hpp"

#include "support/scale.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {

using namespace kith;
using test::million;
using testing::ElementsAre;

class Turns : public testing::Test {
 protected:
  /// A task of scope 1 that takes turns at these regions.
  task& taking(const std::vector<std::uint32_t>& at) {
    task& t = *made_.emplace_back(std::make_unique<task>());
    t.flags = 0;
    t.scope = reinterpret_cast<detail::scope*>(&made_);
    t.accesses = static_cast<std::uint8_t>(at.size());
    std::byte* keep = t.access_bytes();
    for (std::uint32_t region : at) {
      const kept_access a(region, 8, mode::commutative);
      std::memcpy(keep, &a, sizeof a);
      keep += sizeof a;
    }
    return t;
  }
  std::vector<task*> after(task& t) {
    std::vector<task*> ready;
    give_turns(regions, t, ready);
    return ready;
  }

  std::uint64_t data[4] = {};
  region_table regions;
  const std::uint32_t r0 = regions.find(data, 8), r1 = regions.find(data + 1, 8), r2 = regions.find(data + 2, 8);

 private:
  std::vector<std::unique_ptr<task>> made_;
};

TEST_F(Turns, ComeInTheOrderInWhichTasksBecameReady) {
  task &a = taking({r0}), &b = taking({r0}), &c = taking({r0}), &d = taking({r1});
  EXPECT_TRUE(take_turns(regions, a));
  EXPECT_FALSE(take_turns(regions, b));
  EXPECT_FALSE(take_turns(regions, c));
  EXPECT_TRUE(take_turns(regions, d));
  EXPECT_THAT(after(a), ElementsAre(&b));
  EXPECT_FALSE(take_turns(regions, a)) << "others wait";
  EXPECT_THAT(after(b), ElementsAre(&c));
  EXPECT_THAT(after(c), ElementsAre(&a));
  EXPECT_THAT(after(a), ElementsAre());
  EXPECT_TRUE(take_turns(regions, b));
}

TEST_F(Turns, AtSeveralRegionsAreTakenOneAfterTheOther) {
  task &a = taking({r0}), &b = taking({r2}), &both = taking({r2, r0, r2}), &c = taking({r0});
  EXPECT_TRUE(take_turns(regions, a));
  EXPECT_TRUE(take_turns(regions, b));
  EXPECT_FALSE(take_turns(regions, both));
  EXPECT_FALSE(take_turns(regions, c));
  EXPECT_THAT(after(a), ElementsAre()) << "now it waits for the other region";
  EXPECT_THAT(after(b), ElementsAre(&both));
  EXPECT_THAT(after(both), ElementsAre(&c));
}

TEST_F(Turns, OfRegionsWithoutBytesAreNone) {
  const std::uint32_t none = regions.find(data + 3, 0);
  EXPECT_EQ(none, 0u);
  task &a = taking({none}), &b = taking({none});
  EXPECT_TRUE(take_turns(regions, a));
  EXPECT_TRUE(take_turns(regions, b));
  EXPECT_THAT(after(a), ElementsAre());
}

/// If each turn cost as much as there are waiting tasks, this would not end.
TEST_F(Turns, OfAMillionTasksThatWait) {
  for (int workers : {1, 2}) {
    runtime_options o;
    o.policy = "fifo";
    o.workers = workers;
    o.throttle = 0;
    o.oversubscribe = true;
    runtime rt(o);
    std::uint64_t sum = 0, last = 0, faults = 0;
    rt.run([&] {
      for (std::uint64_t t = 1; t <= million; ++t)
        spawn(
            [&, t] {
              ++sum;
              faults += workers == 1 && last + 1 != t;
              last = t;
            },
            commutative(sum));
    });
    EXPECT_EQ(sum, million);
    EXPECT_EQ(faults, 0u) << "one worker makes them ready in the order of their creation";
  }
}

/// If the regions of a waiting task were sorted at each turn that it gets, this would take minutes.
TEST_F(Turns, AtManyRegionsOfTasksThatWait) {
  constexpr int regions_of_each = test::sanitized ? 20'000 : 60'000;
  runtime_options o;
  o.workers = 3;
  o.oversubscribe = true;
  runtime rt(o);
  std::vector<int> objects(regions_of_each);
  access_list all;
  for (int& x : objects) all.add(commutative(x));
  std::atomic<int> running{0}, most{0}, ran{0};
  rt.run([&] {
    for (int t = 0; t < 3; ++t)
      spawn(
          [&] {
            most.store(std::max(most.load(), ++running));
            std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that the others wait
            --running;
            ++ran;
          },
          all);
  });
  EXPECT_EQ(ran, 3);
  EXPECT_EQ(most, 1);
}

}  // namespace
