// Static graphs under every policy: run repeatedly, with failures and recovery, and with nodes that create tasks.
#include "support/matrix.hpp"
#include "support/path_graph.hpp"
#include "support/scale.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <thread>
#include <vector>

namespace {

using kith::test::path_graph;
using kith::test::scaled;

class static_graphs : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};
};
KITH_FOR_ALL_POLICIES(static_graphs);

TEST_P(static_graphs, run_again_and_again) {
  path_graph g(static_cast<std::uint32_t>(scaled(300)), 4, 5);
  kith::static_graph s;
  for (path_graph::key k = 0; k < g.needs.size(); ++k) {
    s.add([&g, k] { g.compute(k); }, kith::color{g.color(k)});
    for (path_graph::key p : g.needs[k]) s.edge(p, k);
  }
  std::vector<std::uint64_t> expected(g.needs.size());
  for (path_graph::key k = 0; k < g.needs.size(); ++k) {
    expected[k] = k == 0;
    for (path_graph::key p : g.needs[k]) expected[k] += expected[p];
  }
  for (int again = 0; again < 5; ++again) {
    for (auto& c : g.computed) c = 0;
    rt.run([&] { s.run(); });
    EXPECT_EQ(g.paths, expected);
    EXPECT_EQ(g.too_early, 0);
    for (auto& c : g.computed) EXPECT_EQ(c, 1);
  }
}

TEST_P(static_graphs, are_made_of_keyed_graphs) {
  path_graph g(static_cast<std::uint32_t>(scaled(300)), 4, 5);
  const auto last = static_cast<path_graph::key>(g.needs.size() - 1);
  const std::vector<path_graph::key> wanted{last};
  kith::static_graph s = kith::static_graph::of(g, wanted);
  for (int again = 0; again < 3; ++again) {
    for (auto& c : g.computed) c = 0;
    rt.run([&] { s.run(); });
    EXPECT_EQ(g.paths, g.serial(last));
    EXPECT_EQ(g.too_early, 0);
    for (std::size_t k = 0; k < g.needs.size(); ++k) EXPECT_EQ(g.computed[k], g.paths[k] != 0 ? 1 : 0);
  }
  for (int n : g.named) EXPECT_LE(n, 1);
}

TEST_P(static_graphs, fail_and_recover) {
  kith::static_graph s;
  int ran = 0;
  bool fails = true;
  const auto a = s.add([&] { ++ran; });
  const auto b = s.add([&] {
    if (fails) throw std::runtime_error("b");
    ++ran;
  });
  const auto c = s.add([&] { ++ran; });
  s.edge(a, b);
  s.edge(b, c);
  rt.run([&] {
    EXPECT_THROW(s.run(), std::runtime_error);
    EXPECT_EQ(ran, 1);
    fails = false;
    s.run();
    EXPECT_EQ(ran, 4);
    EXPECT_THROW(s.edge(0, 3), kith::error);
    s.edge(c, a);
    try {
      s.run();
      ADD_FAILURE() << "no exception";
    } catch (const kith::cycle<kith::static_graph::node>& e) {
      EXPECT_EQ(e.keys.size(), 3u);
    }
    EXPECT_EQ(ran, 4);
  });
}

/// The other predecessor ends while a child of the first one runs.
TEST_P(static_graphs, nodes_end_after_what_they_created) {
  // The wait has a bound, because one may be behind the other in a queue.
  const auto wait_for = [](const std::atomic<bool>& flag) {
    for (int i = 0; i < 2000 && !flag; ++i) std::this_thread::yield();
  };
  for (int round = 0; round < 10; ++round) {
    std::atomic<bool> begun{false}, other_ended{false}, ended{false};
    std::atomic<int> too_early{0};
    kith::static_graph s;
    const auto a = s.add([&] {
      kith::spawn([&] {
        begun = true;
        wait_for(other_ended);
        for (int i = 0; i < 200; ++i) std::this_thread::yield();
        ended = true;
      });
    });
    const auto b = s.add([&] {
      wait_for(begun);
      other_ended = true;
    });
    s.edge(a, s.add([&] { too_early += ended ? 0 : 1; }));
    const auto both = s.add([&] { too_early += ended ? 0 : 1; });
    s.edge(a, both);
    s.edge(b, both);
    rt.run([&] { s.run(); });
    EXPECT_EQ(too_early, 0);
  }
}

}  // namespace
