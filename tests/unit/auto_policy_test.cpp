// The policy `auto` in the sequential world: where data goes, and what counts as work without data.
#include "support/auto_bench.hpp"

#include "base/address.hpp"
#include "policy/auto/automatic.hpp"
#include "policy/steal.hpp"

#include <gmock/gmock.h>

#include <set>
#include <vector>

namespace {

using kith::event;
using kith::node_id;
using kith::ready_reason;
using kith::test::auto_bench;
using kith::test::megabyte;
using kith::test::page;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(auto_policy, is_steal_where_one_node_has_all_workers) {
  auto_bench one("node:1 core:3"), two("node:2 core:2");
  EXPECT_NE(dynamic_cast<kith::steal<kith::test::world>*>(one.chosen.get()), nullptr);
  EXPECT_FALSE(one.chosen->needs().homes || one.chosen->observer() != nullptr);
  EXPECT_EQ(dynamic_cast<kith::steal<kith::test::world>*>(two.chosen.get()), nullptr);
}

TEST(auto_policy, is_steal_until_data_comes) {
  auto_bench b("node:2 core:2");
  kith::test::policy_bench of_steal("node:2 core:2", "steal");
  for (kith::test::policy_bench* p : {static_cast<kith::test::policy_bench*>(&b), &of_steal}) {
    p->ready(p->task());
    EXPECT_NE(p->next(2), nullptr);
    EXPECT_EQ(p->by[2]->sums[event::steal], 1u);
    EXPECT_EQ(p->chosen->next(*p->by[2]).kind, kith::poll_result::empty);
  }
  b.ready(b.task({{b.region(0), page}}));
  b.ready(b.task());
  EXPECT_EQ(b.chosen->next(*b.by[2]).kind, kith::poll_result::found);  // takes from the first victim that has tasks
}

TEST(auto_policy, tasks_without_data_are_stolen_as_by_steal) {
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

TEST(auto_policy, of_a_batch_one_task_without_data_is_run_next_and_the_rest_is_queued) {
  auto_bench b("node:2 core:1");
  kith::task &data = b.task({{b.region(1), page}}), &first = b.task(), &second = b.task();
  kith::task* all[] = {&second, &first, &data};  // the last one created comes first, as successors do
  EXPECT_EQ(b.chosen->ready(all, *b.by[0], ready_reason::completion), &first);
  EXPECT_EQ(b.next(1), &data);
  EXPECT_EQ(b.next(0), &second);
}

TEST(auto_policy, a_worker_that_finds_both_runs_as_many_tasks_without_data_as_with) {
  auto_bench b("node:2 core:2");
  std::set<const kith::task*> with;
  for (int i = 0; i < 8; ++i) {
    kith::task& data = b.task({{b.region(0), page}});
    with.insert(&data);
    b.ready(data);
    b.ready(b.task());
  }
  const auto four_of = [&](int worker) {
    std::vector<bool> use_data;
    for (int i = 0; i < 4; ++i) use_data.push_back(with.contains(b.next(worker)));
    return use_data;
  };
  EXPECT_THAT(four_of(0), ElementsAre(false, true, false, true));  // its own come first
  EXPECT_THAT(four_of(1), ElementsAre(true, false, false, true));  // three of worker 0's come with the first
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

TEST(auto_policy, what_is_read_and_written_counts_twice) {
  auto_bench b("node:2 core:1");
  const auto own = b.region(0), table = b.region(1);
  for (const kith::mode how : {kith::mode::in, kith::mode::out}) {
    kith::task &stays = b.task({{own, 2 * page}, {table, 3 * page, how}}),
               &goes = b.task({{own, 2 * page}, {table, 5 * page, how}});
    b.ready(stays);
    EXPECT_EQ(b.next(1), nullptr);
    EXPECT_EQ(b.next(0), &stays);
    b.ready(goes);
    EXPECT_EQ(b.next(1), &goes);
  }
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

TEST(auto_policy, a_successor_with_equal_bytes_here_and_elsewhere_is_run_next) {
  auto_bench b("node:3 core:1");
  b.ready(b.task({{b.region(1), page}}), 0);  // so that the other queue is the shorter one
  kith::task& t = b.task({{b.region(2), page, kith::mode::in}, {b.region(1), page, kith::mode::out}});
  EXPECT_EQ(b.ready(t, 1, ready_reason::completion), &t);
}

TEST(auto_policy, a_worker_leaves_what_it_wrote_for_a_larger_input_at_a_node_without_workers) {
  // Nodes 1 and 3 have no cores. Node 2 serves node 3.
  auto_bench b("pack:2 [numa] [numa] core:2 distance:10,11,30,31/11,10,31,30/30,31,10,11/31,30,11,10");
  ASSERT_EQ(b.workers.served_by(node_id(3)), node_id(2));
  for (int i = 0; i < 12; ++i) {  // no input is read twice, so none is a table
    b.ready(b.task({{b.region(2), 8 * page, kith::mode::in}, {b.region(2), 6 * page}}));
    EXPECT_NE(b.next(2), nullptr);
  }
  const auto own = b.region(2);
  b.wrote(own, 0);
  kith::task& t = b.task({{b.region(3), 8 * page, kith::mode::in}, {own, page}});
  EXPECT_EQ(b.ready(t, 0, ready_reason::completion), nullptr);
  EXPECT_EQ(b.next(2), &t);
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
