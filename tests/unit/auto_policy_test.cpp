// The policy `auto` in the plain world: where data goes, what counts as plain work, and when stealing pays.
#include "support/policy_bench.hpp"

#include "base/address.hpp"
#include "policy/steal.hpp"

#include <gmock/gmock.h>

namespace {

using kith::event;
using kith::node_id;
using kith::ready_reason;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

constexpr std::uint64_t page = 4096, megabyte = 1 << 20;

class auto_bench : public kith::test::policy_bench {
 public:
  explicit auto_bench(const char* machine, const std::string& policy = "auto") : policy_bench(machine, policy) {}

  /// Makes tasks of this type ready, each with so many untouched bytes. Returns how many went to each node.
  std::vector<int> deal(int tasks, std::uint64_t bytes, std::uint16_t type = 0) {
    std::vector<int> dealt(static_cast<std::size_t>(workers.nodes()));
    for (int i = 0; i < tasks; ++i) ++dealt[fresh(bytes, type).index()];
    return dealt;
  }
  node_id fresh(std::uint64_t bytes, std::uint16_t type = 0) {
    const auto r = region();
    kith::task& t = task({{r, bytes}});
    t.type = type;
    ready(t);
    return regions[r].home_node();
  }
  /// Queues so many tasks with a megabyte at node 0.
  void queue_at_0(int tasks) {
    for (int i = 0; i < tasks; ++i) ready(task({{region(0), megabyte}}));
  }
  /// Runs what the worker finds in so many nanoseconds.
  kith::task* run_next(int worker, std::uint64_t nanoseconds) {
    kith::task* t = next(worker);
    if (t != nullptr) chosen->observer()->ran(*t, *by[static_cast<std::size_t>(worker)], nanoseconds);
    return t;
  }
  /// Makes worker 0 run a task with a megabyte at node 0 in so many nanoseconds.
  void ran(std::uint64_t nanoseconds, std::uint16_t type = 0) {
    kith::task& t = task({{region(0), megabyte}});
    t.type = type;
    ready(t);
    EXPECT_EQ(run_next(0, nanoseconds), &t);
  }
};

TEST(auto_policy, is_steal_where_one_node_has_all_workers) {
  auto_bench one("node:1 core:3"), two("node:2 core:2");
  EXPECT_NE(dynamic_cast<kith::steal<kith::test::world>*>(one.chosen.get()), nullptr);
  EXPECT_FALSE(one.chosen->needs().homes || one.chosen->observer() != nullptr);
  EXPECT_EQ(dynamic_cast<kith::steal<kith::test::world>*>(two.chosen.get()), nullptr);
}

TEST(auto_policy, is_steal_until_data_comes) {
  auto_bench b("node:2 core:2");
  kith::test::policy_bench plain("node:2 core:2", "steal");
  for (kith::test::policy_bench* p : {static_cast<kith::test::policy_bench*>(&b), &plain}) {
    p->ready(p->task());
    const kith::poll_result first = p->chosen->next(*p->by[2]);  // one victim in each look
    EXPECT_EQ(first.what, kith::poll_result::retry);
    EXPECT_EQ(p->by[2]->sums[event::steal_attempt], 1u);
  }
  EXPECT_NE(b.next(2), nullptr);
  b.ready(b.task({{b.region(0), page}}));
  b.ready(b.task());
  EXPECT_EQ(b.chosen->next(*b.by[2]).what, kith::poll_result::found);  // takes from the first victim that has tasks
}

TEST(auto_policy, tasks_without_data_are_stolen_plainly) {
  auto_bench b("node:2 core:2");
  const auto word = b.region(1);
  kith::task &a = b.task(), &c = b.task({{word, 8}});  // less than a page has no home
  kith::task* both[] = {&a, &c};
  EXPECT_EQ(b.chosen->ready(both, *b.by[0], ready_reason::completion), &c);
  kith::task& far = b.task();
  b.ready(far, 2);
  EXPECT_EQ(b.next(1), &a);  // from the nearest victim
  EXPECT_EQ(b.next(1), &far);
  EXPECT_EQ(b.next(1), nullptr);
}

TEST(auto_policy, of_a_batch_one_plain_task_is_run_next_and_the_rest_is_queued) {
  auto_bench b("node:2 core:1");
  kith::task &data = b.task({{b.region(1), page}}), &first = b.task(), &second = b.task();
  kith::task* all[] = {&second, &first, &data};  // the last one created comes first, as successors do
  EXPECT_EQ(b.chosen->ready(all, *b.by[0], ready_reason::completion), &first);
  EXPECT_EQ(b.next(1), &data);
  EXPECT_EQ(b.next(0), &second);
}

TEST(auto_policy, a_successor_of_this_node_is_run_next_and_one_of_another_is_not) {
  auto_bench b("node:2 core:1");
  kith::task &far = b.task({{b.region(1), page}}), &near = b.task({{b.region(0), page}}),
             &more = b.task({{b.region(0), page}});
  kith::task* all[] = {&more, &near, &far};
  EXPECT_EQ(b.chosen->ready(all, *b.by[0], ready_reason::completion), &near);
  EXPECT_EQ(b.next(0), &more);
  EXPECT_EQ(b.ready(near, 0, ready_reason::creation), nullptr);
  EXPECT_EQ(b.next(0), &near);
  EXPECT_EQ(b.next(1), &far);
}

TEST(auto_policy, successors_wait_in_the_order_of_their_creation) {
  auto_bench b("node:2 core:1");
  std::vector<kith::task*> made, list;
  for (int i = 0; i < 5; ++i) made.push_back(&b.task({{b.region(1), page}}));
  list.assign(made.rbegin(), made.rend());
  EXPECT_EQ(b.chosen->ready(list, *b.by[0], ready_reason::completion), nullptr);
  for (kith::task* t : made) EXPECT_EQ(b.next(1), t);
}

TEST(auto_policy, what_is_written_counts_twice) {
  auto_bench b("node:2 core:1");
  const auto own = b.region(0), left = b.region(1);
  kith::task& t = b.task({{own, 2 * page}, {left, 3 * page}});
  std::byte* const second = t.access_bytes() + sizeof(kith::kept_access);
  kith::kept_access reads;
  std::memcpy(&reads, second, sizeof reads);
  reads.how = kith::mode::in;
  std::memcpy(second, &reads, sizeof reads);
  b.ready(t);
  EXPECT_EQ(b.next(1), nullptr);
  EXPECT_EQ(b.next(0), &t);
}

TEST(auto_policy, follows_the_bytes_that_have_homes) {
  auto_bench b("node:3 core:1");
  const auto at_0 = b.region(0), at_2 = b.region(2), nowhere = b.region();
  kith::task& t = b.task({{at_0, 2 * page}, {at_2, 3 * page}, {nowhere, page}});
  b.ready(t);
  EXPECT_EQ(b.next(0), nullptr);
  EXPECT_EQ(b.next(2), &t);
  EXPECT_EQ(b.regions[nowhere].home_node(), node_id(2));
}

TEST(auto_policy, deals_new_data_evenly_whatever_its_size) {
  auto_bench b("node:4 core:1");
  EXPECT_THAT(b.deal(40, page), Each(10));
  // A large block puts its node ahead, so the other nodes catch up first.
  const node_id large = b.fresh(100 * page);
  EXPECT_EQ(b.deal(60, page)[large.index()], 0);
}

TEST(auto_policy, deals_by_the_workers_of_a_node) {
  kith::machine on = kith::synthetic_machine("node:2 core:3");
  kith::region_table regions;
  const kith::team some(on, {node_id(0), node_id(0), node_id(0), node_id(1)});
  auto chosen = kith::make_policy<kith::test::world>("auto", {some, regions, 1});
  kith::plain::worker_view by(kith::worker_id(0), node_id(0));
  auto_bench tasks("node:2 core:1");
  int at_1 = 0;
  for (std::uintptr_t i = 1; i <= 80; ++i) {
    const std::uint32_t r = regions.find(kith::at_address(i), megabyte);
    kith::task* t = &tasks.task({{r, megabyte}});
    chosen->ready({&t, 1}, by, ready_reason::creation);
    at_1 += regions[r].home_node() == node_id(1);
  }
  EXPECT_NEAR(at_1, 20, 4);
  while (chosen->next(by).work != nullptr) {
  }
  kith::plain::worker_view there(kith::worker_id(3), node_id(1));
  while (chosen->next(there).work != nullptr) {
  }
}

TEST(auto_policy, blocks_with_the_same_number_of_two_arrays_meet) {
  auto_bench b("node:4 core:1");
  std::vector<node_id> first, second;
  for (int i = 0; i < 12; ++i) first.push_back(b.fresh(2 * page, 1));
  for (int i = 0; i < 12; ++i) second.push_back(b.fresh(page, 2));
  EXPECT_EQ(first, second);
}

TEST(auto_policy, no_column_of_blocks_is_on_one_node) {
  auto_bench b("node:4 core:1");
  std::vector<int> of_first_column(4);
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      const node_id n = b.fresh(page);
      if (column == 0) ++of_first_column[n.index()];
    }
  }
  EXPECT_THAT(of_first_column, ElementsAre(AllOf(Ge(6), Le(10)), 0, AllOf(Ge(6), Le(10)), 0));
}

TEST(auto_policy, equal_bytes_go_to_the_shorter_queue) {
  auto_bench b("node:3 core:1");
  b.ready(b.task({{b.region(0), page}}));
  b.ready(b.task({{b.region(2), page}}));
  b.ready(b.task({{b.region(2), page}}));
  kith::task& t = b.task({{b.region(2), page}, {b.region(0), page}});
  b.ready(t);
  b.next(0);
  EXPECT_EQ(b.next(0), &t);
}

// Local is 10, the other node is 20. Until it is measured, a byte takes 0.1 ns on its own node, and 0.1 ns
// more on the other.

TEST(auto_policy, robs_nobody_before_it_knows_what_that_costs) {
  auto_bench b("node:2 core:1 distance:20");
  b.queue_at_0(50);
  EXPECT_EQ(b.next(1), nullptr);
}

TEST(auto_policy, robs_who_computes) {
  auto_bench b("node:2 core:1 distance:20");
  b.ran(10'000'000);  // 10 ns a byte: only 1 % longer there
  b.queue_at_0(1);
  EXPECT_NE(b.next(1), nullptr);
  EXPECT_EQ(b.by[1]->sums[event::steal], 1u);
}

TEST(auto_policy, robs_who_waits_for_memory_only_of_a_long_queue) {
  auto_bench b("node:2 core:4 distance:20");
  b.ran(150'000);  // 0.14 ns a byte: 0.7 times as long again there; four workers are near: more than 3 * 0.7 * 4
  b.queue_at_0(8);
  EXPECT_EQ(b.next(4), nullptr);
  b.queue_at_0(1);
  EXPECT_NE(b.next(4), nullptr);
  EXPECT_EQ(b.next(4), nullptr);  // eight are left again
}

TEST(auto_policy, robs_nobody_whose_data_comes_back_as_slowly) {
  auto_bench b("node:2 core:1 distance:20");
  b.ran(100'000);  // only memory's time: twice as long there
  b.queue_at_0(1000);
  EXPECT_EQ(b.next(1), nullptr);
}

TEST(auto_policy, learns_from_its_thefts) {
  auto_bench b("node:2 core:1 distance:20");
  b.ran(1'000'000);
  b.queue_at_0(10);
  ASSERT_NE(b.run_next(1, 3'000'000), nullptr);  // three times as long, whatever was expected
  EXPECT_EQ(b.next(1), nullptr);
  EXPECT_NE(b.next(0), nullptr);
}

TEST(auto_policy, learns_of_caches_where_memory_is_as_far_for_all) {
  auto_bench b("node:2 core:1 distance:10");
  b.ran(100'000);
  b.queue_at_0(10);
  ASSERT_NE(b.run_next(1, 300'000), nullptr);
  EXPECT_EQ(b.next(1), nullptr);
}

TEST(auto_policy, a_theft_says_nothing_of_larger_distances) {
  auto_bench b("node:3 core:1 distance:10,12,400/12,10,400/400,400,10");
  b.ran(1'000'000);
  b.queue_at_0(100);
  ASSERT_EQ(b.next(2), nullptr);                 // the policy assumes four times as long
  ASSERT_NE(b.run_next(1, 1'000'000), nullptr);  // no longer at all, because it is so near
  EXPECT_EQ(b.next(2), nullptr);
  EXPECT_NE(b.next(1), nullptr);
}

TEST(auto_policy, the_task_that_would_be_taken_decides) {
  auto_bench b("node:2 core:1 distance:20");
  const auto queue = [&](std::uint16_t type) {
    kith::task& t = b.task({{b.region(0), megabyte}});
    t.type = type;
    b.ready(t);
    return &t;
  };
  b.ran(100'000, 1);     // only memory's time: not to be taken
  b.ran(10'000'000, 2);  // computes
  kith::task *memory = queue(1), *computes = queue(2);
  EXPECT_EQ(b.next(1), nullptr);
  EXPECT_EQ(b.next(0), memory);
  memory = queue(1);
  queue(2);
  EXPECT_EQ(b.next(1), computes);
  EXPECT_EQ(b.next(1), nullptr);
  EXPECT_EQ(b.next(0), memory);
}

TEST(auto_policy, near_nodes_are_robbed_where_far_ones_are_not) {
  auto_bench b("node:3 core:1 distance:10,12,40/12,10,40/40,40,10");
  b.ran(150'000);
  b.queue_at_0(5);
  EXPECT_EQ(b.next(2), nullptr);
  EXPECT_NE(b.next(1), nullptr);
}

TEST(auto_policy, a_task_that_others_were_run_on_top_of_is_not_timed) {
  auto_bench b("node:2 core:1 distance:20");
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
class listener final : public kith::plain::worker_view {
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

TEST(auto_policy, rings_for_thieves_when_it_has_learnt_that_a_theft_pays) {
  listening_bench b("node:3 core:1 distance:20");
  b.queue_at_0(50);
  EXPECT_THAT(b.rung_by(0), ElementsAre());  // the cost is not known
  ASSERT_NE(b.run_next(0, 10'000'000), nullptr);
  EXPECT_THAT(b.rung_by(0), ElementsAre(1, 2));  // neither sleeps
  b.ear(0).asleep = {1, 2};
  ASSERT_NE(b.run_next(0, 10'000'000), nullptr);
  EXPECT_THAT(b.rung_by(0), ElementsAre(1));  // one at a time
  b.ear(1).asleep = {2};
  ASSERT_NE(b.next(1), nullptr);
  EXPECT_THAT(b.rung_by(1), ElementsAre(2));  // a worker that has robbed rings for the next one
}

TEST(auto_policy, rings_for_nobody_whom_a_theft_does_not_pay) {
  listening_bench b("node:2 core:1 distance:20");
  b.queue_at_0(50);
  ASSERT_NE(b.run_next(0, 100'000), nullptr);  // only memory's time
  EXPECT_THAT(b.rung_by(0), ElementsAre());
}

TEST(auto_policy, rings_for_thieves_when_what_they_did_not_want_is_gone) {
  listening_bench b("node:2 core:1 distance:20");
  const auto queue = [&](std::uint16_t type) {
    kith::task& t = b.task({{b.region(0), megabyte}});
    t.type = type;
    b.ready(t);
    return &t;
  };
  b.ran(100'000, 1);     // only memory's time: not to be taken
  b.ran(10'000'000, 2);  // computes
  kith::task* const memory = queue(1);
  for (int i = 0; i < 5; ++i) queue(2);
  EXPECT_EQ(b.next(1), nullptr);
  ASSERT_EQ(b.next(0), memory);
  b.rung_by(0);
  kith::task* const computes = b.next(0);
  b.chosen->observer()->ran(*computes, *b.by[0], 10'000'000);
  EXPECT_THAT(b.rung_by(0), ElementsAre(1));
  EXPECT_NE(b.next(1), nullptr);
}

TEST(auto_policy, partitions_the_first_tasks_when_told) {
  auto_bench b("node:2 core:1", "auto:window=auto");
  std::vector<kith::task*> made;
  const auto left = b.region(), right = b.region();
  for (int i = 0; i < 16; ++i) {
    made.push_back(&b.task({{i % 2 == 0 ? left : right, megabyte}}));
    b.chosen->observer()->created(*made.back(), *b.by[0]);
    if (i >= 2) continue;
    EXPECT_EQ(b.ready(*made.back()), nullptr);
  }
  ASSERT_EQ(b.by[0]->jobs.size(), 1u);  // data was written three times on average
  b.by[0]->jobs.front()->run(*b.by[0]);
  EXPECT_NE(b.regions[left].home_node(), b.regions[right].home_node());
  EXPECT_EQ(b.by[0]->sums[event::task_partitioned], 2u);
  EXPECT_NE(b.next(0), nullptr);
  EXPECT_NE(b.next(1), nullptr);
}

TEST(auto_policy, wrong_options_are_named_on_any_machine) {
  for (const char* machine : {"node:1 core:1", "node:2 core:1"}) {
    try {
      auto_bench b(machine, "auto:window=3");
      FAIL() << machine;
    } catch (const kith::error& e) {
      EXPECT_THAT(e.what(), HasSubstr("window=3: expected one of off, auto"));
    }
  }
}

}  // namespace
