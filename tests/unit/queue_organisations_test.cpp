// The queues of hardware scheduling, deques or one for all, under each policy that has both: which task leaves next.
#include "base/rng.hpp"
#include "support/policy_bench.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using kith::mode;
using bench = kith::test::policy_bench;

constexpr const char* four_cores = "node:4 core:1";

// Section 5.2.1: the difference between the two organisations.
TEST(affinity_queues, only_the_ends_of_a_deque_can_be_taken) {
  for (const bool global : {false, true}) {
    bench b(four_cores, global ? "reference:organisation=global" : "reference:cap=1000000");
    const std::uint32_t x = b.region(), y = b.region();
    b.ready(b.task({{x, 1000, mode::in}}, -1, 0));
    EXPECT_NE(b.next(1), nullptr);
    // Core 0 has used `y` so recently that all three are in its queue.
    b.ready(b.task({{y, 1'000'000, mode::in}}, -1, 0));
    EXPECT_NE(b.next(0), nullptr);
    kith::task& first = b.task({{y, 1'000'000, mode::in}});
    kith::task& middle = b.task({{y, 1'000'000, mode::in}, {x, 1000, mode::in}});
    kith::task& last = b.task({{y, 1'000'000, mode::in}});
    for (kith::task* t : {&first, &middle, &last}) b.ready(*t);
    kith::task* const got = b.next(1);
    if (global) {
      EXPECT_EQ(got, &middle);
    } else {
      EXPECT_TRUE(got == &first || got == &last);
    }
  }
}

TEST(affinity_queues, a_queue_that_is_too_long_passes_tasks_on) {
  bench b(four_cores, "token:cap=100");
  const std::uint32_t x = b.region();
  b.wrote(x, 2);
  std::vector<kith::task*> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(&b.task({{x, 8, mode::in}}, -1, 2));
    b.ready(*all.back());
  }
  // The other end of its own queue, and not one of another: each of the four queues has ten.
  for (int i = 0; i < 10; ++i) {
    for (int core = 0; core < 4; ++core) EXPECT_NE(b.next(core), nullptr);
  }
  EXPECT_EQ(b.next(2), nullptr);
}

TEST(affinity_queues, priorities_come_before_affinity) {
  for (const char* how : {"token", "token:organisation=global", "reference", "reference:organisation=global"}) {
    bench b(four_cores, how);
    const std::uint32_t x = b.region();
    b.wrote(x, 1);
    kith::task& mine = b.task({{x, 8, mode::in}});
    kith::task& urgent = b.task({{b.region(), 8, mode::in}}, -1, 3);
    urgent.priority = 1;
    b.ready(mine);
    b.ready(urgent);
    EXPECT_EQ(b.next(1), &urgent) << how;
    EXPECT_EQ(b.next(1), &mine) << how;
  }
}

/// So many tasks, queued in their order, all created on worker 0.
std::vector<kith::task*> queue_tasks(bench& b, int count) {
  std::vector<kith::task*> all;
  for (int i = 0; i < count; ++i) all.push_back(&b.task());
  for (kith::task* t : all) b.ready(*t);
  return all;
}

/// The numbers of the tasks in the order in which the cores get them, asking in turn.
std::vector<int> order_left(bench& b, const std::vector<kith::task*>& all, std::vector<int> asking) {
  std::vector<int> numbers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = std::ranges::find(all, b.next(asking[i % asking.size()]));
    if (at == all.end()) break;
    numbers.push_back(static_cast<int>(at - all.begin()));
  }
  return numbers;
}

// One core alone empties a queue of each core: the oldest of its own, then the oldest end of all.
TEST(fifo, deques_give_their_oldest_task) {
  bench b(four_cores, "fifo:organisation=deques");
  const std::vector<kith::task*> all = queue_tasks(b, 40);
  const std::vector<int> of_one = order_left(b, all, {2});
  ASSERT_EQ(of_one.size(), all.size());
  // Its own queue first, a quarter of the tasks or a third more, in order; the rest in the order of all.
  const auto first_of_others = std::ranges::is_sorted_until(of_one);
  const auto own = first_of_others - of_one.begin();
  EXPECT_GE(own, 7);
  EXPECT_LE(own, 13);
  EXPECT_TRUE(std::is_sorted(first_of_others, of_one.end()));
}

TEST(fifo, the_global_queue_keeps_ready_order) {
  for (const char* how : {"fifo", "fifo:organisation=global"}) {
    bench b(four_cores, how);
    const std::vector<int> left = order_left(b, queue_tasks(b, 40), {3, 0, 2});
    EXPECT_EQ(left.size(), 40u) << how;
    EXPECT_TRUE(std::ranges::is_sorted(left)) << how;
  }
}

TEST(random, deques_give_either_end_and_all_queues_are_filled) {
  bench b(four_cores, "random:organisation=deques");
  const std::vector<int> left = order_left(b, queue_tasks(b, 400), {0, 1, 2, 3});
  ASSERT_EQ(left.size(), 400u);
  std::vector<int> sorted = left;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());  // each left once
  // A task leaves from the old end or from the new one: both kinds are among the first.
  const std::vector<int> first(left.begin(), left.begin() + 40);
  EXPECT_GT(std::ranges::count_if(first, [](int n) { return n < 100; }), 5);
  EXPECT_GT(std::ranges::count_if(first, [](int n) { return n >= 300; }), 5);
  EXPECT_EQ(std::ranges::count_if(first, [](int n) { return n >= 150 && n < 250; }), 0);  // never from the middle
}

TEST(source, prefers_its_own_tasks_in_one_queue_too) {
  bench b(four_cores, "source:organisation=global");
  kith::task& of_one = b.task({}, -1, 1);
  kith::task& of_two = b.task({}, -1, 2);
  kith::task& later_of_one = b.task({}, -1, 1);
  for (kith::task* t : {&of_two, &of_one, &later_of_one}) b.ready(*t);
  EXPECT_EQ(b.next(1), &of_one);        // not the oldest, which is another's
  EXPECT_EQ(b.next(3), &of_two);        // none of its own: the oldest of all
  EXPECT_EQ(b.next(3), &later_of_one);  // an affinity only guides
  EXPECT_EQ(b.next(3), nullptr);
}

TEST(affinity_queues, no_request_fails_while_a_task_is_ready) {
  for (const char* name : {"fifo", "random", "source", "token", "reference"}) {
    for (const char* organisation : {"deques", "global"}) {
      const std::string how = std::string(name) + ":organisation=" + organisation +
                              (std::string_view(name) == "reference" ? ",grouped=on" : "");
      bench b(four_cores, how);
      std::vector<std::uint32_t> regions;
      for (std::int16_t core = 0; core < 4; ++core) {
        regions.push_back(b.region());
        b.wrote(regions.back(), core);
      }
      kith::rng random(7, kith::purpose::test, 0);
      std::size_t ready = 0;
      for (int step = 0; step < 2000; ++step) {
        const int worker = static_cast<int>(random.below(4));
        if (random.below(2) == 0) {
          b.ready(b.task({{regions[random.below(4)], 1000, mode::in}}, -1, static_cast<std::uint16_t>(random.below(4))),
                  worker);
          ++ready;
        } else if (b.next(worker) != nullptr) {
          ASSERT_GT(ready, 0u) << how;
          --ready;
        } else {
          ASSERT_EQ(ready, 0u) << how << " in step " << step;
        }
      }
    }
  }
}

}  // namespace
