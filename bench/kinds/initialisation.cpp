// Kinds of programs that initialise their data in other pieces than those in which they use it. Sizes mean the same as
// in kinds.cpp.
#include "kinds.hpp"

#include <kith/kith.hpp>

#include <span>

namespace kith::bench {
namespace {

// One task that fills all blocks of both arrays.
void fill_at_once(const sizes& s, const blocks& a, const blocks& b) {
  kith::access_list all;
  for (index i = 0; i < s.blocks; ++i) {
    all.add(a.out(i));
    all.add(b.out(i));
  }
  kith::spawn([] {}, type_of("fill"), kith::work{0.04 * a.bytes() * static_cast<double>(s.blocks)}, all);
}

// One task fills everything; then all stream through it.
void filled_by_one(const sizes& s) {
  const blocks a(s.blocks, s.bytes), b(s.blocks, s.bytes);
  fill_at_once(s, a, b);
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < s.blocks; ++i) task("stream", s.work * a.bytes(), a.in(i), b.inout(i));
  }
}

// One task fills both arrays of a stencil, which waits after each step.
void filled_stencil(const sizes& s) {
  const blocks a(s.blocks, s.bytes), b(s.blocks, s.bytes);
  fill_at_once(s, a, b);
  for (index step = 0; step < s.steps; ++step) {
    kith::wait();
    const blocks &from = step % 2 == 0 ? a : b, &to = step % 2 == 0 ? b : a;
    for (index i = 0; i < s.blocks; ++i)
      task("stencil", s.work * a.bytes(), from.in((i + 1) % s.blocks), from.in(i), to.inout(i));
  }
}

// Filled by columns of tiles, computed by rows of tiles.
void filled_across(const sizes& s) {
  const index n = side_of(s.blocks);
  const grid tiles(n, s.bytes);
  for (index j = 0; j < n; ++j) {
    kith::access_list column;
    for (index i = 0; i < n; ++i) column.add(tiles.out(i, j));
    kith::spawn([] {}, type_of("fill"), kith::work{0.02 * tiles.bytes() * static_cast<double>(n)}, column);
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) {
        if (j > 0) {
          task("sweep", s.work * tiles.bytes(), tiles.in(i, j - 1), tiles.inout(i, j));
        } else {
          task("sweep", s.work * tiles.bytes(), tiles.inout(i, j));
        }
      }
    }
  }
}

// A few tasks fill many small blocks each, in another grouping than that in which they are used.
void coarse_fill(const sizes& s) {
  const blocks a(s.blocks, s.bytes);
  const index fillers = 12;
  for (index f = 0; f < fillers; ++f) {
    kith::access_list share;
    for (index i = f * s.blocks / fillers; i < (f + 1) * s.blocks / fillers; ++i) share.add(a.out(i));
    const double part = static_cast<double>(s.blocks) / fillers;
    kith::spawn([] {}, type_of("fill"), kith::work{0.02 * a.bytes() * part}, share);
  }
  kith::wait();
  for (index step = 0; step < s.steps; ++step) {
    for (index i = 0; i < s.blocks; ++i) task("use", s.work * a.bytes(), a.inout(i));
    kith::wait();
  }
}

constexpr kind all_kinds[] = {{"coarse_fill", coarse_fill},
                              {"filled_across", filled_across},
                              {"filled_by_one", filled_by_one},
                              {"filled_stencil", filled_stencil}};

}  // namespace

std::span<const kind> initialisation() noexcept { return all_kinds; }

}  // namespace kith::bench
