// The order in which nodes get new data: evenly, with no column on one node, and with nothing moving
// between machines.
#include "policy/auto/dealing_order.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string_view>

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

TEST(dealing_order, a_column_is_on_about_as_many_nodes_as_the_root) {
  for (const auto& [line, nodes] : {std::pair{"node:4 core:1", 2}, {"node:8 core:1", 3}, {"node:16 core:1", 4}}) {
    for (std::uint32_t rounds = 1; rounds <= 12; ++rounds) {
      const std::vector<int> blocks = first_column(line, rounds, 64);
      const auto on = std::ranges::count_if(blocks, [](int n) { return n > 0; });
      EXPECT_GE(on, nodes) << line << ", " << rounds;
      EXPECT_LE(on, line == std::string_view("node:16 core:1") ? nodes : 2 * nodes) << line << ", " << rounds;
      EXPECT_LE(*std::ranges::max_element(blocks), 64 / nodes * 3 / 2) << line << ", " << rounds;
    }
  }
}

// Rows of blocks that are a little shorter than a round, so that each begins a little earlier in it.
TEST(dealing_order, a_block_and_its_mirror_image_may_be_on_one_node) {
  for (const auto& [line, run] : {std::pair{"node:4 core:1", 9U}, {"node:6 core:1", 6U}, {"node:8 core:1", 5U}}) {
    const kith::machine on = kith::synthetic_machine(line);
    const kith::team workers = team_of(on);
    const dealing_order order(workers);
    const auto nodes = static_cast<std::uint32_t>(workers.nodes()), side = run * nodes / 2 - 1;
    const auto node_of = [&](std::uint32_t row, std::uint32_t column) { return order((row * side + column) / run); };
    std::uint32_t together = 0;
    std::vector<int> pairs(static_cast<std::size_t>(nodes * nodes));
    for (std::uint32_t row = 0; row < side; ++row) {
      for (std::uint32_t column = 0; column < row; ++column) {
        const node_id a = node_of(row, column), b = node_of(column, row);
        together += a == b ? 1 : 0;
        if (a != b) ++pairs[a.index() * nodes + b.index()];
      }
    }
    const std::uint32_t all = side * (side - 1) / 2;
    EXPECT_GE(together * nodes, all / 2) << line;                                            // by chance: all
    EXPECT_LE(*std::ranges::max_element(pairs) * (nodes * nodes - nodes), 4 * all) << line;  // by chance: all
  }
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
