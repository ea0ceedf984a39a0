// Keyed graphs of extreme shape, and what is counted for them.
#include "support/scale.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using kith::keys;
using kith::test::make_options;
using kith::test::million;

struct chain {
  using key = std::uint32_t;
  void predecessors(key k, keys<key>& all) const {
    if (k > 0) all.add(k - 1);
  }
  void compute(key) { ++computed; }
  std::uint32_t computed = 0;  // one after the other
};

TEST(graph, a_chain_of_a_million_nodes_needs_no_stack) {
  for (const char* policy : {"steal", "nabbitc"}) {
    kith::runtime_options o = make_options(2, policy);
    o.stack_bytes = 1 << 20;
    kith::runtime rt(o);
    chain g;
    rt.run([&] { kith::explore(g, million - 1); });
    EXPECT_EQ(g.computed, million) << policy;
  }
}

struct star {
  using key = std::uint32_t;
  void predecessors(key k, keys<key>& all) const {
    for (key p = 1; k == 0 && p <= million; ++p) all.add(p);
  }
  void compute(key) { computed.fetch_add(1, std::memory_order_relaxed); }
  std::atomic<std::uint32_t> computed{0};
};

TEST(graph, a_node_with_a_million_predecessors) {
  for (const char* policy : {"steal", "nabbitc"}) {
    kith::runtime rt(make_options(2, policy));
    star g;
    kith::exploration done;
    rt.run([&] { done = kith::explore(g, 0u); });
    EXPECT_EQ(g.computed, million + 1);
    EXPECT_EQ(done.most_predecessors, million);
    EXPECT_EQ(done.edges, million);
  }
}

TEST(graph, a_long_ring_is_a_cycle_of_all_its_keys) {
  struct ring {
    using key = std::uint32_t;
    void predecessors(key k, keys<key>& all) const { all.add((k + 1) % 100'000); }
    void compute(key) {}
  } g;
  kith::runtime rt(make_options(2, "steal"));
  rt.run([&] {
    try {
      kith::explore(g, 5u);
      FAIL() << "no exception";
    } catch (const kith::cycle<std::uint32_t>& e) {
      EXPECT_EQ(e.keys.size(), 100'000u);
      EXPECT_LT(std::string(e.what()).size(), 400u);
    }
  });
}

/// Two nodes without predecessors, and one that needs both. The test sets the colors.
struct colored {
  using key = int;
  void predecessors(key k, keys<key>& all) const {
    if (k != 2) return;
    all.add(0);
    all.add(1);
  }
  void compute(key) {}
  int color(key k) const { return colors[k]; }
  int node(key) const { return 0; }  // `socket` runs all of them on node 0
  int colors[3];
};

// Section 3.5 of the algorithms: a node counts itself and each predecessor, by color.
TEST(graph, remote_accesses_by_color) {
  const auto counted = [](int a, int b, int c) {
    kith::runtime rt(make_options(4, "socket", "node:2 core:2"));
    colored g{{a, b, c}};
    rt.run([&] { kith::explore(g, 2); });
    const kith::statistics s = rt.statistics();
    EXPECT_EQ(s.local_accesses + s.remote_accesses, 5u);
    EXPECT_EQ(s.total.tasks, 3u);
    return s.remote_accesses;
  };
  EXPECT_EQ(counted(0, 1, 0), 0u);   // workers 0 and 1 are on node 0
  EXPECT_EQ(counted(0, 2, 0), 2u);   // the node of color 2, and its successor's read of it
  EXPECT_EQ(counted(2, 3, 99), 5u);  // no worker has color 99
}

struct touching {
  using key = int;
  void predecessors(key k, keys<key>& all) const {
    if (k > 0) all.add(k - 1);
  }
  void compute(key) {}
  void accesses(key k, kith::access_list& all) {
    all.add(kith::out(cells[k]));
    if (k > 0) all.add(kith::in(cells[k - 1]));
  }
  int node(key k) const { return k; }
  int cells[3][16];
};

TEST(graph, remote_accesses_by_home_where_there_are_no_colors) {
  kith::runtime rt(make_options(3, "socket", "node:3 core:1"));
  touching g;
  rt.run([&] { kith::explore(g, 2); });
  const kith::statistics s = rt.statistics();
  EXPECT_EQ(s.local_accesses, 3u);   // each node's own cell, which it touches first
  EXPECT_EQ(s.remote_accesses, 2u);  // what its predecessor wrote
}

/// Layers of nodes; each needs three of the layer before.
struct layers {
  using key = int;
  static constexpr int width = 64;
  int workers;
  void predecessors(key k, keys<key>& all) const {
    if (k == width * 20) {
      for (key p = width * 19; p < width * 20; ++p) all.add(p);
    } else if (k >= width) {
      for (int d : {-1, 0, 1}) all.add(k / width * width - width + (k + d + width) % width);
    }
  }
  void compute(key) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    while (std::chrono::steady_clock::now() < until) {
    }
  }
  int color(key k) const { return k % width * workers / width; }
};

/// Called when no thief looks for tasks, so that the counters of a worker agree.
kith::statistics statistics_of_idle(const kith::runtime& rt) {
  kith::statistics before, now = rt.statistics();
  do {
    before = std::move(now);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    now = rt.statistics();
  } while (now.total.steal_attempts != before.total.steal_attempts);
  return now;
}

// NabbitC paper, section III: a worker's first successful steal is colored. So a worker that has stolen has
// a colored steal.
TEST(graph, the_first_steal_of_a_worker_is_colored) {
  kith::runtime rt(make_options(4, "nabbitc:budget=1048576"));
  layers g{4};
  kith::statistics before = statistics_of_idle(rt);
  for (int run = 0; run < 20; ++run) {
    rt.run([&] { kith::explore(g, layers::width * 20); });
    kith::statistics now = statistics_of_idle(rt);
    for (std::size_t i = 0; i < now.workers.size(); ++i) {
      const kith::worker_statistics &w = now.workers[i], &old = before.workers[i];
      EXPECT_TRUE(w.steals == old.steals || w.colored_steals > old.colored_steals);
      EXPECT_LE(w.colored_steals, w.colored_attempts);
      EXPECT_LE(w.colored_steals, w.steals);
      EXPECT_LE(w.colored_attempts, w.steal_attempts);
      EXPECT_TRUE(w.first_steal_seconds < 0 || w.steals > 0);
    }
    before = std::move(now);
  }
  EXPECT_GT(before.total.steals, 0u);
}

/// Keys that can be constructed from two pointers as well as from one.
struct named {
  using key = std::string;
  void predecessors(const key& k, keys<key>& all) const {
    if (k == "app") all.add("lib");
  }
  void compute(const key& k) {
    std::lock_guard lock(guard);
    computed.push_back(k);
  }
  std::mutex guard;
  std::vector<std::string> computed;
};

TEST(graph, a_list_in_braces_is_a_list_of_keys) {
  kith::runtime rt(make_options(1, "fifo"));
  rt.run([] {
    named g;
    EXPECT_EQ(kith::explore(g, {"app", "lib"}).nodes, 2u);
    EXPECT_EQ(g.computed, (std::vector<std::string>{"lib", "app"}));
    EXPECT_EQ(kith::explore(g, {"app"}).nodes, 2u);
    EXPECT_EQ(kith::explore(g, "app").nodes, 2u);
    EXPECT_EQ(kith::explore(g, std::vector<std::string>{"lib", "other"}).nodes, 2u);
    const std::string array[] = {"lib"};
    EXPECT_EQ(kith::explore(g, array).nodes, 1u);
    EXPECT_EQ(kith::explore(g, {}).nodes, 0u);
    chain c;
    EXPECT_EQ(kith::explore(c, {3u, 5u, 5u}).nodes, 6u);
  });
}

/// A key that is itself written in braces.
struct cell {
  int row, column;
  bool operator==(const cell&) const = default;
};

}  // namespace

template <>
struct std::hash<cell> {
  std::size_t operator()(cell c) const noexcept { return static_cast<std::size_t>(c.row * 1000 + c.column); }
};

namespace {

struct cells {
  using key = cell;
  void predecessors(cell c, keys<cell>& all) const {
    if (c.row > 0) all.add({c.row - 1, c.column});
  }
  void compute(cell) {}
};

TEST(graph, a_key_in_braces_is_a_key) {
  kith::runtime rt(make_options(1, "fifo"));
  rt.run([] {
    cells g;
    EXPECT_EQ(kith::explore(g, {4, 7}).nodes, 5u);
    EXPECT_EQ(kith::explore(g, {{4, 7}, {0, 1}}).nodes, 6u);
  });
}

// ---- nodes with values

/// Two nodes, and one that needs both. The test sets the colors.
struct colored_values : colored {
  using value = int;
  explicit colored_values(int a, int b, int c) : colored{{a, b, c}} {}
  int compute(key k, kith::values<int> from) { return std::accumulate(from.begin(), from.end(), k); }
};

TEST(graph, remote_accesses_are_counted_by_color_where_nodes_have_values_too) {
  const auto counted = [](int a, int b, int c) {
    kith::runtime rt(make_options(4, "socket", "node:2 core:2"));
    colored_values g(a, b, c);
    EXPECT_EQ(rt.run([&] { return kith::explore(g, 2); }), 3);
    const kith::statistics s = rt.statistics();
    EXPECT_EQ(s.local_accesses + s.remote_accesses, 5u);
    EXPECT_EQ(s.total.tasks, 3u);
    return s.remote_accesses;
  };
  EXPECT_EQ(counted(0, 1, 0), 0u);
  EXPECT_EQ(counted(0, 2, 0), 2u);
  EXPECT_EQ(counted(2, 3, 99), 5u);
}

/// Nodes that declare their cost. `Value` may or may not be default-constructible.
template <class Value>
struct costly {
  using key = int;
  using value = Value;
  void predecessors(key k, keys<key>& all) const {
    if (k > 0) all.add(k - 1);
  }
  double cost(key) const { return 1000; }
  Value compute(key k, const kith::values<Value>&) {
    ++computed;
    return Value(k);
  }
  int computed = 0;
};
struct no_default {
  explicit no_default(int n) : number(n) {}
  int number;
};

TEST(graph, a_dry_run_makes_up_values_or_computes_them) {
  kith::runtime_options o = make_options(1, "fifo");
  o.dry = true;
  kith::runtime rt(o);
  rt.run([] {
    costly<int> made_up;
    kith::exploration did;
    EXPECT_EQ(kith::explore(made_up, 9, &did), 0);
    EXPECT_EQ(made_up.computed, 0);
    EXPECT_EQ(did.work, 10'000);
    costly<no_default> computed;
    EXPECT_EQ(kith::explore(computed, 9).number, 9);
    EXPECT_EQ(computed.computed, 10);
  });
}

struct long_sum {
  using key = std::uint32_t;
  using value = std::uint64_t;
  void predecessors(key k, keys<key>& all) const {
    if (k > 0) all.add(k - 1);
    for (key p = 0; k == last && p + 1 < last; ++p) all.add(p);
  }
  value compute(key, const kith::values<value>& from) const { return from.empty() ? 1 : from[0]; }
  static constexpr key last = 3 * (million / 10);
};

TEST(graph, values_of_a_long_chain_whose_last_node_reads_all) {
  for (const char* policy : {"steal", "nabbitc"}) {
    kith::runtime_options o = make_options(2, policy);
    o.stack_bytes = 1 << 20;
    kith::runtime rt(o);
    long_sum g;
    EXPECT_EQ(rt.run([&] { return kith::explore(g, long_sum::last); }), 1u);
  }
}

TEST(graph, outside_of_tasks_it_is_an_error) {
  chain g;
  EXPECT_THROW(kith::explore(g, 3u), kith::error);
  kith::static_graph s;
  s.add([] {});
  EXPECT_THROW(s.run(), kith::error);
}

TEST(graph, an_empty_one_is_no_work) {
  kith::runtime rt(make_options(2, "nabbitc"));
  rt.run([] {
    chain g;
    EXPECT_EQ(kith::explore(g, std::span<const std::uint32_t>()).nodes, 0u);
    kith::static_graph s;
    s.run();
  });
}

TEST(graph, a_static_graph_does_not_run_inside_itself) {
  kith::runtime rt(make_options(2, "steal"));
  rt.run([] {
    kith::static_graph s;
    s.add([&] { EXPECT_THROW(s.run(), kith::error); });
    s.run();
  });
}

}  // namespace
