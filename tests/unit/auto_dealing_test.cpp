// The policy `auto` in the sequential world: how data without a home is dealt to the nodes.
#include "support/initial_bench.hpp"

#include "base/address.hpp"
#include "policy/auto/automatic.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <new>
#include <string>
#include <vector>

namespace {

using kith::node_id;
using kith::ready_reason;
using kith::test::auto_bench;
using kith::test::initial_bench;
using kith::test::megabyte;
using kith::test::page;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;
using testing::Le;

// A producer's state would move with every block if the blocks were dealt in turn.
TEST(auto_dealing, blocks_of_a_producer_are_dealt_in_runs) {
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

TEST(auto_dealing, initial_blocks_are_dealt_in_runs_when_their_creator_waits) {
  initial_bench b("node:2 core:2");
  b.create(16);
  EXPECT_THAT(b.homes(), Each(-1));
  b.chosen->waiting(*b.by[0]);
  EXPECT_THAT(b.homes(), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1));
  EXPECT_NE(b.next(0), nullptr);
  EXPECT_NE(b.next(2), nullptr);
}

TEST(auto_dealing, initial_blocks_are_dealt_when_one_is_used) {
  initial_bench b("node:2 core:1");
  b.create(8);
  b.chosen->observer()->created(b.task(), *b.by[0]);  // uses no data
  EXPECT_THAT(b.homes(), Each(-1));
  b.chosen->observer()->created(b.task({{b.blocks[3], page, kith::mode::in}}), *b.by[0]);
  EXPECT_THAT(b.homes(), ElementsAre(0, 0, 1, 1, 0, 0, 1, 1));
}

TEST(auto_dealing, initial_blocks_are_dealt_when_no_more_seem_to_come) {
  initial_bench b("node:2 core:1");
  b.create(4);
  EXPECT_EQ(b.chosen->next(*b.by[1]).kind, kith::poll_result::watch);
  for (int failed_searches = 0; failed_searches < 100 && b.homes()[0] < 0; ++failed_searches)
    static_cast<void>(b.chosen->next(*b.by[1]));
  EXPECT_THAT(b.homes(), Each(Ge(0)));
}

TEST(auto_dealing, initial_blocks_that_could_not_be_queued_are_still_held) {
  initial_bench b("node:2 core:1");
  kith::initial_runs<kith::test::world> runs({.workers = b.workers, .regions = b.regions, .seed = 1},
                                             {"auto", kith::automatic<kith::test::world>::options});
  std::vector<const kith::task*> all, sent;
  const auto hold = [&](int tasks) {
    for (int i = 0; i < tasks; ++i) {
      kith::task& t = b.task({{b.region(), page, kith::mode::out}});
      all.push_back(&t);
      runs.hold(t, *b.by[0], [](kith::task&, node_id) { FAIL() << "nothing is complete"; });
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

/// Of two nodes with three workers and one, the first gets 1.2 times as much, the sixth root of three.
TEST(auto_dealing, runs_of_a_node_with_more_workers_are_a_little_longer) {
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
  EXPECT_THAT(b.homes(), ElementsAre(0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 1));
  for (int w : {0, 3}) {
    kith::sequential::worker_view there(kith::worker_id(w), some.node_of(kith::worker_id(w)));
    while (chosen->next(there).work != nullptr) {
    }
  }
}

TEST(auto_dealing, no_run_has_more_blocks_than_its_node_has_workers) {
  initial_bench b("node:2 core:3");
  b.create(24);
  b.chosen->waiting(*b.by[0]);
  const std::vector<int> homes = b.homes();
  for (std::size_t first = 0; first + 6 <= homes.size(); first += 6)
    EXPECT_EQ(std::vector(homes.begin() + first, homes.begin() + first + 6), (std::vector{0, 0, 0, 1, 1, 1})) << first;
}

/// The lengths of the runs of an array of so many blocks, on two nodes of eight workers.
std::vector<int> runs_of(int blocks) {
  initial_bench b("node:2 core:8");
  b.create(blocks);
  b.chosen->waiting(*b.by[0]);
  const std::vector<int> homes = b.homes();
  std::vector<int> runs{1};
  for (std::size_t i = 1; i < homes.size(); ++i) {
    if (homes[i] == homes[i - 1])
      ++runs.back();
    else
      runs.push_back(1);
  }
  return runs;
}

TEST(auto_dealing, runs_are_half_as_long_where_workers_have_many_blocks_each) {
  EXPECT_THAT(runs_of(64), testing::Each(8));
  EXPECT_THAT(runs_of(128), testing::Each(8));  // eight for each worker
  EXPECT_THAT(runs_of(256), testing::Each(4));
}

TEST(auto_dealing, blocks_of_two_arrays_that_one_type_fills_meet_by_their_index) {
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

// The nodes begin rounds in turn, so the second array would not meet the first if both were dealt as one.
TEST(auto_dealing, arrays_that_one_type_fills_are_dealt_one_by_one) {
  initial_bench b("node:4 core:1");
  b.create_at(2000, 24);
  b.create_at(1000, 24);  // below the first
  b.create_at(9000, 12);  // far above the second
  b.chosen->waiting(*b.by[0]);
  const std::vector<int> homes = b.homes();
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_EQ(homes[24 + i], homes[i]) << i;
    EXPECT_EQ(homes[48 + i / 2], homes[i]) << i;
  }
}

// Else each row of tiles would begin at the same node, and a column would be on few nodes.
TEST(auto_dealing, rows_of_one_matrix_are_not_taken_for_arrays) {
  for (const int side : {8, 16, 17, 20, 24, 32, 40}) {
    initial_bench in_order("node:4 core:1"), by_columns("node:4 core:1");
    in_order.create_at(1000, side * side);
    for (int column = 0; column < side; ++column) {
      for (int row = 0; row < side; ++row) by_columns.create_at(1000 + side * row + column, 1);
    }
    for (initial_bench* each : {&in_order, &by_columns}) each->chosen->waiting(*each->by[0]);
    EXPECT_EQ(by_columns.homes(), in_order.homes()) << side;
  }
}

TEST(auto_dealing, a_short_array_leaves_the_runs_of_a_long_one_as_they_are) {
  initial_bench alone("node:2 core:4"), b("node:2 core:4");
  alone.create(400, 2);
  b.create(5, 1);
  b.create(400, 2);
  for (initial_bench* each : {&alone, &b}) each->chosen->waiting(*each->by[0]);
  const std::vector<int> homes = b.homes();
  EXPECT_EQ(std::vector(homes.begin() + 5, homes.end()), alone.homes());
}

TEST(auto_dealing, runs_are_shares_of_the_bytes) {
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

TEST(auto_dealing, runs_of_sequences_of_different_lengths_meet) {
  initial_bench b("node:2 core:1");
  b.create(8, 1);
  b.create(32, 2);
  b.chosen->waiting(*b.by[0]);
  const std::vector<int> homes = b.homes();
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t k = 0; k < 4; ++k) EXPECT_EQ(homes[8 + 4 * i + k], homes[i]) << i;
  }
}

TEST(auto_dealing, few_initial_blocks_are_dealt_in_turn) {
  initial_bench b("node:4 core:1");
  for (int i = 0; i < 4; ++i) {
    b.create(1);
    b.chosen->waiting(*b.by[0]);
  }
  EXPECT_THAT(b.homes(), testing::UnorderedElementsAre(0, 1, 2, 3));
}

TEST(auto_dealing, deals_new_data_evenly_whatever_its_size) {
  auto_bench b("node:4 core:1");
  EXPECT_THAT(b.deal(40, page), Each(10));
  // A large block puts its node ahead, so the other nodes catch up first.
  const node_id large = b.fresh(100 * page);
  EXPECT_EQ(b.deal(60, page)[large.index()], 0);
}

TEST(auto_dealing, deals_a_little_more_to_a_node_with_more_workers) {
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
  EXPECT_NEAR(at_1, 36, 3);  // 80 / (1 + 1.2); 40 and 20 are equal shares and those of the workers
  while (chosen->next(by).work != nullptr) {
  }
  kith::sequential::worker_view there(kith::worker_id(3), node_id(1));
  while (chosen->next(there).work != nullptr) {
  }
}

TEST(auto_dealing, blocks_with_the_same_number_of_two_arrays_meet) {
  auto_bench b("node:4 core:1");
  std::vector<node_id> first, second;
  for (int i = 0; i < 12; ++i) first.push_back(b.fresh(2 * page, 1));
  for (int i = 0; i < 12; ++i) second.push_back(b.fresh(page, 2));
  EXPECT_EQ(first, second);
}

TEST(auto_dealing, no_column_of_blocks_is_on_one_node) {
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

}  // namespace
