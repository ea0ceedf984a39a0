// Small programs with every kind of task that a recording can have, for tests that compare whole runs.
#pragma once

#include "base/rng.hpp"

#include <kith/kith.hpp>
#include <kith/pending_tasks.hpp>

#include <array>
#include <functional>
#include <numeric>
#include <vector>

namespace kith::test {

/// Data-flow tasks with all kinds of accesses.
inline void random_accesses(runtime& rt) {
  static std::array<int, 12> data;
  rng draw(5, purpose::test, 0);
  rt.run([&] {
    for (int t = 0; t < 300; ++t) {
      access_list all;
      for (std::uint32_t a = draw.below(4); a > 0; --a) {
        int& x = data[draw.below(12)];
        switch (draw.below(5)) {
          case 0: all.add(out(x)); break;
          case 1: all.add(inout(x)); break;
          case 2: all.add(concurrent(x)); break;
          case 3: all.add(commutative(x)); break;
          default: all.add(in(x)); break;
        }
      }
      spawn([] {}, all, color{t % 5}, node{t % 3});
    }
    wait();
    for (int t = 0; t < 20; ++t) spawn([] {}, inout(data[0]));
  });
}

/// Tasks that create tasks and wait for them.
inline void fork_and_join(runtime& rt) {
  const std::function<void(int)> tree = [&tree](int depth) {
    if (depth == 0) return;
    for (int i = 0; i < 3; ++i) spawn([&tree, depth] { tree(depth - 1); });
    wait();
    spawn([] {});
  };
  rt.run([&] { tree(4); });
}

/// A keyed graph: a grid, from its corner.
inline void keyed_grid(runtime& rt) {
  struct grid {
    using key = int;
    void predecessors(int k, keys<int>& all) {
      if (k % 12 > 0) all.add(k - 1);
      if (k >= 12) all.add(k - 12);
    }
    void compute(int) {}
    int color(int k) const { return k / 40; }
  } g;
  rt.run([&] { explore(g, 143); });
}

/// The same grid, whose nodes have values.
inline void valued_grid(runtime& rt) {
  struct grid {
    using key = int;
    using value = std::uint64_t;
    void predecessors(int k, keys<int>& all) {
      if (k % 12 > 0) all.add(k - 1);
      if (k >= 12 && k % 5 != 0) all.add(k - 12);
    }
    std::uint64_t compute(int, values<std::uint64_t> from) { return std::reduce(from.begin(), from.end(), value{1}); }
    int color(int k) const { return k / 40; }
  } g;
  rt.run([&] { explore(g, 143); });
}

/// A captured graph with all kinds of accesses, whose nodes create tasks, run twice.
inline void captured_accesses(runtime& rt) {
  static std::array<int, 4> data;
  captured_graph g;
  rt.run([&] {
    g.capture([] {
      for (int t = 0; t < 30; ++t) {
        int& x = data[static_cast<std::size_t>(t) % 4];
        int& y = data[static_cast<std::size_t>(t) % 3];
        const task_ref first = spawn([] { spawn([] {}); }, inout(x), in(y));
        if (t % 5 == 0) spawn([] {}, after{first}, color{t % 3});
        if (t % 7 == 0) spawn([] {}, commutative(x));
        if (t % 7 == 1) spawn([] {}, concurrent(y));
      }
    });
    g.run();
    g.run();
  });
}

/// A static graph: a diamond of chains, run twice.
inline void static_diamond(runtime& rt) {
  static_graph g;
  std::vector<static_graph::node> nodes;
  for (int n = 0; n < 60; ++n) nodes.push_back(g.add([] {}));
  for (std::size_t n = 1; n + 1 < 60; ++n) {
    g.edge(nodes[n < 7 ? 0 : n - 6], nodes[n]);
    if (n > 12) g.edge(nodes[n - 11], nodes[n]);
    g.edge(nodes[n], nodes[59]);
  }
  rt.run([&] { g.run(); });
  rt.run([&] { g.run(); });
}

/// Groups that their own tasks fill: a tree, and a list.
inline void filled_groups(runtime& rt) {
  struct filler {
    group& tasks;
    void operator()(int depth) const {
      for (int c = 0; depth > 0 && c < 3; ++c) tasks.spawn([*this, depth] { (*this)(depth - 1); });
      if (depth == 2) spawn([*this] { tasks.spawn([] {}); });
    }
  };
  rt.run([] {
    for (int round = 0; round < 2; ++round) {
      group g;
      g.spawn([&g] { filler{g}(4); });
      for (int i = 0; i < 10; ++i) g.spawn([&g] { g.spawn([] {}); });
      g.wait();
      g.spawn([&g] { g.spawn([] {}); });
    }
  });
}

/// Tasks that wait for arguments: a wavefront whose tasks deliver to each other, and a tree that schedules itself.
inline void delivered_arguments(runtime& rt) {
  constexpr std::size_t side = 6;
  struct tree {
    pending_tasks& tasks;
    void operator()(int depth, pending_task sum) const {
      if (depth == 0) return sum.deliver(0, 1L);
      const pending_task add = tasks.schedule([sum](long a, long b, long c) { sum.deliver(0, a + b + c); });
      for (std::size_t c = 0; c < 3; ++c) {
        const pending_task pass = tasks.schedule([add, c](long x) { add.deliver(c, x); });
        tasks.schedule([*this, depth, pass] { (*this)(depth - 1, pass); });
      }
    }
  };
  rt.run([] {
    std::array<std::array<long, 32>, side * side> data{};
    pending_tasks tasks;
    std::array<pending_task, side * side + 1> at;
    for (std::size_t i = 0; i < side * side; ++i) {
      at[i] = tasks.schedule([i, &at](std::span<long> mine, std::span<const long> above, std::span<const long> left) {
        mine[0] = above[0] + left[0] + 1;
        if (i % side + 1 < side) at[i + 1].deliver(2, in(mine));
        if (i / side + 1 < side) at[i + side].deliver(1, in(mine));
      });
    }
    for (std::size_t i = 0; i < side * side; ++i) {
      if (i < side) at[i].deliver(1, in(data[i]));
      if (i % side == 0) at[i].deliver(2, in(data[i]));
      at[i].deliver(0, inout(data[i]));
    }
    tasks.wait();
    long total = 0;
    at.back() = tasks.schedule([&total](long sum) { total = sum; });
    tasks.schedule([&tasks, &at] { tree{tasks}(3, at.back()); });
    tasks.wait();
    if (data.back()[0] != 923 || total != 27) throw error("the sums are wrong");
  });
}

/// Tasks from a thread that is no worker, with a run before and after.
inline void from_outside(runtime& rt) {
  static std::array<int, 3> data;
  rt.run([] { spawn([] {}); });
  for (int t = 0; t < 50; ++t)
    static_cast<void>(rt.submit([] { spawn([] {}); }, inout(data[static_cast<std::size_t>(t) % 3])));
  rt.wait();
  rt.run([] { spawn([] {}); });
}

inline constexpr void (*programs[])(runtime&) = {random_accesses, fork_and_join, keyed_grid,          valued_grid,
                                                 static_diamond,  filled_groups, delivered_arguments, from_outside};

}  // namespace kith::test
