// Kinds of discrete problems: searches, sorts, dynamic programming, and trees of tasks that create tasks. A task
// without stated work is not skipped in a dry run, so that those which create others do. Sizes mean the same as in
// kinds.cpp, unless a comment says otherwise.
#include "irregular.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace kith::bench {
namespace {

constexpr index page = 4096;

// Alignments of STEPS pairs of sequences (Smith and Waterman) of different lengths: a tile reads a part of both and the
// edges of three tiles before it, and keeps only its edges. A chain then walks back along the diagonal. Nothing waits.
// BLOCKS tiles in all, roughly.
void alignments(const sizes& s) {
  struct alignment {
    blocks first, second, edges, best;
  };
  std::mt19937 random = numbers(103);
  std::vector<alignment> all;  // kept until the end
  for (index pair = 0; pair < s.steps; ++pair) {
    const index side = side_of(s.blocks / s.steps);
    const index n = std::max<index>(3, side / 2 + below(random, side));
    const index m = std::max<index>(3, side / 2 + below(random, side));
    all.push_back({blocks(n, s.bytes), blocks(m, s.bytes), blocks(n * m, s.bytes * 2), blocks(1, 65536)});
    const alignment& a = all.back();
    const double bytes = a.first.bytes();
    for (index i = 0; i < n; ++i) task("read", 0.1 * bytes, a.first.out(i));
    for (index j = 0; j < m; ++j) task("read", 0.1 * bytes, a.second.out(j));
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < m; ++j) {
        kith::access_list list;
        list.add(a.first.in(i));
        list.add(a.second.in(j));
        if (i > 0) list.add(a.edges.in((i - 1) * m + j));
        if (j > 0) list.add(a.edges.in(i * m + j - 1));
        if (i > 0 && j > 0) list.add(a.edges.in((i - 1) * m + j - 1));
        list.add(a.edges.out(i * m + j));
        task("tile", s.work * bytes, list);
      }
    }
    for (index i = n - 1, j = m - 1; i > 0 && j > 0; --i, --j) {
      task("trace", 0.1 * s.work * bytes, a.edges.in(i * m + j), a.best.inout(0));
    }
  }
}

// Breadth-first searches: ten levels from a single task to all blocks and back, with a wait after each. A task reads
// its part of the graph, and marks vertices there and in another part beside other tasks.
void bfs(const sizes& s) {
  std::mt19937 random = numbers(139);
  const index n = s.blocks;
  const blocks graph(n, s.bytes), marks(n, s.bytes / 8);
  for (index i = 0; i < n; ++i) task("load", 0.1 * graph.bytes(), graph.out(i), marks.out(i));
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (const double share : {0.002, 0.02, 0.15, 0.8, 1.0, 0.6, 0.2, 0.05, 0.01, 0.003}) {
      const auto width = std::max<index>(1, static_cast<index>(share * real(n)));
      const index first = below(random, n);
      for (index k = 0; k < width; ++k) {
        const index i = (first + k * (share < 0.5 ? 7 : 1)) % n;
        const index other = below(random, n);
        const double part = 0.1 + std::min(1.0, 2 * share * unit(random));
        task("expand", s.work * graph.bytes() * part, graph.in(i), marks.concurrent(i), marks.concurrent(other));
      }
      kith::wait();
    }
  }
}

// Dynamic programming on a triangle of BLOCKS tiles: tile (i, j) needs all (i, k) and (k, j) between, in order, and the
// tiles of the diagonal. Only these are initialised. STEPS triangles, with a wait after each.
void triangle_dp(const sizes& s) {
  const index n = triangle_side(s.blocks);
  for (index step = 0; step < s.steps; ++step) {
    const grid t(n, s.bytes);
    const double each = s.work * t.bytes();
    for (index i = 0; i < n; ++i) task("diagonal", each, t.out(i, i));
    for (index apart = 1; apart < n; ++apart) {
      for (index i = 0, j = apart; j < n; ++i, ++j) {
        for (index k = i + 1; k < j; ++k) task("combine", each, t.in(i, k), t.in(k, j), t.inout(i, j));
        task("close", each, t.in(i, i), t.in(j, j), t.inout(i, j));
      }
    }
    kith::wait();
  }
}

// One of the ranges of quicksorts below: partitioned by one task, then sorted by a task for each side.
void sort_range(char* at, index bytes, unsigned seed, const sizes& s) {
  const auto whole = kith::inout(at, static_cast<std::size_t>(bytes));
  if (bytes <= s.bytes) {
    task("sort_leaf", 6 * s.work * real(bytes), whole);
    return;
  }
  std::mt19937 random = numbers(seed);
  const index left = bytes / page * (30 + below(random, 41)) / 100 * page;
  task("partition", s.work * real(bytes), whole);
  const auto sort_side = [&](char* from, index count, unsigned next) {
    kith::spawn([=, &s](auto&&...) { sort_range(from, count, next, s); }, type_of("side"),
                kith::inout(from, static_cast<std::size_t>(count)));
  };
  sort_side(at, left, seed * 2);
  sort_side(at + left, bytes - left, seed * 2 + 1);
}

// Quicksorts of STEPS arrays of BLOCKS x BYTES bytes: a task for a range creates one that partitions it and two for the
// sides, which are ranges inside it, down to BYTES.
void quicksorts(const sizes& s) {
  constexpr index parts = 16;
  const blocks arrays(s.steps, s.bytes * s.blocks);
  for (index i = 0; i < s.steps; ++i) {
    for (index k = 0; k < parts; ++k) task("generate", 0.1 * arrays.bytes() / parts, arrays.out(i, k, parts));
  }
  kith::wait();
  for (index i = 0; i < s.steps; ++i) {
    const auto sort_array = [&arrays, &s, i](auto&&...) {
      const unsigned seed = 3 + static_cast<unsigned>(i) * 1'000'003;
      sort_range(arrays.at(i), static_cast<index>(arrays.bytes()) / page * page, seed, s);
    };
    kith::spawn(sort_array, type_of("array"), arrays.inout(i));
  }
  kith::wait();
}

/// What the tasks of one tree in nested_tree share. One worker runs them all.
struct growing {
  const blocks& buffers;
  double work;
  index used;  // buffers
};
void grow(growing& tree, index depth, unsigned seed, index mine) {
  std::mt19937 random = numbers(seed);
  const blocks& a = tree.buffers;
  const double each = tree.work * a.bytes();
  if (depth == 0 || random() % 8 == 0) {
    task("leaf", each * (1 + static_cast<double>(random() % 6)), a.out(mine));
    kith::wait();
    return;
  }
  const index first = tree.used;
  tree.used += 4;
  for (index c = 0; c < 4; ++c) {
    const unsigned next = seed * 4 + 1 + static_cast<unsigned>(c);
    kith::spawn([&tree, depth, next, at = first + c] { grow(tree, depth - 1, next, at); }, type_of("node"));
  }
  kith::wait();
  task("combine", each, a.in(first), a.in(first + 1), a.in(first + 2), a.in(first + 3), a.out(mine));
  kith::wait();
}

// Trees of tasks that each create four others, wait for them, and combine their buffers. Some branches end early. Up to
// BLOCKS leaves; STEPS trees, one after the other.
void nested_tree(const sizes& s) {
  index depth = 1, count = 4;
  while (count * 4 <= s.blocks) count *= 4, ++depth;
  for (index step = 0; step < s.steps; ++step) {
    const blocks buffers(count * 2, s.bytes);
    growing tree{buffers, s.work, 1};
    grow(tree, depth, 77 + static_cast<unsigned>(step), 0);
    kith::wait();
  }
}

// Permutations in place: blocks are swapped along random chains of twelve, then all are used in the order of their
// addresses.
void permute(const sizes& s) {
  std::mt19937 random = numbers(163);
  const index n = s.blocks;
  const blocks a(n, s.bytes);
  fill(a, n);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    const std::vector<index> order = shuffled(random, n);
    for (index i = 0; i + 1 < n; ++i) {
      if (i % 12 != 11) task("swap", 0.04 * a.bytes(), a.inout(order[i]), a.inout(order[i + 1]));
    }
    for (index i = 0; i < n; ++i) task("pass", s.work * a.bytes(), a.inout(i));
  }
}

// Independent problems whose costs have a long tail, up to 60 times the least. A task fills fifty of them; they are
// solved again in each step, with a wait after it.
void long_tail(const sizes& s) {
  constexpr index together = 50;
  std::mt19937 random = numbers(167);
  const index n = s.blocks;
  const blocks a(n, s.bytes);
  std::vector<double> costs(n);
  for (double& cost : costs) cost = std::min(60.0, 1 / std::pow(1 - unit(random), 0.8));
  for (index g = 0; g < n; g += together) {
    kith::access_list list;
    for (index i = g; i < std::min(n, g + together); ++i) list.add(a.out(i));
    task("fill", together * 0.02 * a.bytes(), list);
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) task("solve", s.work * a.bytes() * costs[i], a.inout(i));
    kith::wait();
  }
}

constexpr kind all_kinds[] = {
    {"alignments", alignments},   {"bfs", bfs},         {"long_tail", long_tail},
    {"nested_tree", nested_tree}, {"permute", permute}, {"quicksorts", quicksorts},
    {"triangle_dp", triangle_dp},
};

}  // namespace

std::span<const kind> searching_and_sorting() noexcept { return all_kinds; }

}  // namespace kith::bench
