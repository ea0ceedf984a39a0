// Queues are made from the memory of their node, and grow in it, under every policy. Here memory is
// counted, not placed.
#include "support/policy_bench.hpp"
#include "support/watched_memory.hpp"

#include "memory/node_memory.hpp"
#include "policy/home_queue.hpp"
#include "queue/native/world.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <deque>
#include <memory_resource>
#include <string>
#include <vector>

namespace {

using kith::node_id;
using kith::worker_id;
using kith::test::policy_bench;
using kith::test::watched_memory;

/// Fails if memory is taken from the program's default resource.
class no_standard {
 public:
  no_standard() : before_(std::pmr::set_default_resource(std::pmr::null_memory_resource())) {}
  ~no_standard() { std::pmr::set_default_resource(before_); }
  no_standard(const no_standard&) = delete;
  no_standard& operator=(const no_standard&) = delete;

 private:
  std::pmr::memory_resource* before_;
};

constexpr std::size_t nodes = 4, workers = 8;

struct memories {
  std::deque<watched_memory> of;
  std::vector<std::pmr::memory_resource*> by_node;

  memories() {
    for (std::size_t n = 0; n < nodes; ++n) by_node.push_back(&of.emplace_back(std::pmr::new_delete_resource()));
  }
  std::vector<std::size_t> bytes() const {
    std::vector<std::size_t> all;
    for (const watched_memory& m : of) all.push_back(m.bytes());
    return all;
  }
};

class HomeQueue : public testing::TestWithParam<const char*> {};

TEST_P(HomeQueue, GrowsInItsNodesMemoryAlone) {
  const no_standard none;
  memories own;
  {
    policy_bench bench("node:4 core:2", GetParam(), own.by_node);
    const std::vector<std::size_t> made = own.bytes();
    for (std::size_t bytes : made) {
      EXPECT_GT(bytes, 0u);
      EXPECT_EQ(bytes, made[0]) << "every node has as many workers";
    }
    constexpr std::size_t entries = 3000;
    for (int w : {5, 4}) {  // both on node 2
      ASSERT_EQ(bench.workers.node_of(worker_id(w)), node_id(2));
      for (std::size_t i = 0; i < entries; ++i)
        EXPECT_EQ(bench.ready(bench.task({}, 2, static_cast<std::uint16_t>(w)), w), nullptr);
    }
    const std::vector<std::size_t> grown = own.bytes();
    EXPECT_GT(grown[2], made[2] + (2 * entries - 1000) * sizeof(void*));  // there was room for some entries
    for (std::size_t n : {0UL, 1UL, 3UL}) EXPECT_EQ(grown[n], made[n]) << "node " << n;
    std::size_t taken = 0;
    for (int w : {5, 4}) {
      while (bench.next(w) != nullptr) ++taken;
    }
    EXPECT_EQ(taken, 2 * entries);
  }
  for (std::size_t bytes : own.bytes()) EXPECT_EQ(bytes, 0u) << "all was given back";
}

// Without `dfifo`, which deals tasks to all workers. No task here has data, so `dep` and similar policies
// send it to its creator's node.
INSTANTIATE_TEST_SUITE_P(Policies, HomeQueue,
                         testing::Values("auto", "dep", "home-cache", "nabbit", "nabbitc", "numa",
                                         "numa:alternative=off", "rip-dep", "rip-mw", "socket", "source", "steal"),
                         [](const auto& p) {
                           std::string name = p.param;
                           std::erase_if(name, [](char c) { return std::isalnum(c) == 0; });
                           return name;
                         });

TEST(HomeQueue, DealtTasksAreInEachWorkersOwn) {
  const no_standard none;
  memories own;
  policy_bench bench("node:4 core:2", "dfifo", own.by_node);
  const std::vector<std::size_t> made = own.bytes();
  constexpr std::size_t each = 3000;
  for (std::size_t i = 0; i < workers * each; ++i) bench.ready(bench.task(), 0);
  const std::vector<std::size_t> grown = own.bytes();
  for (std::size_t n = 0; n < nodes; ++n)
    EXPECT_GT(grown[n], made[n] + (2 * each - 1000) * sizeof(void*)) << "node " << n;
}

/// No two workers write to the same cache line.
TEST(HomeQueue, QueuesAreApart) {
  kith::node_memory memory(0);
  std::vector<kith::home_queue<kith::native::world>> queues;
  const kith::machine on = kith::synthetic_machine("node:1 core:4");
  const kith::team four(on, std::vector<node_id>(4, node_id(0)));
  kith::region_table regions;
  std::pmr::memory_resource* const own[] = {&memory};
  const kith::policy_context s{.workers = four, .regions = regions, .seed = 1, .own_memory = own};
  for (int w = 0; w < 4; ++w)
    queues.push_back(kith::make_queue<kith::native::world>(s, worker_id(w), kith::queue_order::fifo));
  for (const auto& q : queues) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(q.get()) % kith::false_sharing_range, 0u);
}

}  // namespace
