// Kinds of programs on which the policy `auto` was tuned, in some sizes; it is judged in others. None is in a paper.
//
// Most have BLOCKS blocks of BYTES bytes and take STEPS steps (lu_panels and merge: one; pairs: sqrt(BLOCKS) blocks).
// WORK is the computing time for a byte in nanoseconds: about 0.02 for a copy, 0.25 for a loop, 5 for dense matrices.
// As users write them, programs wait after the initialisation, unless their comment says otherwise.
#include "kinds.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace kith::bench {
namespace {

/// Two arrays of blocks, each filled by a type of its own.
void fill_both(const blocks& a, const blocks& b, index n) {
  for (index i = 0; i < n; ++i) {
    task("fill_a", 0.02 * a.bytes(), a.out(i));
    task("fill_b", 0.02 * b.bytes(), b.out(i));
  }
}

// A stencil on a ring of blocks, each of which has two copies.
void relax(const blocks& a, const blocks& b, index n, double each, const char* type) {
  for (index i = 0; i < n; ++i) task(type, each, a.in((i + n - 1) % n), a.in(i), a.in((i + 1) % n), b.out(i));
}

void lu_panels(const sizes& s) {
  const blocks panels(s.blocks, s.bytes);
  const double each = s.work * panels.bytes();
  fill(panels, s.blocks);
  kith::wait();
  for (index k = 0; k < s.blocks; ++k) {
    const double left = static_cast<double>(s.blocks - k) / static_cast<double>(s.blocks);
    task("panel", each * left, panels.inout(k));
    for (index j = k + 1; j < s.blocks; ++j) task("update", 2 * each * left, panels.in(k), panels.inout(j));
  }
}

// Rows of one array, a transposition by tiles into the other, rows again. Both are filled in turn by one type.
void transpose(const sizes& s) {
  const index n = side_of(s.blocks);
  const grid a(n, s.bytes), b(n, s.bytes);
  const double each = s.work * a.bytes();
  for (index i = 0; i < n; ++i) {
    for (index j = 0; j < n; ++j) {
      task("fill", 0.02 * a.bytes(), a.out(i, j));
      task("fill", 0.02 * a.bytes(), b.out(i, j));
    }
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    const grid &from = step % 2 == 0 ? a : b, &to = step % 2 == 0 ? b : a;
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) task("transform", each, from.inout(i, j));
    }
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) task("transpose", 0.1 * each, from.in(i, j), to.out(j, i));
    }
  }
}

// A sparse product whose rows' lengths follow a power law; the vector is read in random blocks.
void power_law(const sizes& s) {
  std::mt19937 random = numbers(7);
  const index n = s.blocks;
  std::vector<std::vector<index>> columns(static_cast<std::size_t>(n));
  std::vector<std::unique_ptr<blocks>> rows;
  for (index i = 0; i < n; ++i) {
    const double u = std::generate_canonical<double, 32>(random);
    const auto length = std::min<index>(n / 2, static_cast<index>(2 / std::pow(1 - u, 0.8)));
    for (index k = 0; k < length; ++k) {
      const double v = std::generate_canonical<double, 32>(random);
      columns[static_cast<std::size_t>(i)].push_back(static_cast<index>(static_cast<double>(n) * v * v));
    }
    std::ranges::sort(columns[static_cast<std::size_t>(i)]);
    const auto last = std::ranges::unique(columns[static_cast<std::size_t>(i)]);
    columns[static_cast<std::size_t>(i)].erase(last.begin(), last.end());
    rows.push_back(std::make_unique<blocks>(1, s.bytes * length / 4));
  }
  const blocks x(n, s.bytes / 4), y(n, s.bytes / 4);
  for (index i = 0; i < n; ++i) {
    const auto& row = *rows[static_cast<std::size_t>(i)];
    task("fill_rows", 0.02 * row.bytes(), row.out(0));
    task("fill_vector", 0.02 * x.bytes(), x.out(i));
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      const auto& row = *rows[static_cast<std::size_t>(i)];
      kith::access_list list;
      list.add(row.in(0));
      list.add(y.out(i));
      for (index j : columns[static_cast<std::size_t>(i)]) list.add(x.in(j));
      kith::spawn([] {}, type_of("product"), kith::work{s.work * row.bytes()}, list);
    }
    for (index i = 0; i < n; ++i) task("scale", s.work * x.bytes(), y.in(i), x.out(i));
  }
}

// Items pass through stages; each stage has a table of its own. Items' buffers are used again.
// Nothing waits until the end.
void pipeline(const sizes& s) {
  constexpr index stages = 8;
  const blocks buffers(s.blocks, s.bytes), tables(stages, s.bytes * 4);
  for (index t = 0; t < stages; ++t) task("table", 0.02 * tables.bytes(), tables.out(t));
  for (index i = 0; i < s.blocks * s.steps; ++i) {
    const index b = i % s.blocks;
    task("source", 0.05 * buffers.bytes(), buffers.out(b));
    for (index t = 0; t < stages; ++t) task("stage", s.work * buffers.bytes(), buffers.inout(b), tables.in(t));
    task("sink", 0.05 * buffers.bytes(), buffers.in(b));
  }
}

// Up and down a binary tree, as in multipole methods.
void tree(const sizes& s) {
  index leaves = 1;
  while (leaves < s.blocks) leaves *= 2;
  const blocks nodes(2 * leaves, s.bytes);
  const double each = s.work * nodes.bytes();
  for (index i = 1; i < 2 * leaves; ++i) task("fill", 0.02 * nodes.bytes(), nodes.out(i));
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = leaves; i < 2 * leaves; ++i) task("leaf", each, nodes.inout(i));
    for (index i = leaves - 1; i > 0; --i) task("up", each, nodes.in(2 * i), nodes.in(2 * i + 1), nodes.inout(i));
    for (index i = 2; i < 2 * leaves; ++i) task("down", each, nodes.in(i / 2), nodes.inout(i));
  }
}

// A wavefront over tiles whose costs differ by a factor of 20.
void uneven_wavefront(const sizes& s) {
  const index n = side_of(s.blocks);
  const grid tiles(n, s.bytes);
  std::mt19937 random = numbers(11);
  fill(tiles, n * n);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        const double cost = s.work * tiles.bytes() * std::pow(20.0, std::generate_canonical<double, 32>(random)) / 6.3;
        if (i > 0 && j > 0) {
          task("tile", cost, tiles.in(i - 1, j), tiles.in(i, j - 1), tiles.inout(i, j));
        } else if (i > 0) {
          task("tile", cost, tiles.in(i - 1, j), tiles.inout(i, j));
        } else if (j > 0) {
          task("tile", cost, tiles.in(i, j - 1), tiles.inout(i, j));
        } else {
          task("tile", cost, tiles.inout(i, j));
        }
      }
    }
  }
}

// Blocks are summed by groups, groups by groups; then all are scaled by the sum.
void reduce_groups(const sizes& s) {
  constexpr index fan = 8;
  const blocks data(s.blocks, s.bytes), sums(2 * s.blocks, 8192);
  fill(data, s.blocks);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < s.blocks; ++i) task("sum", s.work * data.bytes(), data.in(i), sums.out(i));
    index from = 0, count = s.blocks, to = s.blocks;
    while (count > 1) {
      const index groups = (count + fan - 1) / fan;
      for (index g = 0; g < groups; ++g) {
        kith::access_list list;
        for (index k = g * fan; k < std::min((g + 1) * fan, count); ++k) list.add(sums.in(from + k));
        list.add(sums.out(to + g));
        kith::spawn([] {}, type_of("group"), kith::work{8192 * s.work}, list);
      }
      from = to, to += groups, count = groups;
    }
    for (index i = 0; i < s.blocks; ++i) task("scale", s.work * data.bytes(), sums.in(from), data.inout(i));
  }
}

// Alternating directions: along rows of tiles, then along columns, each a chain. Waits between phases.
void directions(const sizes& s) {
  const index n = side_of(s.blocks);
  const grid tiles(n, s.bytes);
  const double each = s.work * tiles.bytes();
  fill(tiles, n * n);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        if (j > 0) {
          task("along_row", each, tiles.in(i, j - 1), tiles.inout(i, j));
        } else {
          task("along_row", each, tiles.inout(i, j));
        }
      }
    }
    kith::wait();
    for (index j = 0; j < n; ++j) {
      for (index i = 0; i < n; ++i) {
        if (i > 0) {
          task("along_column", each, tiles.in(i - 1, j), tiles.inout(i, j));
        } else {
          task("along_column", each, tiles.inout(i, j));
        }
      }
    }
    kith::wait();
  }
}

// A stencil, then, for as many steps, products of random pairs of blocks.
void phases(const sizes& s) {
  const blocks a(s.blocks, s.bytes), b(s.blocks, s.bytes);
  std::mt19937 random = numbers(3);
  fill_both(a, b, s.blocks);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    relax(step % 2 == 0 ? a : b, step % 2 == 0 ? b : a, s.blocks, s.work * a.bytes(), "relax");
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < s.blocks; ++i) {
      const index j = static_cast<index>(random()) % s.blocks;
      task("pair", 4 * s.work * a.bytes(), a.in(j), b.inout(i));
    }
    kith::wait();
  }
}

// Merge sort: chunks are sorted, then merged by pairs into the other array.
void merge(const sizes& s) {
  index chunks = 1;
  while (chunks < s.blocks) chunks *= 2;
  const blocks a(chunks, s.bytes), b(chunks, s.bytes);
  fill(a, chunks);
  kith::wait();
  for (index i = 0; i < chunks; ++i) task("sort", 10 * s.work * a.bytes(), a.inout(i));
  const blocks *from = &a, *to = &b;
  for (index run = 2; run <= chunks; run *= 2, std::swap(from, to)) {
    for (index first = 0; first < chunks; first += run) {
      // A merge of long runs is split into as many tasks as it has blocks, each of which reads from both halves.
      for (index k = 0; k < run; ++k) {
        const index left = first + k / 2, right = first + run / 2 + k / 2;
        task("merge", s.work * a.bytes(), from->in(left), from->in(right), to->out(first + k));
      }
    }
  }
}

// A table that one task fills is read by all tasks, together with a block of their own.
void shared_table(const sizes& s) {
  const blocks table(1, s.bytes * 16), own(s.blocks, s.bytes);
  task("table", 0.02 * table.bytes(), table.out(0));
  fill(own, s.blocks);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < s.blocks; ++i) task("look_up", s.work * own.bytes() * 4, table.in(0), own.inout(i));
  }
}

// Streams beside computations that use hardly any data.
void mixture(const sizes& s) {
  const blocks a(s.blocks, s.bytes);
  std::mt19937 random = numbers(5);
  fill(a, s.blocks);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < s.blocks; ++i) {
      task("stream", s.work * a.bytes(), a.inout(i));
      if (random() % 2 == 0) task("compute", 4 * s.work * a.bytes());
    }
  }
}

// Steps of few tasks, each of which the program waits for.
void waits(const sizes& s) {
  const blocks a(s.blocks, s.bytes), b(s.blocks, s.bytes);
  fill_both(a, b, s.blocks);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    relax(step % 2 == 0 ? a : b, step % 2 == 0 ? b : a, s.blocks, s.work * a.bytes(), "relax");
    kith::wait();
  }
}

// Conjugate gradients: products, dot products that all wait for, updates.
void gradients(const sizes& s) {
  const blocks rows(s.blocks, s.bytes * 8), p(s.blocks, s.bytes), q(s.blocks, s.bytes), x(s.blocks, s.bytes);
  const blocks parts(s.blocks, 64), total(1, 64);
  const index n = s.blocks;
  for (index i = 0; i < n; ++i) {
    task("fill", 0.02 * rows.bytes(), rows.out(i), p.out(i), q.out(i), x.out(i));
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      task("product", s.work * rows.bytes(), rows.in(i), p.in((i + n - 1) % n), p.in(i), p.in((i + 1) % n), q.out(i));
    }
    for (index i = 0; i < n; ++i) task("dot", s.work * p.bytes(), p.in(i), q.in(i), parts.out(i));
    kith::access_list all;
    for (index i = 0; i < n; ++i) all.add(parts.in(i));
    all.add(total.out(0));
    kith::spawn([] {}, type_of("total"), kith::work{20.0 * static_cast<double>(n)}, all);
    for (index i = 0; i < n; ++i) task("update", 2 * s.work * p.bytes(), total.in(0), q.in(i), x.inout(i), p.inout(i));
  }
}

// All pairs of blocks: each block of forces reads every block of positions.
void pairs(const sizes& s) {
  const index n = side_of(s.blocks);
  const blocks positions(n, s.bytes), forces(n, s.bytes);
  for (index i = 0; i < n; ++i) task("fill", 0.02 * positions.bytes(), positions.out(i), forces.out(i));
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        if (i != j) task("force", 8 * s.work * forces.bytes(), positions.in(i), positions.in(j), forces.inout(i));
      }
    }
    for (index i = 0; i < n; ++i) task("move", s.work * forces.bytes(), forces.inout(i), positions.inout(i));
  }
}

// A stencil in one task graph with its initialisation: nothing waits until the end.
void one_graph(const sizes& s) {
  const blocks a(s.blocks, s.bytes), b(s.blocks, s.bytes);
  fill_both(a, b, s.blocks);
  for (index step = 0; step < s.steps; ++step) {
    relax(step % 2 == 0 ? a : b, step % 2 == 0 ? b : a, s.blocks, s.work * a.bytes(), "relax");
  }
}

// Independent batches of small matrix products; each batch is filled, used and never seen again.
// The program waits after each batch only.
void batches(const sizes& s) {
  const blocks a(s.blocks * s.steps, s.bytes), b(s.blocks * s.steps, s.bytes);
  for (index step = 0; step < s.steps; ++step) {
    for (index i = step * s.blocks; i < (step + 1) * s.blocks; ++i) {
      task("load", 0.05 * a.bytes(), a.out(i), b.out(i));
      for (int use = 0; use < 3; ++use) task("multiply", s.work * a.bytes(), a.in(i), b.inout(i));
    }
    kith::wait();
  }
}

// A stencil of which a moving eighth is refined: those blocks cost eight times as much.
void refined(const sizes& s) {
  const blocks a(s.blocks, s.bytes), b(s.blocks, s.bytes);
  const index n = s.blocks;
  fill_both(a, b, n);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    const blocks &from = step % 2 == 0 ? a : b, &to = step % 2 == 0 ? b : a;
    const index front = step * n / s.steps;
    for (index i = 0; i < n; ++i) {
      const bool fine = (i + n - front) % n < n / 8;
      task("relax", s.work * a.bytes() * (fine ? 8 : 1), from.in((i + n - 1) % n), from.in(i), from.in((i + 1) % n),
           to.out(i));
    }
  }
}

constexpr kind all_kinds[] = {
    {"batches", batches},
    {"directions", directions},
    {"gradients", gradients},
    {"lu_panels", lu_panels},
    {"merge", merge},
    {"mixture", mixture},
    {"one_graph", one_graph},
    {"pairs", pairs},
    {"phases", phases},
    {"pipeline", pipeline},
    {"power_law", power_law},
    {"reduce_groups", reduce_groups},
    {"refined", refined},
    {"shared_table", shared_table},
    {"transpose", transpose},
    {"tree", tree},
    {"uneven_wavefront", uneven_wavefront},
    {"waits", waits},
};

}  // namespace

std::span<const kind> tuned_on() noexcept { return all_kinds; }

}  // namespace kith::bench
