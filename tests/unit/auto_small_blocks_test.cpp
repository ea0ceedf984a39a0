// The policy `auto` in the sequential world: arrays of small blocks, which are dealt while they are created.
#include "support/initial_bench.hpp"

#include "base/address.hpp"
#include "policy/auto/automatic.hpp"
#include "policy/auto/dealing_order.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <new>
#include <vector>

namespace {

using kith::node_id;
using kith::test::initial_bench;
using kith::test::page;
using testing::Each;
using testing::ElementsAre;
using testing::Ge;

class small_bench : public initial_bench {
 public:
  explicit small_bench(const char* machine, const char* policy = "auto") : initial_bench(machine, policy) {
    bytes = page;
  }
  void end_of_creation() { chosen->waiting(*by[0]); }
  std::vector<int> homes_from(std::size_t first, std::size_t last) const {
    const std::vector<int> all = homes();
    return {all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last)};
  }
};

TEST(auto_small_blocks, are_dealt_while_their_array_is_created) {
  small_bench b("node:2 core:8");
  b.create_at(1000, 15);
  EXPECT_THAT(b.homes(), Each(-1));
  b.create_at(1015, 1);  // now there is a block for each worker
  EXPECT_THAT(b.homes_from(0, 8), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
  EXPECT_NE(b.next(0), nullptr);
  EXPECT_NE(b.next(8), nullptr);
  b.create_at(1016, 24);
  EXPECT_THAT(b.homes_from(32, 40), Each(-1));
  b.end_of_creation();
  const std::vector<int> homes = b.homes();
  for (int node : {0, 1}) EXPECT_EQ(std::ranges::count(homes, node), 20) << node;
}

TEST(auto_small_blocks, go_on_with_the_order_of_the_nodes_from_part_to_part) {
  small_bench b("node:4 core:8");
  b.create_at(1000, 5 * 32);
  const std::vector<int> homes = b.homes();
  const kith::dealing_order order(b.workers);
  for (std::size_t i = 0; i < homes.size(); ++i)
    EXPECT_EQ(homes[i], order(static_cast<std::uint32_t>(i / 4)).value) << i;  // runs of four blocks
}

TEST(auto_small_blocks, are_dealt_in_one_round_to_nodes_with_few_workers) {
  small_bench b("node:2 core:3");
  b.create_at(1000, 6);
  EXPECT_THAT(b.homes(), ElementsAre(0, 0, 0, 1, 1, 1));
}

TEST(auto_small_blocks, of_equally_long_arrays_meet) {
  for (const std::size_t each : {16, 20, 40, 55}) {
    small_bench b("node:4 core:4");
    b.create_at(9000, static_cast<int>(each));
    b.create_at(1000, static_cast<int>(each));
    EXPECT_THAT(b.homes_from(0, 16), Each(Ge(0)));
    b.end_of_creation();
    EXPECT_EQ(b.homes_from(0, each), b.homes_from(each, 2 * each)) << each;
  }
}

// The second array is right above the first, so only the wait tells them apart.
TEST(auto_small_blocks, that_are_created_after_a_wait_are_another_array) {
  small_bench b("node:4 core:4");
  b.create_at(1000, 48);  // nothing is left to be dealt at the wait
  b.end_of_creation();
  b.create_at(1048, 48);
  EXPECT_EQ(b.homes_from(0, 48), b.homes_from(48, 96));
}

// Arrays that one worker fills alternately, with tasks of two types.
TEST(auto_small_blocks, of_arrays_that_grow_together_meet) {
  small_bench b("node:4 core:8");
  for (int i = 0; i < 80; ++i) {
    b.create_at(1000 + i, 1, 1);
    b.create_at(9000 + i, 1, 2);
  }
  EXPECT_THAT(b.homes_from(0, 128), Each(Ge(0)));
  b.end_of_creation();
  const std::vector<int> homes = b.homes();
  for (std::size_t i = 0; i < homes.size(); i += 2) EXPECT_EQ(homes[i], homes[i + 1]) << i;
}

TEST(auto_small_blocks, are_held_if_one_block_is_not_small) {
  const auto held_after = [](const auto& create) {
    small_bench b("node:2 core:8");
    create(b);
    const std::vector<int> before = b.homes();
    b.end_of_creation();
    EXPECT_THAT(b.homes(), Each(Ge(0)));
    return std::ranges::all_of(before, [](int node) { return node < 0; });
  };
  EXPECT_FALSE(held_after([](small_bench& b) {
    b.bytes = 15 * page;
    b.create_at(1000, 16);
  }));
  EXPECT_TRUE(held_after([](small_bench& b) {  // as many pages as workers
    b.bytes = 16 * page;
    b.create_at(1000, 64);
  }));
  EXPECT_TRUE(held_after([](small_bench& b) {  // the last block of an array is shorter
    b.bytes = 16 * page;
    b.create_at(1000, 15);
    b.bytes = 8 * page;
    b.create_at(2030, 1);
  }));
}

TEST(auto_small_blocks, are_held_if_their_runs_are_given) {
  small_bench b("node:2 core:8", "auto:runs=4");
  b.create_at(1000, 64);
  EXPECT_THAT(b.homes(), Each(-1));
  b.end_of_creation();
  EXPECT_THAT(b.homes(), Each(Ge(0)));
}

TEST(auto_small_blocks, that_could_not_be_queued_are_still_held) {
  initial_bench b("node:2 core:8");
  kith::initial_runs<kith::test::world> runs({.workers = b.workers, .regions = b.regions, .seed = 1},
                                             {"auto", kith::automatic<kith::test::world>::options});
  std::vector<const kith::task*> all, sent;
  const auto send = [&](kith::task& t, node_id) { sent.push_back(&t); };
  const auto out_of_memory = [&](kith::task& t, node_id to) {
    if (sent.size() == 3) throw std::bad_alloc();
    send(t, to);
  };
  const auto hold = [&](std::uintptr_t first, std::uintptr_t blocks, std::uint16_t type) {
    for (std::uintptr_t i = first; i < first + blocks; ++i) {
      kith::task& t = b.task({{b.regions.find(kith::at_address(i * page), page), page, kith::mode::out}});
      t.type = type;
      all.push_back(&t);
      EXPECT_NO_THROW(runs.hold(t, *b.by[0], out_of_memory));
    }
  };
  hold(1000, 10, 1);
  hold(9000, 20, 2);
  EXPECT_EQ(sent.size(), 3U);
  runs.deal(*b.by[0], send);
  EXPECT_FALSE(runs.open());
  EXPECT_THAT(sent, testing::UnorderedElementsAreArray(all));
}

}  // namespace
