// The policy `auto` in the sequential world: when a node is robbed, and which workers are rung for.
#include "support/auto_bench.hpp"

#include <gmock/gmock.h>

namespace {

using kith::event;
using kith::node_id;
using kith::ready_reason;
using kith::test::auto_bench;
using kith::test::megabyte;
using kith::test::page;
using testing::ElementsAre;

// Local is 10, the other node is 20. Until it is measured, a byte takes 0.1 ns on its own node, and 0.1 ns
// more on the other.

TEST(auto_theft, robs_nobody_before_it_knows_what_that_costs) {
  auto_bench b("node:2 core:1 distance:20");
  b.queue_at_0(50);
  EXPECT_EQ(b.next(1), nullptr);
}

TEST(auto_theft, robs_who_computes) {
  auto_bench b("node:2 core:1 distance:20");
  b.ran(10'000'000);  // 10 ns a byte: only 1 % longer there
  b.queue_at_0(1);
  EXPECT_NE(b.next(1), nullptr);
  EXPECT_EQ(b.by[1]->sums[event::steal], 1u);
}

TEST(auto_theft, robs_who_waits_for_memory_after_it_has_waited_for_as_long) {
  auto_bench b("node:2 core:4 distance:20");
  b.how = kith::mode::in;
  b.ran(150'000);  // 0.14 ns a byte: 0.7 times as long again there. Four workers are near, and every second theft is
                   // assumed to be of use: 0.7 * 4 * 2 of their tasks
  b.queue_at_0(11);
  for (int begun = 1; begun < 5; ++begun) {
    EXPECT_EQ(b.next(4), nullptr);
    EXPECT_NE(b.next(0), nullptr);  // the fifth at last; the sixth would be too late
  }
  for (int left = 7; left > 2; --left) EXPECT_NE(b.next(4), nullptr) << left;
  EXPECT_EQ(b.next(4), nullptr);  // the last two are begun there sooner
}

/// As above, but the tasks change their data, which has to come back: they wait for twice as long.
TEST(auto_theft, waits_for_longer_if_the_data_has_to_come_back) {
  auto_bench b("node:2 core:4 distance:20");
  b.ran(150'000);
  b.queue_at_0(20);
  int begun = 0;
  for (; b.next(4) == nullptr; ++begun) ASSERT_NE(b.next(0), nullptr);
  EXPECT_EQ(begun, 10);  // the eleventh at last
  for (int left = 9; left > 2; --left) EXPECT_NE(b.next(4), nullptr) << left;
  EXPECT_EQ(b.next(4), nullptr);  // when these are begun does not depend on it
}

TEST(auto_theft, waits_anew_after_tasks_of_its_own) {
  auto_bench b("node:2 core:1 distance:40");
  b.how = kith::mode::in;
  b.ran(100'000);  // only memory's time: four times as long there, and every second theft is assumed to be of use
  b.queue_at_0(20);
  for (int begun = 1; begun < 3; ++begun) {
    EXPECT_EQ(b.next(1), nullptr);
    EXPECT_NE(b.next(0), nullptr);
  }
  kith::task& own = b.task({{b.region(1), page}});
  b.ready(own);
  EXPECT_EQ(b.next(1), &own);
  for (int begun = 0; begun < 6; ++begun) {
    EXPECT_EQ(b.next(1), nullptr);
    EXPECT_NE(b.next(0), nullptr);
  }
  EXPECT_NE(b.next(1), nullptr);
}

/// Looks for a task of node 0 while node 1, whose first worker is `thief`, gets one task after another, which its
/// second worker takes. The number of tasks that node 0 has begun meanwhile; `most` if it was not robbed.
int begun_while_fed(auto_bench& b, int thief, int most) {
  EXPECT_EQ(b.next(thief), nullptr);
  for (int begun = 0; begun < most; ++begun) {
    kith::task& own = b.task({{b.region(1), page}});
    b.ready(own);
    EXPECT_EQ(b.next(thief + 1), &own);
    if (b.next(thief) != nullptr) return begun;
    EXPECT_NE(b.next(0), nullptr);
  }
  return most;
}

TEST(auto_theft, a_worker_that_finds_nothing_waits_on_while_its_node_gets_a_few_tasks) {
  auto_bench b("node:2 core:4 distance:20");
  b.ran(10'000'000);  // 1 % longer there: half a task of each of the four workers
  b.queue_at_0(8);
  EXPECT_EQ(begun_while_fed(b, 4, 8), 2);
  EXPECT_EQ(begun_while_fed(b, 4, 8), 1);  // it waits anew, but for less: the theft was of use
}

TEST(auto_theft, a_worker_waits_from_when_it_sees_that_tasks_wait) {
  auto_bench b("node:2 core:4 distance:20");
  b.ran(10'000'000);              // as above
  EXPECT_EQ(b.next(4), nullptr);  // no task waits anywhere
  b.queue_at_0(3);
  for (int i = 0; i < 3; ++i) EXPECT_NE(b.next(0), nullptr);
  kith::task& own = b.task({{b.region(1), page}});
  b.ready(own);
  EXPECT_EQ(b.next(5), &own);
  b.queue_at_0(8);
  EXPECT_EQ(begun_while_fed(b, 4, 8), 2);
}

TEST(auto_theft, robs_nobody_of_what_would_take_twice_as_long_while_its_node_gets_tasks) {
  auto_bench b("node:2 core:4 distance:40");
  b.how = kith::mode::in;
  b.ran(100'000);  // only memory's time: three times longer there
  b.queue_at_0(90);
  EXPECT_EQ(begun_while_fed(b, 4, 60), 60);
}

/// The number of tasks that the workers of node 0 begin before a worker of node 1, which has just run a task of its
/// own, robs it.
int waits(auto_bench& b, int thief, int queued) {
  kith::task& own = b.task({{b.region(1), page}});
  b.ready(own);
  while (b.next(0) != nullptr) {
  }
  EXPECT_EQ(b.next(thief), &own);
  b.queue_at_0(queued);
  int begun = 0;
  for (; b.next(thief) == nullptr; ++begun) {
    if (b.next(0) == nullptr) return queued;
  }
  return begun;
}

TEST(auto_theft, the_least_wait_shrinks_where_thefts_are_of_use) {
  auto_bench b("node:2 core:4 distance:20");
  b.ran(10'000'000);             // 1 % longer there
  EXPECT_EQ(waits(b, 4, 8), 2);  // half a task of each worker
  for (int theft = 0; theft < 5; ++theft) EXPECT_NE(b.next(4), nullptr) << theft;
  EXPECT_EQ(waits(b, 4, 4), 1);  // a quarter
}

TEST(auto_theft, a_node_with_more_workers_than_its_victim_waits_for_less) {
  auto_bench equal("node:2 core:2 distance:20"), larger("node:2 core:4 distance:20", "auto", 2);
  for (auto_bench* b : {&equal, &larger}) {
    b->how = kith::mode::in;
    b->ran(150'000);  // 0.7 times as long again there: a wait of 0.7 * 2 * 2 tasks of its two workers
  }
  EXPECT_EQ(waits(equal, 2, 5), 2);
  EXPECT_EQ(waits(larger, 2, 5), 1);  // four workers wait: for half of that
}

TEST(auto_theft, waits_longer_where_thieves_were_missed) {
  auto_bench b("node:2 core:1 distance:20");
  b.how = kith::mode::in;
  b.ran(150'000);  // 0.14 ns a byte: 0.7 times as long again there
  // Each time, the thief comes back to a task of its own. The share of useless thefts grows from a half to two thirds.
  for (int theft = 0; theft < 3; ++theft) EXPECT_EQ(waits(b, 1, 5), 1) << theft;
  EXPECT_EQ(waits(b, 1, 5), 2);
}

TEST(auto_theft, waits_for_no_queue_that_is_four_times_as_long_as_the_wait) {
  auto_bench b("node:2 core:4 distance:20");
  b.how = kith::mode::in;
  b.ran(150'000);  // as above: a wait of 0.7 * 4 * 2 = 5.6 tasks
  b.queue_at_0(22);
  EXPECT_EQ(b.next(4), nullptr);
  b.queue_at_0(1);
  EXPECT_NE(b.next(4), nullptr);
}

TEST(auto_theft, goes_on_with_a_task_of_such_a_queue_unless_others_wait_at_its_own_node) {
  auto_bench b("node:2 core:2 distance:20");
  b.ran(150'000);  // 0.7 times as long again there, and the data has to come back: a wait of 0.7 * 2 * 2 * 2 tasks
  const auto stays = [&](int worker) {
    kith::task& t = b.task({{b.region(0), megabyte}});
    return b.ready(t, worker, ready_reason::completion) == &t;
  };
  b.queue_at_0(22);
  EXPECT_FALSE(stays(2));
  EXPECT_TRUE(stays(2));
  b.ready(b.task({{b.region(1), page}}));
  EXPECT_FALSE(stays(2));
}

/// Tasks wait at node 0, and a worker of node 1 looks at them. A theft costs six times their time.
class far_thief : public auto_bench {
 public:
  explicit far_thief(int tasks) : auto_bench("node:2 core:2 distance:60") {
    ran(100'000);  // only memory's time
    ready(task({{region(1), page}}));
    EXPECT_NE(next(2), nullptr);
    queue_at_0(tasks);
  }
  kith::poll_result look() { return chosen->next(*by[2]); }
  int looks_in_vain() {
    int count = 0;
    while (look().kind == kith::poll_result::watch && ++count < 10'000) {
    }
    return count;
  }
};

TEST(auto_theft, robs_a_node_whose_workers_begin_nothing) {
  far_thief b(2);
  const int in_vain = b.looks_in_vain();
  EXPECT_GT(in_vain, 100);
  EXPECT_LT(in_vain, 10'000);
  EXPECT_EQ(b.look().kind, kith::poll_result::found);  // the other at once
  EXPECT_EQ(b.look().kind, kith::poll_result::empty);
}

// Each of its workers has begun a task since the others wait, and none begins another one.
TEST(auto_theft, robs_a_node_that_stands_still_after_some_tasks) {
  far_thief b(4);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(b.look().kind, kith::poll_result::watch);
  for (const int worker : {0, 1}) {
    EXPECT_NE(b.next(worker), nullptr);
    for (int i = 0; i < 200; ++i) EXPECT_EQ(b.look().kind, kith::poll_result::watch);
  }
  EXPECT_LT(b.looks_in_vain(), 100);
  EXPECT_EQ(b.look().kind, kith::poll_result::found);
}

TEST(auto_theft, goes_on_with_a_task_that_writes_what_the_worker_wrote_last) {
  auto_bench b("node:2 core:1 distance:20");
  const auto mine = b.region(0), other = b.region(0);
  b.regions[mine].writer = 1;
  b.regions[other].writer = 0;
  const auto successor = [&](std::vector<kith::test::policy_bench::use> data) {
    kith::task& t = b.task(data);
    return b.ready(t, 1, ready_reason::completion) == &t;
  };
  EXPECT_TRUE(successor({{mine, megabyte}}));
  EXPECT_TRUE(successor({{mine, megabyte}, {other, megabyte, kith::mode::in}}));
  EXPECT_FALSE(successor({{mine, megabyte}, {other, megabyte}}));
  EXPECT_FALSE(successor({{mine, megabyte, kith::mode::in}}));
  EXPECT_EQ(b.chosen->needs().writers, true);
  while (b.next(0) != nullptr) {
  }
}

TEST(auto_theft, brings_successors_back_to_their_machine) {
  auto_bench b("node:2 core:1 distance:1000");
  const auto r = b.region(0);
  b.regions[r].writer = 1;
  EXPECT_EQ(b.ready(b.task({{r, megabyte}}), 1, ready_reason::completion), nullptr);
  EXPECT_NE(b.next(0), nullptr);
}

TEST(auto_theft, learns_from_its_thefts) {
  auto_bench b("node:2 core:1 distance:20");
  b.ran(1'000'000);
  b.queue_at_0(10);
  ASSERT_NE(b.run_next(1, 3'000'000), nullptr);  // three times as long, whatever was expected
  EXPECT_EQ(b.next(1), nullptr);
  EXPECT_NE(b.next(0), nullptr);
}

TEST(auto_theft, learns_of_caches_where_memory_is_as_far_for_all) {
  auto_bench b("node:2 core:1 distance:10");
  b.ran(100'000);
  b.queue_at_0(10);
  ASSERT_NE(b.run_next(1, 300'000), nullptr);
  EXPECT_EQ(b.next(1), nullptr);
}

TEST(auto_theft, a_theft_says_nothing_of_larger_distances) {
  auto_bench b("node:3 core:1 distance:10,12,400/12,10,400/400,400,10");
  b.ran(200'000);
  b.queue_at_0(30);
  ASSERT_EQ(b.next(2), nullptr);               // the policy assumes 20 times as long
  ASSERT_NE(b.run_next(1, 200'000), nullptr);  // no longer at all, because it is so near
  EXPECT_EQ(b.next(2), nullptr);
  EXPECT_NE(b.next(1), nullptr);
}

TEST(auto_theft, the_task_that_would_be_taken_decides) {
  auto_bench b("node:2 core:1 distance:60");
  b.ran(10'000'000, 2);  // computes
  // Only memory's time: six times as long there, too long for so few tasks.
  for (int i = 0; i < 60; ++i) b.ran(100'000, 1);
  kith::task *memory = b.queue(1), *computes = b.queue(2);
  EXPECT_EQ(b.next(1), nullptr);
  EXPECT_EQ(b.next(0), memory);
  memory = b.queue(1);
  b.queue(2);
  EXPECT_EQ(b.next(1), computes);
  EXPECT_EQ(b.next(1), nullptr);
  EXPECT_EQ(b.next(0), memory);
}

TEST(auto_theft, a_short_task_among_long_ones_costs_little_to_move) {
  for (const bool long_ones : {false, true}) {
    auto_bench b("node:2 core:1 distance:60");
    b.ran(100'000, 1);  // only memory's time: six times as long there
    for (int i = 0; long_ones && i < 20; ++i) b.ran(10'000'000, 2);
    b.queue(1);
    EXPECT_EQ(b.next(1) != nullptr, long_ones);  // it would wait for a worker longer than it loses
  }
}

TEST(auto_theft, near_nodes_are_robbed_where_far_ones_are_not) {
  auto_bench b("node:3 core:1 distance:10,12,40/12,10,40/40,40,10");
  b.ran(150'000);
  b.queue_at_0(5);
  EXPECT_EQ(b.next(2), nullptr);
  EXPECT_NE(b.next(1), nullptr);
}

TEST(auto_theft, a_task_that_others_were_run_on_top_of_is_not_timed) {
  auto_bench b("node:2 core:1 distance:60");
  kith::task &outer = b.task({{b.region(0), megabyte}}), &inner = b.task({{b.region(0), megabyte}});
  b.ready(outer);
  ASSERT_EQ(b.next(0), &outer);
  b.ready(inner);
  ASSERT_EQ(b.next(0), &inner);
  b.chosen->observer()->ran(outer, *b.by[0], 10'000'000);
  b.queue_at_0(50);
  EXPECT_EQ(b.next(1), nullptr);  // the cost of robbing is not known
  b.chosen->observer()->ran(inner, *b.by[0], 10'000'000);
  EXPECT_NE(b.next(1), nullptr);
}

/// A worker that notes the nodes whose workers it rings for.
class listener final : public kith::sequential::worker_view {
 public:
  listener(const kith::test::policy_bench& b, int self)
      : worker_view(kith::worker_id(self), b.workers.node_of(kith::worker_id(self))), workers_(b.workers) {}
  bool ring(const kith::worker_set& audience) override {
    for (int n = 0; n < workers_.nodes(); ++n) {
      if (audience.contains(workers_.workers_at(node_id(n)).front())) rung.push_back(n);
    }
    return !asleep.empty() && std::ranges::find(asleep, rung.back()) != asleep.end();
  }
  std::vector<int> rung, asleep;

 private:
  const kith::team& workers_;
};

class listening_bench : public auto_bench {
 public:
  explicit listening_bench(const char* machine) : auto_bench(machine) {
    for (std::size_t w = 0; w < by.size(); ++w) by[w] = std::make_unique<listener>(*this, static_cast<int>(w));
  }
  listener& ear(int worker) { return static_cast<listener&>(*by[static_cast<std::size_t>(worker)]); }
  /// The nodes, other than its own, that the worker has rung for since the last call.
  std::vector<int> rung_by(int worker) {
    std::vector<int> far = std::exchange(ear(worker).rung, {});
    std::erase(far, ear(worker).node.value);
    return far;
  }
};

TEST(auto_theft, rings_for_thieves_when_it_has_learnt_that_a_theft_pays) {
  listening_bench b("node:3 core:1 distance:20");
  b.queue_at_0(1);
  EXPECT_EQ(b.next(1), nullptr);  // worker 1 watches
  b.rung_by(0);
  b.queue_at_0(49);
  EXPECT_THAT(b.rung_by(0), ElementsAre());  // the cost is not known
  ASSERT_NE(b.run_next(0, 10'000'000), nullptr);
  EXPECT_THAT(b.rung_by(0), ElementsAre(1, 2));  // now it is known; neither sleeps
  b.ear(0).asleep = {1, 2};
  ASSERT_NE(b.run_next(0, 10'000'000), nullptr);
  EXPECT_THAT(b.rung_by(0), ElementsAre(1, 1));  // one when it begins a task, and one when it has run it
  b.ear(1).asleep = {2};
  ASSERT_NE(b.next(1), nullptr);
  EXPECT_THAT(b.rung_by(1), ElementsAre(2, 2));  // a worker that has robbed rings for a thief, and for one to watch
}

TEST(auto_theft, lets_one_worker_watch_while_tasks_wait_at_another_node) {
  listening_bench b("node:3 core:1 distance:60");
  b.ear(0).asleep = b.ear(1).asleep = {2};
  b.queue_at_0(1);
  EXPECT_THAT(b.rung_by(0), ElementsAre(1, 2));  // nobody watches: the nearest that sleeps
  const auto look = [&] { return b.chosen->next(*b.by[1]); };
  EXPECT_EQ(look().kind, kith::poll_result::watch);
  b.queue_at_0(9);
  EXPECT_THAT(b.rung_by(0), ElementsAre());
  b.ready(b.task({{b.region(1), megabyte}}), 1);
  b.rung_by(1);
  EXPECT_EQ(look().kind, kith::poll_result::found);  // its own
  EXPECT_THAT(b.rung_by(1), ElementsAre(2));         // who is to watch now
  b.queue_at_0(1);
  EXPECT_THAT(b.rung_by(0), ElementsAre(1, 2));
  EXPECT_EQ(look().kind, kith::poll_result::watch);
  b.chosen->observer()->idle(*b.by[1]);
  EXPECT_THAT(b.rung_by(1), ElementsAre(2));
}

TEST(auto_theft, rings_for_nobody_whom_a_theft_does_not_pay) {
  listening_bench b("node:2 core:1 distance:60");
  b.queue_at_0(50);
  EXPECT_EQ(b.next(1), nullptr);  // worker 1 watches
  b.rung_by(0);
  ASSERT_NE(b.run_next(0, 100'000), nullptr);  // only memory's time: who robs must have waited for five tasks
  EXPECT_THAT(b.rung_by(0), ElementsAre());
}

TEST(auto_theft, rings_for_thieves_when_what_they_did_not_want_is_gone) {
  listening_bench b("node:2 core:1 distance:60");
  b.ran(10'000'000, 2);                            // computes
  for (int i = 0; i < 60; ++i) b.ran(100'000, 1);  // only memory's time: six times as long there
  kith::task* const memory = b.queue(1);
  for (int i = 0; i < 3; ++i) b.queue(2);
  EXPECT_EQ(b.next(1), nullptr);
  ASSERT_EQ(b.next(0), memory);
  b.rung_by(0);
  kith::task* const computes = b.next(0);
  EXPECT_THAT(b.rung_by(0), ElementsAre(1));
  b.chosen->observer()->ran(*computes, *b.by[0], 10'000'000);
  EXPECT_THAT(b.rung_by(0), ElementsAre(1));
  EXPECT_NE(b.next(1), nullptr);
}

}  // namespace
