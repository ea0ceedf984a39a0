// The order in which nodes get new data: evenly, with no column on one node, and with nothing moving
// between machines.
#include "policy/auto/dealing_order.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace {

using kith::dealing_order;
using kith::node_id;

kith::team team_of(const kith::machine& on) {
  std::vector<node_id> all;
  for (const kith::machine::core& c : on.cores) all.push_back(c.node);
  return {on, all};
}

TEST(dealing_order, every_node_has_its_turn_once_in_each_round) {
  for (const char* line : {"node:1 core:2", "node:3 core:1", "node:8 core:2", "node:5 core:1 distance:300"}) {
    const kith::machine on = kith::synthetic_machine(line);
    const kith::team workers = team_of(on);
    const dealing_order order(workers);
    std::uint32_t turn = 0;
    for (int round = 0; round < 100; ++round) {
      std::vector<int> had(static_cast<std::size_t>(workers.nodes()));
      for (int i = 0; i < workers.nodes(); ++i) ++had[order(turn++).index()];
      EXPECT_THAT(had, testing::Each(1)) << line << ", round " << round;
    }
  }
}

// The number of blocks of the first column on each node, for rows of that many rounds.
std::vector<int> first_column(const char* line, std::uint32_t rounds, std::uint32_t rows) {
  const kith::machine on = kith::synthetic_machine(line);
  const kith::team workers = team_of(on);
  const dealing_order order(workers);
  std::vector<int> blocks(static_cast<std::size_t>(workers.nodes()));
  for (std::uint32_t row = 0; row < rows; ++row)
    ++blocks[order(row * rounds * static_cast<std::uint32_t>(workers.nodes())).index()];
  return blocks;
}

TEST(dealing_order, a_column_is_on_as_many_nodes_as_the_root_or_twice_as_many) {
  for (const auto& [nodes, root] : {std::pair{4, 2}, {6, 2}, {8, 3}, {16, 4}}) {
    const std::string line = "node:" + std::to_string(nodes) + " core:1";
    for (std::uint32_t rounds = 1; rounds <= 12; ++rounds) {
      const std::vector<int> blocks = first_column(line.c_str(), rounds, 64);
      const auto on = std::ranges::count_if(blocks, [](int n) { return n > 0; });
      const bool both_ways = rounds % 2 == 1 && nodes <= 8;
      EXPECT_GE(on, root) << line << ", " << rounds;
      EXPECT_LE(on, both_ways ? 2 * root : root) << line << ", " << rounds;
      EXPECT_LE(*std::ranges::max_element(blocks), 64 / root * 3 / 2) << line << ", " << rounds;
    }
  }
}

// The steps from each node to the next one, in a round of a machine with so many nodes that begins at turn `from`.
std::vector<int> steps(const dealing_order& order, std::uint32_t from, int nodes) {
  std::vector<int> found;
  for (int i = 1; i < nodes; ++i) {
    const auto turn = from + static_cast<std::uint32_t>(i);
    found.push_back((order(turn).value - order(turn - 1).value + nodes) % nodes);
  }
  return found;
}

TEST(dealing_order, every_second_round_of_four_to_eight_nodes_goes_backwards) {
  for (int nodes = 3; nodes <= 10; ++nodes) {
    const kith::machine on = kith::synthetic_machine("node:" + std::to_string(nodes) + " core:1");
    const kith::team workers = team_of(on);
    const dealing_order order(workers);
    for (int round = 0; round < 20; ++round) {
      const int step = round % 2 == 1 && nodes >= 4 && nodes <= 8 ? nodes - 1 : 1;
      EXPECT_THAT(steps(order, static_cast<std::uint32_t>(round * nodes), nodes), testing::Each(step))
          << nodes << " nodes, round " << round;
    }
  }
}

TEST(dealing_order, every_machine_of_a_cluster_goes_backwards_by_itself) {
  const kith::machine on = kith::synthetic_machine(
      "node:8 core:1 distance:10,21,21,21,480,480,480,480/21,10,21,21,480,480,480,480/21,21,10,21,480,480,480,480/"
      "21,21,21,10,480,480,480,480/480,480,480,480,10,21,21,21/480,480,480,480,21,10,21,21/"
      "480,480,480,480,21,21,10,21/480,480,480,480,21,21,21,10");
  const kith::team workers = team_of(on);
  ASSERT_EQ(workers.machines().size(), 2U);
  const dealing_order order(workers);
  for (std::uint32_t round = 0; round < 20; ++round) {
    for (std::uint32_t machine = 0; machine < 2; ++machine) {
      const std::uint32_t from = round * 8 + machine * 4;
      for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(order(from + i).index() / 4, machine) << round;
      EXPECT_THAT(steps(order, from, 4), testing::Each(round % 2 == 1 ? 3 : 1)) << round;
    }
  }
}

// How many blocks a transposition moves from each node to each, by the number of the one and then of the other. Half a
// round, with runs of that many blocks, is a little longer than a row, so that each row begins a little earlier in it.
std::vector<std::uint32_t> transposed(std::uint32_t nodes, std::uint32_t run) {
  const kith::machine on = kith::synthetic_machine("node:" + std::to_string(nodes) + " core:1");
  const kith::team workers = team_of(on);
  const dealing_order order(workers);
  const std::uint32_t side = run * nodes / 2 - 1;
  const auto node_of = [&](std::uint32_t row, std::uint32_t column) { return order((row * side + column) / run); };
  std::vector<std::uint32_t> blocks(static_cast<std::size_t>(nodes * nodes));
  for (std::uint32_t row = 0; row < side; ++row) {
    for (std::uint32_t column = 0; column < side; ++column) {
      if (row != column) ++blocks[node_of(row, column).index() * nodes + node_of(column, row).index()];
    }
  }
  return blocks;
}

TEST(dealing_order, a_block_and_its_mirror_image_may_be_on_one_node) {
  const std::vector<std::uint32_t> blocks = transposed(4, 9);
  const std::uint32_t together = blocks[0] + blocks[5] + blocks[10] + blocks[15];
  EXPECT_GE(together * 4, 17 * 16 / 2);  // half of what is expected by chance, in 17 rows and columns
}

TEST(dealing_order, more_pairs_of_nodes_share_what_a_transposition_moves) {
  constexpr std::uint32_t nodes = 6, side = 17;
  std::vector<std::uint32_t> blocks = transposed(nodes, 6);
  for (std::uint32_t n = 0; n < nodes; ++n) blocks[n * nodes + n] = 0;
  std::ranges::sort(blocks, std::greater{});
  // If all rounds went forwards, six of the 30 pairs would exchange 43 % of all blocks.
  EXPECT_LE(std::accumulate(blocks.begin(), blocks.begin() + nodes, 0U), 2 * side * side / 5);
}

TEST(dealing_order, with_two_nodes_no_run_continues_in_the_next_round) {
  const kith::machine on = kith::synthetic_machine("node:2 core:1");
  const kith::team workers = team_of(on);
  const dealing_order order(workers);
  for (std::uint32_t turn = 0; turn < 100; ++turn) EXPECT_NE(order(turn), order(turn + 1)) << turn;
}

TEST(dealing_order, between_machines_columns_stay) {
  const kith::machine on =
      kith::synthetic_machine("node:4 core:1 distance:10,480,21,480/480,10,480,21/21,480,10,480/480,21,480,10");
  const kith::team workers = team_of(on);
  const dealing_order order(workers);
  for (std::uint32_t turn = 0; turn < 400; ++turn)
    EXPECT_EQ(order(turn).index() % 2, turn % 4 / 2) << turn;  // nodes 0 and 2 are on one machine
}

TEST(dealing_order, nodes_without_workers_have_no_turn) {
  const kith::machine on = kith::synthetic_machine("node:3 core:1");
  const kith::team workers(on, {node_id(0), node_id(2)});
  const dealing_order order(workers);
  for (std::uint32_t turn = 0; turn < 30; ++turn) EXPECT_NE(order(turn), node_id(1));
}

}  // namespace
