// Keyed graphs under every policy: each node runs once, after the nodes that it needs; failures, cycles, nesting.
#include "support/matrix.hpp"
#include "support/path_graph.hpp"
#include "support/scale.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>

namespace {

using kith::keys;
using kith::test::path_graph;
using kith::test::scaled;
using testing::HasSubstr;

class keyed : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};

  template <class G>
  kith::exploration explore(G& g, const typename G::key& wanted) {
    return rt.run([&] { return kith::explore(g, wanted); });
  }
};
KITH_FOR_ALL_POLICIES(keyed);

TEST_P(keyed, path_counts_of_random_graphs) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    path_graph g(static_cast<std::uint32_t>(scaled(400)), 1 + 3 * static_cast<std::uint32_t>(seed), seed);
    const auto wanted = static_cast<path_graph::key>(g.needs.size() - 1);
    const kith::exploration done = explore(g, wanted);
    EXPECT_EQ(g.paths, g.serial(wanted));
    EXPECT_EQ(g.too_early, 0);
    std::uint64_t nodes = 0, edges = 0, most = 0;
    for (path_graph::key k = 0; k <= wanted; ++k) {
      EXPECT_LE(g.computed[k], 1);
      EXPECT_EQ(g.computed[k], g.named[k]);
      if (g.computed[k] == 0) continue;
      ++nodes;
      edges += g.needs[k].size();
      most = std::max<std::uint64_t>(most, g.needs[k].size());
    }
    EXPECT_EQ(done.nodes, nodes);
    EXPECT_EQ(done.edges, edges);
    EXPECT_EQ(done.most_predecessors, most);
  }
}

/// A chain of strings, each with a cost.
struct spelled_chain {
  using key = std::string;
  void predecessors(const key& k, keys<key>& all) const {
    if (!k.empty()) all.add(k.substr(1));
  }
  void compute(const key& k) {
    if (k.size() != computed) wrong = true;
    ++computed;
  }
  double cost(const key& k) const { return static_cast<double>(k.size()); }
  std::size_t computed = 0;
  bool wrong = false;
};

TEST_P(keyed, keys_of_any_type) {
  spelled_chain g;
  const kith::exploration done = explore(g, std::string(60, 'x'));
  EXPECT_EQ(g.computed, 61u);
  EXPECT_FALSE(g.wrong);
  EXPECT_EQ(done.work, 60 * 61 / 2);
}

struct fan {
  using key = int;  // 0 needs 1..width
  explicit fan(int w) : width(w) {}
  void predecessors(key k, keys<key>& all) const {
    for (int p = 1; k == 0 && p <= width; ++p) all.add(p);
  }
  void compute(key k) { k == 0 ? void(at_sink = leaves.load()) : void(++leaves); }
  int width;
  std::atomic<int> leaves{0};
  int at_sink = -1;
};

TEST_P(keyed, a_node_with_many_predecessors) {
  fan g(scaled(kith::test::sanitized ? 1000 : 3000));
  explore(g, 0);
  EXPECT_EQ(g.at_sink, g.width);
}

/// A binary tree that grows: each node names two further ones.
struct growing_tree {
  using key = std::uint32_t;
  void predecessors(key k, keys<key>& all) const {
    if (k > 1) all.add(k / 2);
  }
  void compute(key k, keys<key>& further) {
    ++computed;
    if (k >= (1u << depth)) return;
    further.add(2 * k);
    further.add(2 * k + 1);
    further.add(k);  // known, so not computed again
  }
  std::uint32_t depth = 8;
  std::atomic<int> computed{0};
};

TEST_P(keyed, nodes_generate_further_nodes) {
  growing_tree g;
  const kith::exploration done = explore(g, 1);
  EXPECT_EQ(g.computed, (1 << 9) - 1);
  EXPECT_EQ(done.nodes, (1u << 9) - 1);
}

TEST_P(keyed, several_wanted_nodes_and_several_explorations_at_once) {
  path_graph a(200, 3, 1), b(200, 3, 2);
  rt.run([&] {
    kith::spawn([&] {
      const path_graph::key wanted[] = {150, 199, 150, 10};
      kith::explore(a, std::span<const path_graph::key>(wanted));
    });
    kith::spawn([&] { kith::explore(b, 199u); });
  });
  EXPECT_EQ(b.paths, b.serial(199));
  const auto one = a.serial(150), other = a.serial(199);
  for (std::size_t k = 0; k < 200; ++k) EXPECT_EQ(a.paths[k], std::max(one[k], other[k]));
}

/// Nodes whose work is tasks, and nodes that run graphs of their own.
struct nested {
  using key = int;
  void predecessors(key k, keys<key>& all) const {
    if (k > 0) all.add(k - 1);
  }
  void compute(key) {
    for (int i = 0; i < 3; ++i) kith::spawn([this] { ++tasks; });
    kith::wait();
    fan inner(4);
    kith::explore(inner, 0);
    leaves += inner.leaves;
    kith::spawn([this] { ++tasks; });  // the node's end waits for it
  }
  std::atomic<int> tasks{0}, leaves{0};
};

TEST_P(keyed, nodes_have_children_and_graphs_of_their_own) {
  nested g;
  explore(g, 30);
  EXPECT_EQ(g.tasks, 4 * 31);
  EXPECT_EQ(g.leaves, 4 * 31);
}

/// Deep nesting: every node explores the next graph while it computes.
struct matryoshka {
  using key = int;
  void predecessors(key, keys<key>&) const {}
  void compute(key k) {
    ++computed;
    if (k > 0) kith::explore(*this, k - 1);
  }
  std::atomic<int> computed{0};
};

TEST_P(keyed, graphs_inside_graphs) {
  matryoshka g;
  explore(g, 50);
  EXPECT_EQ(g.computed, 51);
}

// ---- failures

enum class where : std::uint8_t { predecessors, compute, color, accesses };

/// A diamond lattice that fails at one key.
struct failing {
  using key = int;
  static constexpr int width = 6;
  failing(where w, key k) : place(w), at(k) {}
  void check(where w, key k) const {
    if (w == place && k == at) throw std::runtime_error("at " + std::to_string(k));
  }
  void predecessors(key k, keys<key>& all) const {
    if (k % width != 0) all.add(k - 1);
    if (k >= width) all.add(k - width);
    check(where::predecessors, k);
  }
  void compute(key k) const { check(where::compute, k); }
  int color(key k) const {
    check(where::color, k);
    return k % width;
  }
  where place;
  key at;
};

TEST_P(keyed, failures_reach_the_waiter_wherever_they_happen) {
  for (where w : {where::predecessors, where::compute, where::color}) {
    for (int at = 0; at < 36; at += 5) {
      failing g(w, at);
      try {
        explore(g, 35);
        ADD_FAILURE() << "no exception";
      } catch (const std::runtime_error& e) {
        EXPECT_EQ(std::string(e.what()), "at " + std::to_string(at));
      }
    }
  }
  failing fine(where::accesses, -1);  // the runtime works as before
  EXPECT_EQ(explore(fine, 35).nodes, 36u);
}

struct commutative_access {
  using key = int;
  void predecessors(key, keys<key>&) const {}
  void compute(key) const {}
  void accesses(key, kith::access_list& all) { all.add(kith::commutative(x)); }
  int x = 0;
};

TEST_P(keyed, commutative_accesses_are_refused_where_accesses_are_looked_at) {
  commutative_access g;
  if (GetParam().machine.empty()) return;
  EXPECT_THROW(explore(g, 1), kith::error);
}

/// `tail` nodes lead into a ring of `ring` nodes.
struct lasso {
  using key = int;
  lasso(int t, int r) : tail(t), ring(r) {}
  void predecessors(key k, keys<key>& all) const {
    all.add(k + 1 < tail + ring ? k + 1 : tail);
    if (k < tail) all.add(1000 + k);  // a second predecessor, which can be computed
  }
  void compute(key) { ++computed; }
  int tail, ring;
  std::atomic<int> computed{0};
};
struct lasso_of_leaves : lasso {
  using lasso::lasso;
  void predecessors(key k, keys<key>& all) const {
    if (k < 1000) lasso::predecessors(k, all);
  }
};

TEST_P(keyed, a_cycle_is_reported_with_its_keys) {
  for (int tail : {0, 3}) {
    for (int ring : {1, 2, 20}) {
      lasso_of_leaves g(tail, ring);
      try {
        explore(g, 0);
        ADD_FAILURE() << "no exception";
      } catch (const kith::cycle<int>& e) {
        std::vector<int> in = e.keys;
        EXPECT_EQ(in.size(), static_cast<std::size_t>(ring));
        for (std::size_t i = 0; i < in.size(); ++i) {
          const int next = in[i] + 1 < tail + ring ? in[i] + 1 : tail;
          EXPECT_EQ(in[(i + 1) % in.size()], next);
        }
        EXPECT_THAT(e.what(), HasSubstr("cycle of " + std::to_string(ring)));
        EXPECT_THAT(e.what(), HasSubstr(std::to_string(tail)));
      }
      if (ring > 1) {
        EXPECT_EQ(g.computed, tail);
      }
    }
  }
}

/// Keys that own memory: nothing of a failed exploration may remain.
struct counted_key {
  explicit counted_key(int v) : value(v), token(std::make_shared<int>(v)) {}
  bool operator==(const counted_key& o) const { return value == o.value; }
  int value;
  std::shared_ptr<int> token;
};

}  // namespace

template <>
struct std::hash<counted_key> {
  std::size_t operator()(const counted_key& k) const noexcept { return std::hash<int>()(k.value); }
};

namespace {

struct owning_ring {
  using key = counted_key;
  void predecessors(const key& k, keys<key>& all) {
    seen = k.token;
    all.add(counted_key((k.value + 1) % 5));
  }
  void compute(const key&) const {}
  std::weak_ptr<int> seen;
};

TEST_P(keyed, nothing_is_left_of_a_cycle) {
  owning_ring g;
  EXPECT_THROW(explore(g, counted_key(0)), kith::cycle<counted_key>);
  EXPECT_TRUE(g.seen.expired());
}

struct cancelling {
  using key = int;
  void predecessors(key k, keys<key>& all) const {
    if (k > 0) all.add(k - 1);
  }
  void compute(key k) {
    ++computed;
    if (k == 10) kith::cancel();
  }
  int computed = 0;
};

TEST_P(keyed, a_cancelled_exploration_skips_the_rest) {
  cancelling g;
  explore(g, 30);
  EXPECT_EQ(g.computed, 11);
}

// ---- static graphs

}  // namespace
