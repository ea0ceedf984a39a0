// The policy `auto` in the sequential world: where data goes, and what counts as work without data.
#include "support/auto_bench.hpp"

#include "base/address.hpp"
#include "policy/auto/automatic.hpp"
#include "policy/steal.hpp"

#include <gmock/gmock.h>

#include <new>
#include <set>
#include <vector>

namespace {

using kith::event;
using kith::node_id;
using kith::ready_reason;
using kith::test::auto_bench;
using kith::test::megabyte;
using kith::test::page;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

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

// A producer's state would move with every block if the blocks were dealt in turn.
TEST(auto_policy, blocks_of_a_producer_are_dealt_in_runs) {
  auto_bench b("node:2 core:1");
  const auto state = b.region(0);
  std::vector<int> homes;
  for (int i = 0; i < 100; ++i) {
    const auto block = b.region();
    b.ready(b.task({{state, page}, {block, 3 * page, kith::mode::out}}));
    homes.push_back(b.regions[block].home_node().value);
  }
  int changes = 0;
  for (std::size_t i = 1; i < homes.size(); ++i) changes += homes[i] != homes[i - 1];
  EXPECT_LT(changes, 40);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(homes, 0)), 50, 10);
}

class initial_bench : public auto_bench {
 public:
  explicit initial_bench(const char* machine) : auto_bench(machine) {}
  /// Creates tasks of this type, each of which initialises a block.
  void create(int tasks, std::uint16_t type = 0) {
    for (int i = 0; i < tasks; ++i) {
      blocks.push_back(region());
      kith::task& t = task({{blocks.back(), page, kith::mode::out}});
      t.type = type;
      chosen->observer()->created(t, *by[0]);
      ready(t);
    }
  }
  std::vector<int> homes() const {
    std::vector<int> all;
    for (const std::uint32_t r : blocks) all.push_back(regions[r].home_node().value);
    return all;
  }
  std::vector<std::uint32_t> blocks;
};

TEST(auto_policy, initial_blocks_are_dealt_in_runs_when_their_creator_waits) {
  initial_bench b("node:2 core:2");
  b.create(16);
  EXPECT_THAT(b.homes(), Each(-1));
  b.chosen->waiting(*b.by[0]);
  EXPECT_THAT(b.homes(), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_NE(b.next(0), nullptr);
  EXPECT_NE(b.next(2), nullptr);
}

TEST(auto_policy, initial_blocks_are_dealt_when_one_is_used) {
  initial_bench b("node:2 core:1");
  b.create(8);
  b.chosen->observer()->created(b.task(), *b.by[0]);  // uses no data
  EXPECT_THAT(b.homes(), Each(-1));
  b.chosen->observer()->created(b.task({{b.blocks[3], page, kith::mode::in}}), *b.by[0]);
  EXPECT_THAT(b.homes(), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
}

TEST(auto_policy, initial_blocks_are_dealt_when_no_more_seem_to_come) {
  initial_bench b("node:2 core:1");
  b.create(4);
  EXPECT_EQ(b.chosen->next(*b.by[1]).kind, kith::poll_result::watch);
  for (int failed_searches = 0; failed_searches < 100 && b.homes()[0] < 0; ++failed_searches)
    static_cast<void>(b.chosen->next(*b.by[1]));
  EXPECT_THAT(b.homes(), Each(Ge(0)));
}

TEST(auto_policy, initial_blocks_that_could_not_be_queued_are_still_held) {
  initial_bench b("node:2 core:1");
  kith::initial_runs<kith::test::world> runs({.workers = b.workers, .regions = b.regions, .seed = 1},
                                             {"auto", kith::automatic<kith::test::world>::options});
  std::vector<const kith::task*> all, sent;
  const auto hold = [&](int tasks) {
    for (int i = 0; i < tasks; ++i) {
      kith::task& t = b.task({{b.region(), page, kith::mode::out}});
      all.push_back(&t);
      runs.hold(t, *b.by[0]);
    }
  };
  hold(8);
  const auto send = [&](kith::task& t, node_id) { sent.push_back(&t); };
  const auto out_of_memory = [&](kith::task& t, node_id to) {
    if (sent.size() == 3) {
      hold(20);  // others come in the meantime
      throw std::bad_alloc();
    }
    send(t, to);
  };
  EXPECT_THROW(runs.deal(*b.by[0], out_of_memory), std::bad_alloc);
  EXPECT_TRUE(runs.holds_any());
  runs.deal(*b.by[0], send);
  EXPECT_FALSE(runs.holds_any());
  EXPECT_EQ(sent, all);
}

TEST(auto_policy, runs_have_the_share_of_the_nodes_workers) {
  initial_bench b("node:2 core:3");
  kith::machine on = kith::synthetic_machine("node:2 core:3");
  const kith::team some(on, {node_id(0), node_id(0), node_id(0), node_id(1)});
  auto chosen = kith::make_policy<kith::test::world>("auto:runs=2", {some, b.regions, 1});
  for (int i = 0; i < 12; ++i) {
    b.blocks.push_back(b.region());
    kith::task* t = &b.task({{b.blocks.back(), page, kith::mode::out}});
    chosen->ready({&t, 1}, *b.by[0], ready_reason::creation);
  }
  chosen->waiting(*b.by[0]);
  EXPECT_THAT(b.homes(), ElementsAre(0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 1));
  for (int w : {0, 3}) {
    kith::sequential::worker_view there(kith::worker_id(w), some.node_of(kith::worker_id(w)));
    while (chosen->next(there).work != nullptr) {
    }
  }
}

TEST(auto_policy, no_run_has_more_blocks_than_its_node_has_workers) {
  initial_bench b("node:2 core:3");
  b.create(24);
  b.chosen->waiting(*b.by[0]);
  const std::vector<int> homes = b.homes();
  for (std::size_t first = 0; first + 6 <= homes.size(); first += 6)
    EXPECT_EQ(std::vector(homes.begin() + first, homes.begin() + first + 6), (std::vector{0, 0, 0, 1, 1, 1})) << first;
}

TEST(auto_policy, blocks_of_two_arrays_that_one_type_fills_meet_by_their_index) {
  for (const int each : {4, 9, 10, 21, 50, 101}) {
    initial_bench b("node:2 core:4");
    b.create(2 * each);
    b.chosen->waiting(*b.by[0]);
    const std::vector<int> homes = b.homes();
    int together = 0;
    for (int i = 0; i < each; ++i)
      together += homes[static_cast<std::size_t>(i)] == homes[static_cast<std::size_t>(each + i)];
    EXPECT_GE(3 * together, 2 * each) << each;  // with an odd number of rounds, none would
  }
}

TEST(auto_policy, a_short_array_leaves_the_runs_of_a_long_one_as_they_are) {
  initial_bench alone("node:2 core:4"), b("node:2 core:4");
  alone.create(400, 2);
  b.create(5, 1);
  b.create(400, 2);
  for (initial_bench* each : {&alone, &b}) each->chosen->waiting(*each->by[0]);
  const std::vector<int> homes = b.homes();
  EXPECT_EQ(std::vector(homes.begin() + 5, homes.end()), alone.homes());
}

TEST(auto_policy, runs_are_shares_of_the_bytes) {
  auto_bench b("node:2 core:2");
  std::vector<std::uint32_t> blocks;
  std::vector<std::uint64_t> bytes;
  for (int i = 0; i < 40; ++i) {
    blocks.push_back(b.region());
    bytes.push_back(i % 8 < 4 ? 7 * page : page);  // with as many blocks for each node, node 0 would get nearly all
    b.ready(b.task({{blocks.back(), bytes.back(), kith::mode::out}}));
  }
  b.chosen->waiting(*b.by[0]);
  std::vector<std::uint64_t> at(2);
  for (std::size_t i = 0; i < blocks.size(); ++i) at[b.regions[blocks[i]].home_node().index()] += bytes[i];
  EXPECT_NEAR(static_cast<double>(at[0]) / static_cast<double>(at[0] + at[1]), 0.5, 0.05);
}

TEST(auto_policy, runs_of_sequences_of_different_lengths_meet) {
  initial_bench b("node:2 core:1");
  b.create(8, 1);
  b.create(32, 2);
  b.chosen->waiting(*b.by[0]);
  const std::vector<int> homes = b.homes();
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(homes[8 + 4 * i + k], homes[i]) << i;
  }
}

TEST(auto_policy, few_initial_blocks_are_dealt_in_turn) {
  initial_bench b("node:4 core:1");
  for (int i = 0; i < 4; ++i) {
    b.create(1);
    b.chosen->waiting(*b.by[0]);
  }
  EXPECT_THAT(b.homes(), testing::UnorderedElementsAre(0, 1, 2, 3));
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
  kith::sequential::worker_view by(kith::worker_id(0), node_id(0));
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
  kith::sequential::worker_view there(kith::worker_id(3), node_id(1));
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

TEST(auto_policy, a_successor_with_equal_bytes_here_and_elsewhere_is_run_next) {
  auto_bench b("node:3 core:1");
  b.ready(b.task({{b.region(1), page}}), 0);  // so that the other queue is the shorter one
  kith::task& t = b.task({{b.region(2), page, kith::mode::in}, {b.region(1), page, kith::mode::out}});
  EXPECT_EQ(b.ready(t, 1, ready_reason::completion), &t);
}

// Worker 0 has written what its successor changes; all of the successor's data is at node 2.
TEST(auto_policy, a_worker_leaves_what_it_wrote_for_a_larger_input_unless_all_nodes_read_that) {
  const auto stays = [](bool is_table, std::uint64_t bytes) {
    auto_bench b("node:3 core:1");
    const auto table = b.region(2), own = b.region(2);
    const auto input = [&] { return is_table ? table : b.region(2); };
    for (int i = 0; i < 60; ++i) {  // most of their bytes are input, but what they change counts twice
      b.ready(b.task({{input(), 8 * page, kith::mode::in}, {b.region(i % 3), 6 * page}}));
      EXPECT_NE(b.next(i % 3), nullptr);
    }
    b.wrote(own, 0);
    kith::task& t = b.task({{input(), bytes, kith::mode::in}, {own, page}});
    return b.ready(t, 0, ready_reason::completion) == &t;
  };
  EXPECT_TRUE(stays(false, 2 * page));  // what is changed counts twice
  EXPECT_FALSE(stays(false, 3 * page));
  EXPECT_TRUE(stays(true, 8 * page));
}

TEST(auto_policy, a_worker_leaves_what_it_wrote_for_a_larger_input_at_a_node_without_workers) {
  // Nodes 1 and 3 have no cores. Node 2 serves node 3.
  auto_bench b("pack:2 [numa] [numa] core:2 distance:10,11,30,31/11,10,31,30/30,31,10,11/31,30,11,10");
  ASSERT_EQ(b.workers.served_by(node_id(3)), node_id(2));
  for (int i = 0; i < 60; ++i) {  // no input is read twice, so none is a table
    b.ready(b.task({{b.region(2), 8 * page, kith::mode::in}, {b.region(2), 6 * page}}));
    EXPECT_NE(b.next(2), nullptr);
  }
  const auto own = b.region(2);
  b.wrote(own, 0);
  kith::task& t = b.task({{b.region(3), 8 * page, kith::mode::in}, {own, page}});
  EXPECT_EQ(b.ready(t, 0, ready_reason::completion), nullptr);
  EXPECT_EQ(b.next(2), &t);
}

// Tasks that were sent to a table are no reason to send more there.
TEST(auto_policy, a_table_that_one_node_has_read_alone_is_no_reason_to_leave_what_was_written) {
  auto_bench b("node:3 core:1");
  const auto table = b.region(2), own = b.region(2);
  for (int i = 0; i < 60; ++i) {
    b.ready(b.task({{table, 8 * page, kith::mode::in}, {b.region(2), page}}));
    EXPECT_NE(b.next(2), nullptr);
  }
  b.wrote(own, 0);
  kith::task& t = b.task({{table, 8 * page, kith::mode::in}, {own, page}});
  EXPECT_EQ(b.ready(t, 0, ready_reason::completion), &t);
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
