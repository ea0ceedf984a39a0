// Further kinds of programs for bench/auto.py, in the manner of kinds.cpp: known algorithms, and loads that change.
// Sizes mean the same, unless a comment says otherwise.
#include "kinds.hpp"

#include <kith/kith.hpp>

#include <memory>
#include <vector>

namespace kith::bench {
namespace {

// A stencil on a ring that reads three blocks to each side, so that a wait is needed every third step only.
void deep_halo(const sizes& s) {
  constexpr index deep = 3;
  const index n = s.blocks;
  const blocks a(n, s.bytes), b(n, s.bytes);
  fill(a, n);
  fill(b, n);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    const blocks &from = step % 2 == 0 ? a : b, &to = step % 2 == 0 ? b : a;
    for (index i = 0; i < n; ++i) {
      kith::access_list list;
      for (index k = -deep; k <= deep; ++k) list.add(from.in((i + k + n) % n));
      list.add(to.out(i));
      kith::spawn([] {}, type_of("deep"), kith::work{s.work * a.bytes()}, list);
    }
    if (step % deep == deep - 1) kith::wait();
  }
}

// K-means: points are assigned to centres, the sums of 16 blocks are added, then all, and the program waits to see
// whether the centres still move.
void k_means(const sizes& s) {
  constexpr index together = 16;
  const index n = s.blocks, groups = (n + together - 1) / together;
  const blocks points(n, s.bytes), labels(n, std::max<index>(s.bytes / 16, 4096)), sums(n, 16384);
  const blocks group_sums(groups, 16384), centres(1, 16384);
  for (index i = 0; i < n; ++i) task("load", 0.05 * points.bytes(), points.out(i), labels.out(i));
  task("seed", 16384, centres.out(0));
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      task("assign", s.work * points.bytes(), points.in(i), centres.in(0), labels.inout(i), sums.out(i));
    }
    for (index g = 0; g < groups; ++g) {
      kith::access_list list;
      for (index i = g * together; i < std::min(n, (g + 1) * together); ++i) list.add(sums.in(i));
      list.add(group_sums.out(g));
      kith::spawn([] {}, type_of("add"), kith::work{16384 * 0.1 * together}, list);
    }
    kith::access_list list;
    for (index g = 0; g < groups; ++g) list.add(group_sums.in(g));
    list.add(centres.out(0));
    kith::spawn([] {}, type_of("centres"), kith::work{16384 * 0.1 * static_cast<double>(groups)}, list);
    kith::wait();
  }
}

// Tiles of a lower triangle that one type of task fills; then STEPS systems are solved with it, one after the other.
void triangular_solve(const sizes& s) {
  const auto n = static_cast<index>(std::sqrt(2.0 * static_cast<double>(s.blocks)));
  const grid lower(n, s.bytes);
  const blocks x(n, std::max<index>(s.bytes / 8, 4096));
  for (index i = 0; i < n; ++i) {
    for (index j = 0; j <= i; ++j) task("fill", 0.02 * lower.bytes(), lower.out(i, j));
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) task("right_side", 0.05 * x.bytes(), x.out(i));
    for (index k = 0; k < n; ++k) {
      task("solve", s.work * lower.bytes(), lower.in(k, k), x.inout(k));
      for (index i = k + 1; i < n; ++i) {
        task("update", s.work * lower.bytes(), lower.in(i, k), x.in(k), x.inout(i));
      }
    }
  }
}

// Shortest paths by tiles (Floyd and Warshall): every tile is changed in each of the sqrt(BLOCKS) rounds. STEPS graphs.
void floyd_warshall(const sizes& s) {
  const index n = side_of(s.blocks);
  const grid d(n, s.bytes);
  const double each = s.work * d.bytes();
  for (index step = 0; step < s.steps; ++step) {
    fill(d, n * n);
    for (index k = 0; k < n; ++k) {
      task("diagonal", each, d.inout(k, k));
      for (index j = 0; j < n; ++j) {
        if (j == k) continue;
        task("row", each, d.in(k, k), d.inout(k, j));
        task("column", each, d.in(k, k), d.inout(j, k));
      }
      for (index i = 0; i < n; ++i) {
        for (index j = 0; j < n; ++j) {
          if (i != k && j != k) task("rest", each, d.in(i, k), d.in(k, j), d.inout(i, j));
        }
      }
    }
    kith::wait();
  }
}

// Few arrays, each of 32 blocks, which tasks name as a whole: two are combined into one, which a third uses.
void big_arrays(const sizes& s) {
  const index n = std::max<index>(s.blocks / 32, 4);
  const blocks a(n, s.bytes * 32);
  std::mt19937 random = numbers(13);
  fill(a, n);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      const auto other = (i + 1 + static_cast<index>(random()) % (n - 1)) % n;
      if (i % 3 == 0) task("combine", s.work * a.bytes(), a.in(other), a.inout(i));
      if (i % 3 != 0) task("scale", s.work * a.bytes(), a.inout(i));
    }
  }
}

// Whole blocks are summed by pairs, pairs by pairs, in place; all are loaded again while the last sums are under way.
void tree_sums(const sizes& s) {
  const index n = s.blocks;
  const blocks data(n, s.bytes), results(s.steps, s.bytes);
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) task("load", 0.1 * data.bytes(), data.out(i));
    for (index apart = 1; apart < n; apart *= 2) {
      for (index i = 0; i + apart < n; i += 2 * apart) {
        task("sum", s.work * data.bytes(), data.in(i + apart), data.inout(i));
      }
    }
    task("keep", s.work * data.bytes(), data.in(0), results.out(step));
  }
}

// One producer makes items in bursts of very different lengths, with a pause after each; consumers of two kinds use
// them, and add to one of twelve archives. Nothing waits until the end.
void bursts(const sizes& s) {
  constexpr index archives = 12;
  const blocks state(1, 65536), items(s.blocks, s.bytes), kept(archives, s.bytes);
  std::mt19937 random = numbers(17);
  for (index k = 0; k < archives; ++k) task("open", 0.02 * kept.bytes(), kept.out(k));
  task("start", 1000, state.out(0));
  index next = 0, left = s.blocks * s.steps;
  while (left > 0) {
    const index length =
        std::min<index>(left, random() % 4 == 0 ? s.blocks / 2 : 1 + static_cast<index>(random()) % 16);
    task("pause", 0.5 * s.work * items.bytes(), state.inout(0));
    for (index k = 0; k < length; ++k, ++next) {
      const index i = next % s.blocks;
      task("produce", 0.02 * items.bytes(), state.inout(0), items.out(i));
      task("decode", s.work * items.bytes() * (1 + static_cast<double>(random() % 8)), items.inout(i));
      task("analyse", s.work * items.bytes(), items.in(i));
      if (k % 8 == 0) task("archive", 0.1 * items.bytes(), items.in(i), kept.inout(next % archives));
    }
    left -= length;
  }
}

// A sparse factorisation by fronts along an irregular elimination tree: a front has panels; it takes the panels
// that its children left, factors panel by panel, and leaves its last panel to its parent. STEPS matrices of the
// same structure.
void fronts(const sizes& s) {
  struct front {
    index parent;
    std::unique_ptr<blocks> panels;
    index count;
    std::vector<index> children;
  };
  std::mt19937 random = numbers(19);
  std::vector<front> all;
  for (index used = 0; used < s.blocks;) {
    const auto at = static_cast<index>(all.size());
    // The parent's number is between a quarter and a half of this one's: long and short branches. The root is the
    // first.
    const index parent = at == 0 ? -1 : std::max<index>(0, at / 2 - static_cast<index>(random()) % (at / 4 + 1));
    const index count = at == 0 ? 24 : std::max<index>(2, 24 / (1 + at / 4) + static_cast<index>(random()) % 5);
    all.push_back({parent, std::make_unique<blocks>(count, s.bytes), count, {}});
    if (parent >= 0) all[static_cast<std::size_t>(parent)].children.push_back(at);
    used += count;
  }
  for (index step = 0; step < s.steps; ++step) {
    for (auto f = all.rbegin(); f != all.rend(); ++f) {  // children come after their parents
      for (index p = 0; p < f->count; ++p) {
        kith::access_list list;
        for (index c : f->children) {
          const front& child = all[static_cast<std::size_t>(c)];
          list.add(child.panels->in(child.count - 1));
        }
        list.add(f->panels->out(p));
        kith::spawn([] {}, type_of("assemble"), kith::work{0.05 * f->panels->bytes()}, list);
      }
      for (index k = 0; k < f->count; ++k) {
        task("factor", s.work * f->panels->bytes(), f->panels->inout(k));
        for (index j = k + 1; j < f->count; ++j) {
          task("update", 2 * s.work * f->panels->bytes(), f->panels->in(k), f->panels->inout(j));
        }
      }
    }
    kith::wait();
  }
}

// Blocks of an eighth to eight times BYTES, each used in proportion, the large ones also with two small ones.
void mixed_grain(const sizes& s) {
  std::mt19937 random = numbers(23);
  std::vector<std::unique_ptr<blocks>> all;
  for (index i = 0; i < s.blocks; ++i) {
    const double u = std::generate_canonical<double, 32>(random);
    all.push_back(std::make_unique<blocks>(1, static_cast<index>(static_cast<double>(s.bytes) * std::pow(64, u) / 8)));
  }
  for (const auto& b : all) task("fill", 0.02 * b->bytes(), b->out(0));
  kith::wait();
  const auto any = [&]() -> const blocks& { return *all[random() % all.size()]; };
  for (index step = 0; step < s.steps; ++step) {
    for (const auto& b : all) {
      if (b->bytes() < static_cast<double>(2 * s.bytes)) {
        task("use", s.work * b->bytes(), b->inout(0));
      } else {
        const blocks &one = any(), &two = any();
        if (&one != b.get() && &two != b.get() && &one != &two) {
          task("mix", s.work * b->bytes(), one.in(0), two.in(0), b->inout(0));
        }
      }
    }
  }
}

// Particles in cells: they read the fields of their cell and of one that drifts away from it, and deposit into a cell;
// then all fields are solved with their neighbours.
void particles(const sizes& s) {
  const index n = s.blocks, cells = std::max<index>(n / 4, 4);
  const blocks swarm(n, s.bytes), fields(cells, s.bytes / 2), charge(cells, s.bytes / 2);
  for (index c = 0; c < cells; ++c)
    task("fill_cells", 0.02 * static_cast<double>(s.bytes), fields.out(c), charge.out(c));
  fill(swarm, n);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      const index home = i * cells / n, away = (home + step + 1) % cells;
      task("push", s.work * swarm.bytes(), fields.in(home), fields.in(away), swarm.inout(i));
    }
    for (index i = 0; i < n; ++i) {
      task("deposit", 0.3 * s.work * swarm.bytes(), swarm.in(i), charge.inout((i * cells / n + step) % cells));
    }
    for (index c = 0; c < cells; ++c) {
      task("solve", s.work * fields.bytes(), charge.in((c + cells - 1) % cells), charge.in(c),
           charge.in((c + 1) % cells), fields.inout(c));
    }
  }
}

// V-cycles of multigrid on strips of a grid: each of five levels has half the strips of the finer one, of half the
// bytes. A level is smoothed, its residual is the right side of the coarser one, and the correction comes back. STEPS
// cycles, without a wait between them.
void multigrid(const sizes& s) {
  constexpr std::size_t levels = 5;
  struct level {
    index strips;
    blocks values, residuals;
  };
  std::vector<level> all;
  for (std::size_t l = 0; l < levels; ++l) {
    const index strips = std::max<index>(s.blocks >> l, 4), bytes = std::max<index>(s.bytes >> l, 4096);
    all.push_back({strips, blocks(strips, bytes), blocks(strips, bytes)});
    fill(all.back().values, strips);
    fill(all.back().residuals, strips);
  }
  kith::wait();
  const auto smooth = [&s](const level& at) {
    const double bytes = at.values.bytes();
    for (index i = 0; i < at.strips; ++i) {
      task("smooth", s.work * bytes, at.residuals.in(std::max<index>(i - 1, 0)),
           at.residuals.in(std::min(i + 1, at.strips - 1)), at.residuals.in(i), at.values.inout(i));
    }
    for (index i = 0; i < at.strips; ++i) task("residual", 0.3 * s.work * bytes, at.values.in(i), at.residuals.out(i));
  };
  for (index step = 0; step < s.steps; ++step) {
    for (std::size_t l = 0; l + 1 < levels; ++l) {
      const level &fine = all[l], &coarse = all[l + 1];
      smooth(fine);
      for (index i = 0; i < coarse.strips; ++i) {
        const index first = i * fine.strips / coarse.strips, second = std::min(first + 1, fine.strips - 1);
        task("restrict", 0.6 * s.work * coarse.values.bytes(), fine.residuals.in(first), fine.residuals.in(second),
             coarse.values.out(i));
      }
    }
    smooth(all.back());
    for (std::size_t l = levels - 1; l-- > 0;) {
      const level &fine = all[l], &coarse = all[l + 1];
      for (index i = 0; i < fine.strips; ++i) {
        task("prolong", 0.6 * s.work * fine.values.bytes(), coarse.values.in(i * coarse.strips / fine.strips),
             fine.values.inout(i));
      }
      smooth(fine);
    }
  }
}

// A sparse triangular system whose rows of blocks are in levels of 32: each needs three of the level before. STEPS
// right sides, one after the other.
void solve_levels(const sizes& s) {
  constexpr index width = 32;
  const blocks rows(s.blocks, s.bytes), x(s.blocks, std::max<index>(s.bytes / 16, 4096));
  for (index i = 0; i < s.blocks; ++i) task("fill", 0.02 * rows.bytes(), rows.out(i), x.out(i));
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < s.blocks; ++i) {
      kith::access_list list;
      list.add(rows.in(i));
      list.add(x.inout(i));
      if (const index before = i / width * width - width; before >= 0) {
        for (const index k : {i * 7, i * 7 + 5, i * 7 + 16}) list.add(x.in(before + k % width));
      }
      kith::spawn([] {}, type_of("solve"), kith::work{s.work * rows.bytes()}, list);
    }
  }
}

constexpr kind all_kinds[] = {
    {"big_arrays", big_arrays},         {"bursts", bursts},       {"deep_halo", deep_halo},
    {"floyd_warshall", floyd_warshall}, {"fronts", fronts},       {"k_means", k_means},
    {"mixed_grain", mixed_grain},       {"multigrid", multigrid}, {"particles", particles},
    {"solve_levels", solve_levels},     {"tree_sums", tree_sums}, {"triangular_solve", triangular_solve},
};

}  // namespace

std::span<const kind> algorithms() noexcept { return all_kinds; }

}  // namespace kith::bench
