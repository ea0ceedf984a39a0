// Kinds of simulation codes: meshes that adapt, sweeps, exchanges, particles that move. Sizes mean the same as in
// kinds.cpp, unless a comment says otherwise.
#include "irregular.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kith::bench {
namespace {

/// The cells of an n by n torus that are at most one row and one column away, without the cell itself.
void add_neighbours(kith::access_list& list, const grid& cells, index n, index i, index j) {
  for (index di = -1; di <= 1; ++di) {
    for (index dj = -1; dj <= 1; ++dj) {
      if (di != 0 || dj != 0) list.add(cells.in((i + di + n) % n, (j + dj + n) % n));
    }
  }
}

// Adaptive mesh refinement in two dimensions. A ring of cells that moves with the steps has patches of four finer
// blocks; every fourth step patches are made and given back. BLOCKS/2 coarse cells, two copies of everything.
void adaptive_mesh(const sizes& s) {
  constexpr index fine_blocks = 4;
  struct patch {
    index i, j;
    owned data;  // two copies of the fine blocks
  };
  const index n = side_of(s.blocks / 2);
  const grid a(n, s.bytes), b(n, s.bytes);
  for (index i = 0; i < n; ++i) {
    for (index j = 0; j < n; ++j) task("coarse", 0.02 * a.bytes(), a.out(i, j), b.out(i, j));
  }
  kith::wait();
  std::vector<patch> fine;
  const auto regrid = [&](index step) {
    const double centre = real(n) * (0.2 + 0.6 * real(step) / real(s.steps));
    std::vector<patch> next;
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        if (std::abs(std::hypot(real(i) - centre, real(j) - centre) - 0.25 * real(n)) >= 0.08 * real(n)) continue;
        const auto old = std::ranges::find_if(fine, [&](const patch& p) { return p.i == i && p.j == j; });
        if (old != fine.end()) {
          next.push_back(std::move(*old));
          continue;
        }
        next.push_back({i, j, make_blocks(2 * fine_blocks, s.bytes)});
        for (index k = 0; k < fine_blocks; ++k) {
          const blocks& made = *next.back().data;
          task("refine", 0.1 * a.bytes(), a.in(i, j), made.out(k), made.out(fine_blocks + k));
        }
      }
    }
    fine = std::move(next);
  };
  for (index step = 0; step < s.steps; ++step) {
    if (step % 4 == 0) {
      kith::wait();
      regrid(step);
    }
    const grid &from = step % 2 == 0 ? a : b, &to = step % 2 == 0 ? b : a;
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        task("coarse_step", s.work * a.bytes(), from.in(i, j), from.in(i, (j + 1) % n), from.in((i + 1) % n, j),
             from.in(i, (j + n - 1) % n), from.in((i + n - 1) % n, j), to.out(i, j));
      }
    }
    for (const index now : {index{0}, fine_blocks}) {
      const index then = fine_blocks - now;
      for (const patch& p : fine) {
        for (index k = 0; k < fine_blocks; ++k) {
          task("fine_step", s.work * a.bytes(), to.in(p.i, p.j), p.data->in(now + k),
               p.data->in(now + (k + 1) % fine_blocks), p.data->in(now + (k + 2) % fine_blocks), p.data->out(then + k));
        }
      }
    }
    for (const patch& p : fine) {
      task("correct", 0.2 * s.work * a.bytes(), p.data->in(0), p.data->in(2), to.inout(p.i, p.j));
    }
  }
}

// Fourier transforms in three dimensions by pencils. Between the dimensions, the pencils of a row of the grid exchange
// small chunks all with all, then those of a column.
void fft_pencils(const sizes& s) {
  const index n = side_of(s.blocks);
  const blocks a(n * n, s.bytes), b(n * n, s.bytes);
  const double chunk = a.bytes() / real(n);
  const auto transform = [&](const blocks& all) {
    for (index i = 0; i < n * n; ++i) task("transform", s.work * a.bytes(), all.inout(i));
  };
  fill(a, n * n);
  fill(b, n * n, "clear");
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    transform(a);
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        for (index k = 0; k < n; ++k) task("exchange", 0.05 * chunk, a.in(i * n + j, k, n), b.out(i * n + k, j, n));
      }
    }
    transform(b);
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        for (index k = 0; k < n; ++k) task("exchange", 0.05 * chunk, b.in(j * n + i, k, n), a.out(k * n + i, j, n));
      }
    }
    transform(a);
  }
}

// A stencil that reads nine tiles. Every fourth step is saved: tiles are copied, and a file takes the copies in order
// while the next steps run.
void checkpoints(const sizes& s) {
  const index n = side_of(s.blocks);
  const grid a(n, s.bytes), b(n, s.bytes), saved(n, s.bytes);
  const blocks file(1, 65536);
  for (index i = 0; i < n; ++i) {
    for (index j = 0; j < n; ++j) task("fill", 0.04 * a.bytes(), a.out(i, j), b.out(i, j));
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    const grid &from = step % 2 == 0 ? a : b, &to = step % 2 == 0 ? b : a;
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        kith::access_list list;
        for (index k = std::max<index>(i - 1, 0); k <= std::min(i + 1, n - 1); ++k) {
          for (index l = std::max<index>(j - 1, 0); l <= std::min(j + 1, n - 1); ++l) list.add(from.in(k, l));
        }
        list.add(to.out(i, j));
        task("stencil", s.work * a.bytes(), list);
      }
    }
    if (step % 4 != 3) continue;
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        task("copy", 0.02 * a.bytes(), to.in(i, j), saved.out(i, j));
        task("append", 0.01 * a.bytes(), saved.in(i, j), file.inout(0));
      }
    }
  }
}

// A time-skewed stencil: a task advances a block by many steps, in place, after its left neighbour. So STEPS bands run
// as a wavefront. One task initialises everything, and nothing waits.
void time_skewed(const sizes& s) {
  const index n = s.blocks;
  const blocks a(n, s.bytes);
  kith::access_list all;
  for (index i = 0; i < n; ++i) all.add(a.out(i));
  task("init", 0.02 * a.bytes() * real(n), all);
  for (index band = 0; band < s.steps; ++band) {
    task("skewed", 8 * s.work * a.bytes(), a.inout(0));
    for (index i = 1; i < n; ++i) task("skewed", 8 * s.work * a.bytes(), a.inout(i - 1), a.inout(i));
  }
}

// Particles in the cells of a plane, which leave for the eight cells around. A cluster of them crosses the plane, and
// cells in it cost up to ten times as much. One task fills a row of cells; the second copy is first written by a step.
void migration(const sizes& s) {
  const index n = side_of(s.blocks);
  const grid a(n, s.bytes), b(n, s.bytes), leavers(n, std::max<index>(s.bytes / 8, 4096));
  for (index i = 0; i < n; ++i) {
    kith::access_list list;
    for (index j = 0; j < n; ++j) list.add(a.out(i, j));
    task("row", 0.02 * a.bytes() * real(n), list);
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    const grid &from = step % 2 == 0 ? a : b, &to = step % 2 == 0 ? b : a;
    const double centre = real(n) * (0.2 + 0.6 * real(step) / real(s.steps));
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        const double away = std::hypot(real(i) - centre, real(j) - 0.5 * real(n)) / real(n);
        const double density = 1 + 9 * std::exp(-away * away * 30);
        task("move", s.work * a.bytes() * density, from.in(i, j), leavers.out(i, j), to.out(i, j));
      }
    }
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        kith::access_list list;
        add_neighbours(list, leavers, n, i, j);
        list.add(to.inout(i, j));
        task("arrive", 0.3 * s.work * a.bytes(), list);
      }
    }
  }
}

// Finite elements: groups of elements are added to three blocks of the matrix, in any order; a few blocks get boundary
// conditions; then three smoothing steps over neighbours far apart, which all run in order. Waits after each step.
void assembly(const sizes& s) {
  std::mt19937 random = numbers(173);
  const index n = s.blocks, width = side_of(n);
  const blocks elements(2 * n, s.bytes / 2), matrix(n, s.bytes), x(n, s.bytes / 8);
  for (index i = 0; i < 2 * n; ++i) task("mesh", 0.1 * elements.bytes(), elements.out(i));
  for (index i = 0; i < n; ++i) task("zero", 0.02 * matrix.bytes(), matrix.out(i), x.out(i));
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index e = 0; e < 2 * n; ++e) {
      const index home = e / 2;
      task("element", 3 * s.work * elements.bytes(), elements.in(e), matrix.commutative(home),
           matrix.commutative((home + 1) % n), matrix.commutative((home + width + e % 2) % n));
    }
    for (index i = 0; i < n; i += 1 + below(random, 2 * width)) task("boundary", 0.1 * matrix.bytes(), matrix.inout(i));
    for (int pass = 0; pass < 3; ++pass) {
      for (index i = 0; i < n; ++i) {
        task("smooth", s.work * matrix.bytes(), matrix.in(i), x.in((i + 1) % n), x.in((i + width) % n),
             x.in((i + n - width) % n), x.inout(i));
      }
    }
    kith::wait();
  }
}

// Transport sweeps: for three groups of angles, wavefronts start from all four corners of the same cells. They pass
// on edges, and add to the fluxes in any order; then the source of each cell is computed.
void transport(const sizes& s) {
  constexpr index groups = 3, corners = 4;
  const index n = side_of(s.blocks);
  const grid cells(n, s.bytes), flux(n, s.bytes / 4);
  const blocks edges(corners * groups * n * n, std::max<index>(s.bytes / 16, 4096));
  for (index i = 0; i < n; ++i) {
    for (index j = 0; j < n; ++j) task("material", 0.1 * cells.bytes(), cells.out(i, j), flux.out(i, j));
  }
  kith::wait();
  const auto sweep = [&](index which, bool up, bool left) {
    const auto edge = [&](index i, index j) { return (which * n + i) * n + j; };
    for (index k = 0; k < n; ++k) {
      for (index l = 0; l < n; ++l) {
        const index i = up ? n - 1 - k : k, j = left ? n - 1 - l : l;
        kith::access_list list;
        list.add(cells.in(i, j));
        list.add(flux.commutative(i, j));
        if (k > 0) list.add(edges.in(edge(up ? i + 1 : i - 1, j)));
        if (l > 0) list.add(edges.in(edge(i, left ? j + 1 : j - 1)));
        list.add(edges.out(edge(i, j)));
        task("sweep", s.work * cells.bytes(), list);
      }
    }
  };
  for (index step = 0; step < s.steps; ++step) {
    for (index g = 0; g < groups; ++g) {
      for (index corner = 0; corner < corners; ++corner) sweep(g * corners + corner, corner % 2 == 1, corner >= 2);
    }
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) task("source", s.work * cells.bytes(), flux.inout(i, j), cells.inout(i, j));
    }
  }
}

// Monte Carlo: tasks with log-normal costs read one of four tables that have BYTES each, and leave small results. Each
// round makes new tables out of the sums of the last, while nothing waits.
void monte_carlo(const sizes& s) {
  constexpr index tables = 4, sums = 16;
  constexpr double two_pi = 6.283;
  std::mt19937 random = numbers(137);
  const index n = s.blocks;
  const blocks table(tables, s.bytes), results(n, 16384), sum(sums, 16384);
  for (index step = 0; step < s.steps; ++step) {
    for (index t = 0; t < tables; ++t) {
      kith::access_list list;
      for (index k = 0; step > 0 && k < sums; ++k) list.add(sum.in(k));
      list.add(table.out(t));
      task("table", 0.2 * table.bytes(), list);
    }
    for (index i = 0; i < n; ++i) {
      const double u = unit(random), v = unit(random);
      const double normal = std::sqrt(-2 * std::log(1 - u)) * std::cos(two_pi * v);
      task("paths", s.work * 65536 * std::exp(normal), table.in(i % tables), results.out(i));
    }
    for (index k = 0; k < sums; ++k) {
      kith::access_list list;
      for (index i = k * n / sums; i < (k + 1) * n / sums; ++i) list.add(results.in(i));
      list.add(sum.out(k));
      task("sum", 0.1 * 16384 * real(n) / sums, list);
    }
  }
}

// Discrete events: how often a process has one follows Zipf's law. An event changes its process, and every second one
// another process near it. BLOCKS processes, BLOCKS x STEPS events.
void events(const sizes& s) {
  std::mt19937 random = numbers(149);
  const index n = s.blocks;
  const blocks state(n, s.bytes);
  fill(state, n, "create");
  for (index e = 0; e < n * s.steps; ++e) {
    const index rank = static_cast<index>(std::pow(real(n), unit(random))) - 1;
    const index from = (std::min(rank, n - 1) * 37) % n;
    if (random() % 2 == 1) {
      const index to = (from + 1 + below(random, 8)) % n;
      task("message", s.work * state.bytes(), state.inout(from), state.inout(to));
    } else {
      task("local", s.work * state.bytes() * (0.5 + unit(random)), state.inout(from));
    }
  }
}

constexpr kind all_kinds[] = {
    {"amr", adaptive_mesh},       {"assembly", assembly},       {"checkpoints", checkpoints},
    {"events", events},           {"fft_pencils", fft_pencils}, {"migration", migration},
    {"monte_carlo", monte_carlo}, {"time_skewed", time_skewed}, {"transport", transport},
};

}  // namespace

std::span<const kind> simulation_codes() noexcept { return all_kinds; }

}  // namespace kith::bench
