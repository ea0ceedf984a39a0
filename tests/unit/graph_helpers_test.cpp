// Workers that help in the run of a captured graph, and leave it.
#include "support/with_variable.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

namespace {

using kith::test::make_options;

/// False if f() is still false after ten seconds.
bool becomes_true(const std::function<bool()>& f) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!f()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

/// A worker helps in a run while it waits. When it has taken several short nodes, the wait ends, and what follows it
/// lasts until all nodes have run: others must get the nodes that the worker had taken.
TEST(graph_helpers, nodes_taken_by_a_worker_that_leaves_are_run_by_others) {
  constexpr int nodes = 20'000, helped = 1000;
  const kith::test::with_variable all_may_be_awake("KITH_AWAKE", "0");
  kith::runtime rt(make_options(3));
  struct alignas(64) count {
    std::atomic<int> nodes{0};
  };
  std::array<count, 3> by;  // worker
  const auto ran = [&] { return by[0].nodes + by[1].nodes + by[2].nodes; };
  std::atomic<int> owner{-1}, helper{-1};
  std::atomic<bool> started{false}, released{false}, all_ran{false};
  const auto run_node = [&] {
    const int me = kith::this_worker();
    std::atomic<int>& mine = by[static_cast<std::size_t>(me)].nodes;
    mine.store(mine.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (me == owner && !released) {
      EXPECT_TRUE(becomes_true([&] { return released.load(); }));  // the helper gets its share
    }
    if (mine != helped || me != helper) return;
    released = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the wait is over before this node is
  };
  rt.run([&] {
    owner = kith::this_worker();
    kith::captured_graph g;
    g.capture([&] {
      for (int i = 0; i < nodes; ++i) kith::spawn([&] { run_node(); });
    });
    kith::spawn([&] {
      helper = kith::this_worker();
      kith::group awaited;
      awaited.spawn([&] {
        started = true;
        becomes_true([&] { return released.load(); });
      });
      becomes_true([&] { return started.load(); });  // on the third worker
      awaited.wait();
      all_ran = becomes_true([&] { return ran() == nodes; });
    });
    becomes_true([&] { return started.load(); });
    g.run();
  });
  EXPECT_TRUE(all_ran);
  EXPECT_EQ(ran(), nodes);
}

}  // namespace
