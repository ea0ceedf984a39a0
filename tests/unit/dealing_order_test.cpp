// The order in which nodes get new data: evenly, with no column on one node, and with nothing moving
// between machines.
#include "policy/auto/dealing_order.hpp"

#include <gmock/gmock.h>

#include <algorithm>

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

TEST(dealing_order, a_column_is_on_as_many_nodes_as_the_root) {
  for (const auto& [line, nodes] : {std::pair{"node:4 core:1", 2}, {"node:8 core:1", 3}, {"node:16 core:1", 4}}) {
    for (std::uint32_t rounds = 1; rounds <= 12; ++rounds) {
      const std::vector<int> blocks = first_column(line, rounds, 64);
      EXPECT_EQ(std::ranges::count_if(blocks, [](int n) { return n > 0; }), nodes) << line << ", " << rounds;
      EXPECT_LE(*std::ranges::max_element(blocks), 64 / nodes * 3 / 2) << line << ", " << rounds;
    }
  }
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
