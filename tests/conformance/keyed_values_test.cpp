// Keyed graphs whose nodes have values, under every policy. Nodes get the right values, in order; each
// value is made once, and destroyed after its last reader.
#include "support/counted.hpp"
#include "support/matrix.hpp"
#include "support/scale.hpp"

#include "base/rng.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <ranges>
#include <string>

namespace {

using kith::keys;
using kith::values;
using kith::test::scaled;
using testing::ElementsAre;
using testing::HasSubstr;

static_assert(std::ranges::random_access_range<values<std::string>>);
static_assert(std::ranges::sized_range<values<std::string>>);

class keyed_values : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};

  template <class G>
  auto explore(G& g, const typename G::key& wanted) {
    return rt.run([&] { return kith::explore(g, wanted); });
  }
};
KITH_FOR_ALL_POLICIES(keyed_values);

using small = kith::test::counted<1>;
using large = kith::test::counted<1000>;

/// A random graph over 0..size-1: node k needs some of the nodes below it, in any order. Counts the paths to node 0.
struct path_values {
  using key = std::uint32_t;
  struct value {
    key node;
    std::uint64_t paths;
  };

  path_values(std::uint32_t size, std::uint32_t most, std::uint64_t seed) : needs(size), computed(size) {
    kith::rng draw(seed, kith::purpose::test, 0);
    for (key k = 1; k < size; ++k) {
      for (std::uint32_t d = 1 + draw.below(most); d > 0; --d) needs[k].push_back(draw.below(k));
    }
  }
  void predecessors(key k, keys<key>& all) const {
    for (key p : needs[k]) all.add(p);
  }
  value compute(key k, const values<value>& from) {
    ++computed[k];
    if (!std::ranges::equal(from, needs[k], {}, &value::node)) ++wrong;
    std::uint64_t sum = k == 0;
    for (const value& v : from) sum += v.paths;
    return {k, sum};
  }
  int color(key k) const { return static_cast<int>(k % 7) - 1; }  // some of them invalid

  std::vector<std::uint64_t> serial() const {
    std::vector<std::uint64_t> sums(needs.size());
    for (key k = 0; k < needs.size(); ++k) {
      sums[k] = k == 0;
      for (key p : needs[k]) sums[k] += sums[p];
    }
    return sums;
  }
  std::vector<std::vector<key>> needs;
  std::vector<std::atomic<int>> computed;
  std::atomic<int> wrong{0};
};

TEST_P(keyed_values, path_counts_of_random_graphs) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    path_values g(static_cast<std::uint32_t>(scaled(400)), 1 + 3 * static_cast<std::uint32_t>(seed), seed);
    const auto last = static_cast<path_values::key>(g.needs.size() - 1);
    kith::exploration did;
    const path_values::value v = rt.run([&] { return kith::explore(g, last, &did); });
    EXPECT_EQ(v.node, last);
    EXPECT_EQ(v.paths, g.serial()[last]);
    EXPECT_EQ(g.wrong, 0);
    std::uint64_t nodes = 0;
    for (const std::atomic<int>& c : g.computed) {
      EXPECT_LE(c, 1);
      nodes += static_cast<std::uint64_t>(c);
    }
    EXPECT_EQ(did.nodes, nodes);
  }
}

TEST_P(keyed_values, several_wanted_ones_in_their_order) {
  path_values g(300, 3, 5);
  const std::vector<std::uint64_t> expected = g.serial();
  const path_values::key wanted[] = {150, 299, 0, 150, 10};  // some that other nodes need, and one twice
  rt.run([&] {
    const std::vector<path_values::value> got = kith::explore(g, std::span<const path_values::key>(wanted));
    ASSERT_EQ(got.size(), std::size(wanted));
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].node, wanted[i]);
      EXPECT_EQ(got[i].paths, expected[wanted[i]]);
    }
    EXPECT_TRUE(kith::explore(g, std::span<const path_values::key>()).empty());
  });
  for (const std::atomic<int>& c : g.computed) EXPECT_LE(c, 1);
}

/// The size of a package with everything that it needs, by name.
struct sizes {
  using key = std::string;
  using value = std::vector<std::string>;
  void predecessors(const key& k, keys<key>& all) const {
    if (k == "app") {
      all.add("ui");
      all.add("lib");
    }
    if (k == "ui") all.add("lib");
  }
  value compute(const key& k, const values<value>& parts) const {
    value all{k};
    for (const value& p : parts) all.insert(all.end(), p.begin(), p.end());
    return all;
  }
};

TEST_P(keyed_values, keys_and_values_of_any_type) {
  sizes g;
  rt.run([&] {
    EXPECT_THAT(kith::explore(g, "app"), ElementsAre("app", "ui", "lib", "lib"));
    EXPECT_THAT(kith::explore(g, {"app", "lib"}),
                ElementsAre(ElementsAre("app", "ui", "lib", "lib"), ElementsAre("lib")));
  });
}

// ---- how long a value lives

template <class T>
struct chain {
  using key = int;
  using value = T;
  void predecessors(key k, keys<key>& all) const {
    if (k > 0) all.add(k - 1);
  }
  T compute(key k, const values<T>& before) {
    if (T::alive > (k > 0 ? 1 : 0)) ++too_many;
    return T(before.empty() ? 0 : before[0].number + 1);
  }
  std::atomic<int> too_many{0};
};

template <class T>
void lives_until_it_is_read(kith::runtime& rt) {
  chain<T> g;
  T::reset();
  const int length = scaled(200);
  EXPECT_EQ(rt.run([&] { return kith::explore(g, length).number; }), static_cast<std::uint64_t>(length));
  EXPECT_EQ(g.too_many, 0);
  EXPECT_LE(T::most, 3);  // one more while a value is moved to its place
  EXPECT_EQ(T::alive, 0);
}
TEST_P(keyed_values, of_a_chain_one_lives_at_a_time) {
  lives_until_it_is_read<small>(rt);
  lives_until_it_is_read<large>(rt);
}

/// Exactly the values of a lattice live that will still be read. With one worker, no other thread changes them.
struct lattice {
  using key = int;
  using value = large;
  static constexpr int side = 12;
  void predecessors(key k, keys<key>& all) const {
    if (k % side > 0) all.add(k - 1);
    if (k >= side) all.add(k - side);
  }
  value compute(key k, const values<value>& from) {
    if (one_worker) {
      int expected = 0;
      for (key p = 0; p < side * side; ++p) {
        const bool right = p % side + 1 < side && !done[static_cast<std::size_t>(p + 1)];
        const bool below = p / side + 1 < side && !done[static_cast<std::size_t>(p + side)];
        expected += done[static_cast<std::size_t>(p)] && (right || below);
      }
      if (expected != value::alive) ++wrong;
      done[static_cast<std::size_t>(k)] = true;
    }
    std::uint64_t sum = k == 0;
    for (const value& v : from) sum += v.number;
    return value(sum);
  }
  bool one_worker = false;
  std::array<bool, side * side> done{};
  int wrong = 0;
};

TEST_P(keyed_values, of_a_lattice_those_live_that_will_be_read) {
  lattice g;
  g.one_worker = rt.workers() == 1;
  EXPECT_EQ(explore(g, lattice::side * lattice::side - 1).number, 705432u);  // 22 over 11
  EXPECT_EQ(g.wrong, 0);
  EXPECT_EQ(large::alive, 0);
}

struct failing_lattice : lattice {
  explicit failing_lattice(key k) : at(k) {}
  value compute(key k, const values<value>& from) {
    if (k == at) throw std::runtime_error("at " + std::to_string(k));
    return lattice::compute(k, from);
  }
  key at;
};

TEST_P(keyed_values, failures_reach_who_asked_and_leave_nothing) {
  for (int at = 0; at < lattice::side * lattice::side; at += 11) {
    failing_lattice g(at);
    EXPECT_THAT([&] { explore(g, lattice::side * lattice::side - 1); },
                testing::ThrowsMessage<std::runtime_error>("at " + std::to_string(at)));
    EXPECT_EQ(large::alive, 0);
  }
}

struct cancelling_lattice : lattice {
  value compute(key k, const values<value>& from) {
    if (k == 30) kith::cancel();
    return lattice::compute(k, from);
  }
};
struct cancelling_explorer : lattice {
  void predecessors(key k, keys<key>& all) const {
    if (k == 0) kith::cancel();  // the last node that is found on this path
    lattice::predecessors(k, all);
  }
};

TEST_P(keyed_values, what_was_cancelled_has_no_value) {
  const auto no_value =
      testing::ThrowsMessage<kith::error>(HasSubstr("'143' has no value: the exploration was cancelled"));
  cancelling_lattice g;
  EXPECT_THAT([&] { explore(g, 143); }, no_value);
  cancelling_explorer other;
  EXPECT_THAT([&] { explore(other, 143); }, no_value);
  EXPECT_EQ(large::alive, 0);
}

struct ring {
  using key = int;
  using value = small;
  void predecessors(key k, keys<key>& all) const {
    if (k < 100) all.add(k + 100);  // can be computed
    if (k < 100) all.add((k + 1) % 20);
  }
  small compute(key, const values<small>&) const { return small(1); }
};

TEST_P(keyed_values, a_cycle_is_one_and_leaves_nothing) {
  ring g;
  EXPECT_THROW(explore(g, 5), kith::cycle<int>);
  EXPECT_EQ(small::alive, 0);
}

// ---- values that cannot be copied, and taking

/// One buffer goes from node to node; each adds to it.
struct relay {
  using key = int;
  using value = std::unique_ptr<std::vector<int>>;
  void predecessors(key k, keys<key>& all) const {
    if (k > 0) all.add(k - 1);
  }
  value compute(key k, const values<value>& before) {
    value mine = k == 0 ? std::make_unique<std::vector<int>>() : before.take(0);
    if (k == 0) first = mine.get();
    mine->push_back(k);
    return mine;
  }
  std::vector<int>* first = nullptr;
};

TEST_P(keyed_values, only_reader_takes_the_value_itself) {
  relay g;
  const relay::value last = explore(g, 49);
  EXPECT_EQ(last.get(), g.first);
  EXPECT_EQ(last->size(), 50u);
  EXPECT_TRUE(std::ranges::is_sorted(*last));
}

/// Several nodes read node 0, and each takes its value.
template <class T>
struct greedy {
  using key = int;
  using value = T;
  void predecessors(key k, keys<key>& all) const {
    if (k == 9) {
      for (key p = 1; p < 9; ++p) all.add(p);
    } else if (k > 0) {
      all.add(0);
    }
  }
  T compute(key k, const values<T>& from) const {
    if (k == 0) return make();
    return from.take(0);
  }
  static T make() {
    if constexpr (std::is_copy_constructible_v<T>) {
      return T{1, 2, 3};
    } else {
      return std::make_unique<int>(7);
    }
  }
};

TEST_P(keyed_values, what_others_read_is_copied_or_refused) {
  greedy<std::vector<int>> copied;
  EXPECT_THAT(explore(copied, 9), ElementsAre(1, 2, 3));
  greedy<std::unique_ptr<int>> refused;
  EXPECT_THAT([&] { explore(refused, 9); }, testing::ThrowsMessage<kith::error>(HasSubstr("take(0): others read")));
  EXPECT_EQ(*explore(refused, 1), 7);
  rt.run([&] {
    EXPECT_THAT([&] { kith::explore(refused, {0, 1}); },
                testing::ThrowsMessage<kith::error>(HasSubstr("take(0): others read")));
    EXPECT_THAT([&] { kith::explore(refused, {0, 0}); },
                testing::ThrowsMessage<kith::error>(HasSubstr("node '0' is wanted twice")));
  });
}

// ---- graphs of other kinds

/// Each node names two further ones, which need it. All values are kept, because later nodes are not known.
struct tree_of_values {
  using key = std::uint32_t;
  using value = small;
  void predecessors(key k, keys<key>& all) const {
    if (k > 1) all.add(k / 2);
    if (k > 3) all.add(1);
  }
  small compute(key k, const values<small>& from, keys<key>& further) {
    ++computed;
    if (k < 64) further.add(2 * k);
    if (k < 64) further.add(2 * k + 1);
    for (const small& v : from) {
      if (v.number == 0 || v.number > k) ++wrong;
    }
    if (!from.empty()) sum += from.take(0).number;
    return small(k);
  }
  std::atomic<int> computed{0}, wrong{0};
  std::atomic<std::uint64_t> sum{0};
};

TEST_P(keyed_values, nodes_generate_further_nodes) {
  tree_of_values g;
  EXPECT_EQ(explore(g, 1).number, 1u);
  EXPECT_EQ(g.computed, 127);
  EXPECT_EQ(g.wrong, 0);
  EXPECT_EQ(g.sum, 63u * 64);
  EXPECT_EQ(small::alive, 0);
}

/// Fibonacci's numbers. A node also explores what it needs itself.
struct nested_values {
  using key = int;
  using value = std::uint64_t;
  void predecessors(key k, keys<key>& all) const {
    if (k > 1) all.add(k - 1);
    if (k > 1) all.add(k - 2);
  }
  std::uint64_t compute(key k, const values<std::uint64_t>& from) {
    if (k == 12) inner = kith::explore(*this, 10);
    kith::spawn([this] { ++children; });
    return k < 2 ? static_cast<std::uint64_t>(k) : from[0] + from[1];
  }
  std::atomic<std::uint64_t> inner{0};
  std::atomic<int> children{0};
};

TEST_P(keyed_values, a_node_explores_and_has_children) {
  nested_values g;
  EXPECT_EQ(explore(g, 30), 832040u);
  EXPECT_EQ(g.inner, 55u);
  EXPECT_EQ(g.children, 31 + 11);
}

/// Tasks that a node spawns may read what the node reads.
struct spawning : chain<large> {
  large compute(key k, const values<large>& before) {
    if (k > 0) {
      kith::spawn([this, before] { kith::spawn([this, before] { sum += before[0].number; }); });
    }
    return large(static_cast<std::uint64_t>(k));
  }
  std::atomic<std::uint64_t> sum{0};
};

TEST_P(keyed_values, are_there_for_what_a_node_spawns) {
  spawning g;
  EXPECT_EQ(explore(g, 50).number, 50u);
  EXPECT_EQ(g.sum, 49u * 50 / 2);
  EXPECT_EQ(large::alive, 0);
}

/// Nodes that do not ask predecessors for their values.
struct alone {
  using key = int;
  using value = int;
  void predecessors(key k, keys<key>& all) const {
    if (k > 0) all.add(k / 2);
  }
  int compute(key k) const { return k * k; }
};
/// Not a graph with values, because no node takes any.
struct unused {
  using key = int;
  using value = int;
  void predecessors(key, keys<key>&) const {}
  void compute(key) const {}
};
static_assert(kith::valued_graph<alone> && kith::valued_graph<tree_of_values>);
static_assert(kith::keyed_graph<unused> && !kith::valued_graph<unused>);

TEST_P(keyed_values, a_value_without_looking_at_others) {
  alone g;
  EXPECT_EQ(explore(g, 9), 81);
  unused u;
  EXPECT_EQ(explore(u, 9).nodes, 1u);
}

}  // namespace
