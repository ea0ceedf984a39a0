// Decisions of `numa`, of `home-cache` and of the orders of `steal`, in the sequential world.
#include "support/policy_bench.hpp"

#include <gmock/gmock.h>

#include <set>

namespace {

using kith::mode;
using kith::node_id;
using kith::region;
using kith::worker_id;
using testing::ElementsAre;
using testing::HasSubstr;

using bench = kith::test::policy_bench;

TEST(NumaPolicy, WeighsInputAndNotOutput) {
  for (const auto& [policy, where] : {std::pair("numa:footprint=0", 0), {"numa:footprint=0,reads=all", 1}}) {
    bench b("node:2 core:1", policy);
    kith::task& t = b.task({{b.region(0), 100, mode::in}, {b.region(1), 1000, mode::out}});
    b.ready(t, 1);
    EXPECT_EQ(b.next(1 - where), nullptr) << policy;
    EXPECT_EQ(b.next(where), &t) << policy;
  }
}

TEST(NumaPolicy, TakesTheNodeOfLeastDistanceToAll) {
  bench b("node:3 core:1 distance:10,20,40/20,10,20/40,20,10", "numa:footprint=0");
  kith::task& between = b.task({{b.region(0), 100}, {b.region(2), 100}});  // 5000, 4000, 5000
  b.ready(between);
  EXPECT_EQ(b.next(0), nullptr);
  EXPECT_EQ(b.next(1), &between);
  kith::task& most = b.task({{b.region(0), 100}, {b.region(2), 1000}});  // 41000, 22000, 14000
  b.ready(most);
  EXPECT_EQ(b.next(2), &most);
}

TEST(NumaPolicy, LeavesSmallAndEvenInputsToAnybody) {
  bench b("node:2 core:1", "numa:footprint=1000");
  const auto at_0 = b.region(0), at_1 = b.region(1);
  for (kith::task* t : {&b.task({{at_1, 999}}), &b.task({{at_0, 1000}, {at_1, 1005}}), &b.task({})}) {
    b.ready(*t, 0);
    EXPECT_EQ(b.next(1), t);  // from its creator's alternative queue
  }
  kith::task& placed = b.task({{at_0, 1000}, {at_1, 1200}});
  b.ready(placed, 0);
  EXPECT_EQ(b.next(0), nullptr);
  EXPECT_EQ(b.next(1), &placed);
}

TEST(NumaPolicy, KnowsTheCacheOfTheMachine) {
  bench b("node:2 l3:1(size=1048576) core:4", "numa");
  EXPECT_EQ(b.workers.cache_share(node_id(0)), (1u << 20) / 4);
  const auto at_1 = b.region(1);
  kith::task &small = b.task({{at_1, (1u << 18) - 1}}), &large = b.task({{at_1, 1u << 18}});
  b.ready(small);
  b.ready(large);
  EXPECT_EQ(b.next(0), &small);
  EXPECT_EQ(b.next(0), nullptr);
  EXPECT_EQ(b.next(4), &large);
}

TEST(NumaPolicy, RobsOnlyBeyondCoresTimesHops) {
  // From node 0, node 1 is one hop away and node 2 is two.
  for (const auto& [home, keeps] : {std::pair(1, 2), {2, 4}}) {
    bench b("node:3 core:2 distance:10,15,20/15,10,20/20,20,10", "numa:footprint=0");
    const auto there = b.region(home);
    for (int i = 0; i < keeps; ++i) b.ready(b.task({{there, 100}}), 0);
    EXPECT_EQ(b.next(0), nullptr) << home;
    b.ready(b.task({{there, 100}}), 0);
    EXPECT_NE(b.next(0), nullptr) << home;
    EXPECT_EQ(b.next(0), nullptr) << home;
  }
  bench eager("node:2 core:2", "numa:footprint=0,backlog=0");
  kith::task& t = eager.task({{eager.region(1), 100}});
  eager.ready(t);
  EXPECT_EQ(eager.next(0), &t);
}

TEST(NumaPolicy, LooksAtHomeFirstAndForCheapTasksBeforeItRobs) {
  bench b("node:2 core:1", "numa:footprint=0,backlog=0");
  const auto at_0 = b.region(0), at_1 = b.region(1);
  kith::task &placed_there = b.task({{at_1, 8}}), &cheap_there = b.task(), &placed_here = b.task({{at_0, 8}}),
             &cheap_here = b.task();
  b.ready(placed_there, 1);
  b.ready(cheap_there, 1);
  b.ready(placed_here, 0);
  b.ready(cheap_here, 0);
  std::vector<kith::task*> order;
  for (int i = 0; i < 4; ++i) order.push_back(b.next(0));
  EXPECT_THAT(order, ElementsAre(&cheap_here, &placed_here, &cheap_there, &placed_there));
}

TEST(NumaPolicy, BreaksTiesInTurn) {
  for (const auto& [policy, nodes] : {std::pair("numa:footprint=0", 2u), {"numa:footprint=0,ties=first", 1u}}) {
    bench b("node:3 core:2", policy);
    const auto at_0 = b.region(0), at_2 = b.region(2);
    std::set<int> went;
    for (int i = 0; i < 6; ++i) {
      b.ready(b.task({{at_0, 100}, {at_2, 100}}));
      for (int w : {0, 2, 4}) {
        if (b.next(w) != nullptr) went.insert(w);
      }
    }
    EXPECT_EQ(went.size(), nodes) << policy;
    EXPECT_FALSE(went.contains(2)) << policy;  // none of the input is there
  }
}

TEST(NumaPolicy, WithoutAlternativeQueuesTasksStayWithTheirCreator) {
  bench b("node:2 core:1", "numa:alternative=off");
  kith::task& t = b.task();
  b.ready(t, 0);
  EXPECT_EQ(b.next(1), nullptr);
  EXPECT_EQ(b.next(0), &t);
}

TEST(HomeCachePolicy, DealsToTheTileOfTheInputAndStealsInItsVicinity) {
  bench b("node:16 core:1", "home-cache");  // 4 x 4: vicinities {0, 1, 4, 5}, {2, 3, 6, 7}, ...
  const auto at_5 = b.region(5);
  kith::task &one = b.task({{at_5, 100, mode::in}, {b.region(9), 1000, mode::out}}), &two = b.task({{at_5, 100}});
  b.ready(one);
  b.ready(two);
  for (int outside : {2, 6, 8, 9, 10}) EXPECT_EQ(b.next(outside), nullptr) << outside;
  EXPECT_EQ(b.next(5), &one);
  EXPECT_EQ(b.next(0), &two);
}

TEST(HomeCachePolicy, VicinitiesAreBlocksOfTheMesh) {
  struct one {
    const char* options;
    std::set<int> steal_from_0;
  };
  for (const auto& [options, thieves] :
       {one{"vicinity=1x1", {}}, one{"vicinity=1x2", {1}}, one{"vicinity=2x2,columns=8", {1, 8, 9}},
        one{"vicinity=4x4", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}}) {
    bench b("node:16 core:1", std::string("home-cache:") + options);
    std::set<int> found;
    for (int w = 1; w < 16; ++w) {
      b.ready(b.task(), 0);
      if (b.next(w) != nullptr) {
        found.insert(w);
      } else {
        EXPECT_NE(b.next(0), nullptr);
      }
    }
    EXPECT_EQ(found, thieves) << options;
  }
}

TEST(HomeCachePolicy, HashedInputsStay) {
  bench b("node:4 core:1", "home-cache:vicinity=1x1");
  const auto at_2 = b.region(2), hashed = b.region();
  b.regions[hashed].home = region::several_homes;
  kith::task &here = b.task({{hashed, 1000}}), &there = b.task({{at_2, 1}, {hashed, 1000}});
  b.ready(here, 1);
  b.ready(there, 1);
  EXPECT_EQ(b.next(1), &here);
  EXPECT_EQ(b.next(1), nullptr);
  EXPECT_EQ(b.next(2), &there);
}

TEST(HomeCachePolicy, SmallInputsStayIfTold) {
  bench b("node:4 l2:1(size=65536) core:1", "home-cache:vicinity=1x1,small=stay");
  const auto at_2 = b.region(2);
  kith::task &small = b.task({{at_2, 65536}}), &large = b.task({{at_2, 65537}});
  b.ready(small);
  b.ready(large);
  EXPECT_EQ(b.next(0), &small);
  EXPECT_EQ(b.next(0), nullptr);
  EXPECT_EQ(b.next(2), &large);
}

TEST(HomeCachePolicy, TheIntenseAccessDecidesAlone) {
  bench b("node:4 core:1", "home-cache:intense=1,vicinity=1x1");
  const auto at_2 = b.region(2), at_3 = b.region(3);
  kith::task& has_it = b.task({{at_2, 5000, mode::in}, {at_3, 8}});
  b.ready(has_it);
  EXPECT_EQ(b.next(3), &has_it);
  kith::task& has_none = b.task({{at_2, 5000, mode::in}});
  b.ready(has_none);
  EXPECT_EQ(b.next(2), &has_none);
}

TEST(HomeCachePolicy, CoresOfANodeTakeTurns) {
  bench b("node:2 core:2", "home-cache:vicinity=1x1");
  const auto at_1 = b.region(1);
  for (int i = 0; i < 40; ++i) b.ready(b.task({{at_1, 8}}), 0);
  int of_2 = 0;
  for (int i = 0; i < 20; ++i) of_2 += b.next(2) != nullptr;
  EXPECT_EQ(of_2, 20);
}

TEST(StealPolicy, VisitsNodeAfterNode) {
  bench b("node:3 core:2", "steal");
  const auto all = b.workers.victims(worker_id(3), kith::victim_order::nodes);
  std::vector<int> order;
  for (worker_id w : all) order.push_back(w.value);
  EXPECT_THAT(order, ElementsAre(2, 0, 1, 4, 5));
}

TEST(MirPolicies, WrongChoicesAreNamed) {
  const auto message_of = [](const std::string& policy) -> std::string {
    try {
      bench b("node:1 core:1", policy);
    } catch (const kith::error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(message_of("numa:backlog=-1"), HasSubstr("backlog=-1: expected a whole number from 0"));
  EXPECT_THAT(message_of("numa:steal=on"), HasSubstr("has no option 'steal'"));
  EXPECT_THAT(message_of("home-cache:vicinity=3x3"), HasSubstr("one of 2x2, 1x1, 1x2, 4x4, 8x8"));
  EXPECT_THAT(message_of("home-cache:columns=2"), HasSubstr("expected a number from 1 to 1"));
}

}  // namespace
