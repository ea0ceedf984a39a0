// Kinds of streams: frames, images and items that pass through buffers. Sizes mean the same as in kinds.cpp, unless a
// comment says otherwise.
#include "irregular.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <vector>

namespace kith::bench {
namespace {

// Video encoding: STEPS frames of BLOCKS/16 rows, of which each third refers to the one three before, and the two
// between to both. A row needs rows of the reference frames, and the row above it. Entropy coding is a chain for each
// frame, and a muxer takes the frames in order. Sixteen frame buffers are used again and again; nothing waits.
void video(const sizes& s) {
  constexpr index ring = 16, none = -1;
  const index rows = std::max<index>(4, s.blocks / ring);
  const blocks raw(ring * rows, s.bytes), decoded(ring * rows, s.bytes), bits(ring, s.bytes), stream(1, 262144);
  const auto slot = [&](index frame, index row) { return frame % ring * rows + row; };
  const auto encode = [&](index frame, index before, index after, double cost) {
    for (index y = 0; y < rows; ++y) task("capture", 0.1 * raw.bytes(), raw.out(slot(frame, y)));
    for (index y = 0; y < rows; ++y) {
      kith::access_list list;
      list.add(raw.in(slot(frame, y)));
      for (const index reference : {before, after}) {
        if (reference == none) continue;
        for (index k = std::max<index>(y - 1, 0); k <= std::min(y + 1, rows - 1); ++k) {
          list.add(decoded.in(slot(reference, k)));
        }
      }
      if (y > 0) list.add(decoded.in(slot(frame, y - 1)));
      list.add(decoded.out(slot(frame, y)));
      task("row", cost * s.work * raw.bytes(), list);
      task("entropy", 0.2 * s.work * raw.bytes(), decoded.in(slot(frame, y)), bits.inout(frame % ring));
    }
    task("mux", 0.05 * bits.bytes(), bits.in(frame % ring), stream.inout(0));
  };
  index last = none;
  for (index frame = 0; frame + 3 < s.steps; frame += 3) {
    const bool alone = frame % 12 == 0;  // refers to no other frame
    const index next = frame + 2;
    encode(next, alone ? none : last, none, alone ? 0.7 : 1.5);
    if (last != none) {
      encode(frame, last, next, 2);
      encode(frame + 1, last, next, 2);
    }
    last = next;
  }
}

// Pyramids of STEPS images: tiles are loaded, and shrunk to a quarter three times; the smallest are summed, and their
// result goes back up through all levels. The buffers of six images, of BLOCKS tiles or more, are used again and again;
// nothing waits.
void pyramids(const sizes& s) {
  constexpr index at_once = 6, levels = 4;
  index n = 8;
  while (n * n * at_once < s.blocks) n += 8;
  std::vector<blocks> level;
  for (index l = 0; l < levels; ++l) level.emplace_back(at_once * (n >> l) * (n >> l), s.bytes);
  const blocks tones(at_once, 8192);
  const double bytes = level[0].bytes();
  for (index image = 0; image < s.steps; ++image) {
    const index z = image % at_once;
    const auto at = [&](index l, index i, index j) { return (z * (n >> l) + i) * (n >> l) + j; };
    for (index i = 0; i < n; ++i) {
      for (index j = 0; j < n; ++j) task("load", 0.1 * bytes, level[0].out(at(0, i, j)));
    }
    for (index l = 1; l < levels; ++l) {
      const blocks& fine = level[l - 1];
      for (index i = 0; i < n >> l; ++i) {
        for (index j = 0; j < n >> l; ++j) {
          task("shrink", 2 * s.work * bytes, fine.in(at(l - 1, 2 * i, 2 * j)), fine.in(at(l - 1, 2 * i, 2 * j + 1)),
               fine.in(at(l - 1, 2 * i + 1, 2 * j)), fine.in(at(l - 1, 2 * i + 1, 2 * j + 1)),
               level[l].out(at(l, i, j)));
        }
      }
    }
    kith::access_list list;
    for (index i = 0; i < n >> (levels - 1); ++i) {
      for (index j = 0; j < n >> (levels - 1); ++j) list.add(level[levels - 1].in(at(levels - 1, i, j)));
    }
    list.add(tones.out(z));
    task("tone", s.work * bytes, list);
    for (index l = levels - 1; l-- > 0;) {
      for (index i = 0; i < n >> l; ++i) {
        for (index j = 0; j < n >> l; ++j) {
          task("sharpen", s.work * bytes, tones.in(z), level[l + 1].in(at(l + 1, i / 2, j / 2)),
               level[l].inout(at(l, i, j)));
        }
      }
    }
  }
}

// Histogram equalisation: all tasks count into the same bins at a time, and all read the map that one task makes of
// them. The images are never initialised, and nothing waits.
void histograms(const sizes& s) {
  const index n = s.blocks;
  const blocks image(n, s.bytes), bins(1, 1 << 20), map(1, 1 << 20);
  for (index step = 0; step < s.steps; ++step) {
    task("clear", 0.02 * bins.bytes(), bins.out(0));
    for (index i = 0; i < n; ++i) task("count", s.work * image.bytes(), image.in(i), bins.concurrent(0));
    task("scan", 0.2 * bins.bytes(), bins.in(0), map.out(0));
    for (index i = 0; i < n; ++i) task("apply", s.work * image.bytes(), map.in(0), image.inout(i));
  }
}

// Twelve producers, each a chain, of which every third is half as fast, fill all slots; consumers join two items at a
// time, in random order. Nothing is initialised, and nothing waits.
void out_of_order(const sizes& s) {
  constexpr index producers = 12;
  std::mt19937 random = numbers(157);
  const index slots = std::max<index>(4, s.blocks / producers);
  const blocks state(producers, 131072), items(producers * slots, s.bytes), joined(s.blocks, s.bytes / 2);
  index done = 0;
  for (index step = 0; step < s.steps; ++step) {
    for (index k = 0; k < slots; ++k) {
      for (index p = 0; p < producers; ++p) {
        task("produce", 0.1 * items.bytes() * (p % 3 == 0 ? 2 : 1), state.inout(p), items.out(p * slots + k));
      }
    }
    const std::vector<index> order = shuffled(random, producers * slots);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      const index j = done++ % s.blocks;
      task("join", s.work * items.bytes(), items.in(order[i]), items.in(order[i + 1]), joined.out(j));
      task("emit", 2 * s.work * joined.bytes(), joined.in(j));
    }
  }
}

constexpr kind all_kinds[] = {
    {"histograms", histograms}, {"out_of_order", out_of_order}, {"pyramids", pyramids}, {"video", video}};

}  // namespace

std::span<const kind> streams() noexcept { return all_kinds; }

}  // namespace kith::bench
