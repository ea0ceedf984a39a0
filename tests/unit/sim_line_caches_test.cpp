// Coherent caches, compared with a model that is plain and slow, and with what can be counted by hand.
#include "engine/sim/line_caches.hpp"

#include "support/plain_caches.hpp"
#include "support/scale.hpp"

#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace {

using namespace kith;
using sim::cache_shape;
using sim::line_caches;
using test::plain_caches;
using state = line_caches::line_state;
using source = line_caches::found_in;
using outcome = line_caches::outcome;

struct geometry {
  std::size_t cores;
  cache_shape first, second;
  std::uint32_t lines;
};

TEST(sim_line_caches, behave_as_a_plain_model) {
  const geometry all[] = {{1, {1, 1}, {1, 1}, 3},   {2, {1, 2}, {2, 2}, 12}, {4, {4, 2}, {4, 4}, 60},
                          {8, {2, 4}, {16, 2}, 80}, {3, {8, 1}, {4, 4}, 50}, {64, {4, 4}, {16, 8}, 400},
                          {130, {4, 2}, {8, 2}, 60}};
  for (const geometry& g : all) {
    for (std::uint64_t seed = 1; seed <= (test::sanitized ? 1 : 4); ++seed) {
      SCOPED_TRACE(std::to_string(g.cores) + " cores, seed " + std::to_string(seed));
      line_caches fast(g.cores, g.first, g.second, g.lines);
      plain_caches slow(g.cores, g.first, g.second);
      rng draw(seed, purpose::test, 0);
      for (int i = 0; i < 20000; ++i) {
        const std::size_t core = draw.below(static_cast<std::uint32_t>(g.cores));
        // A part of the lines is used more often, so that there are hits.
        const std::uint32_t line = draw.below(draw.below(2) == 0 ? g.lines : (g.lines + 3) / 4);
        const bool writes = draw.below(4) == 0;
        const outcome a = fast.access(core, line, writes), b = slow.access(core, line, writes);
        ASSERT_EQ(a.from, b.from) << i;
        ASSERT_EQ(a.supplier, b.supplier) << i;
        ASSERT_EQ(a.asked, b.asked) << i;
        ASSERT_TRUE(a.invalidated == b.invalidated) << i;
        ASSERT_EQ(a.written_back, b.written_back) << i;
        if (i % 500 != 0) continue;
        for (std::size_t c = 0; c < g.cores; ++c) {
          for (std::uint32_t l = 0; l < g.lines; ++l) {
            ASSERT_EQ(fast.state_of(c, l), slow.state_of(c, l)) << c << " " << l;
            ASSERT_EQ(fast.in_first(c, l), slow.in_first(c, l)) << c << " " << l;
            ASSERT_EQ(fast.in_second(c, l), slow.in_second(c, l)) << c << " " << l;
          }
        }
      }
    }
  }
}

std::size_t count(line_caches& caches, source from, std::uint32_t lines, int passes) {
  std::size_t found = 0;
  for (int p = 0; p < passes; ++p) {
    for (std::uint32_t l = 0; l < lines; ++l) found += caches.access(0, l, false).from == from ? 1 : 0;
  }
  return found;
}

// 64 KB in 4 ways, and 2 MB in 8 ways.
constexpr cache_shape first = {256, 4}, second = {4096, 8};

TEST(sim_line_caches, a_stream_that_fits_misses_once) {
  for (const auto& [lines, from] :
       {std::pair{1024u, source::first}, {2048u, source::second}, {32768u, source::second}}) {
    line_caches caches(1, first, second, 100'000);
    EXPECT_EQ(count(caches, source::memory, lines, 1), lines);
    EXPECT_EQ(count(caches, from, lines, 3), 3 * lines);
  }
}

TEST(sim_line_caches, a_stream_that_is_too_long_always_misses) {
  line_caches caches(1, first, second, 100'000);
  constexpr std::uint32_t lines = 4096 * 9;  // one more than the ways in each set
  EXPECT_EQ(count(caches, source::memory, lines, 4), 4u * lines);
}

TEST(sim_line_caches, a_stride_of_the_sets_uses_one_set) {
  line_caches caches(1, first, second, 100'000);
  for (int pass = 0; pass < 3; ++pass) {
    for (std::uint32_t i = 0; i < 8; ++i) {
      const source from = caches.access(0, i * 4096, false).from;
      EXPECT_EQ(from, pass == 0 ? source::memory : source::second);  // eight of them fit the second level only
    }
  }
}

TEST(sim_line_caches, a_line_that_two_cores_write_goes_to_and_fro) {
  line_caches caches(2, first, second, 10);
  EXPECT_EQ(caches.access(0, 5, true).from, source::memory);
  for (int i = 1; i < 10; ++i) {
    const outcome o = caches.access(i % 2, 5, true);
    EXPECT_EQ(o.from, source::other_core);
    EXPECT_EQ(o.supplier, (i + 1) % 2);
    EXPECT_TRUE(o.invalidated.has((i + 1) % 2) && !o.invalidated.has(i % 2));
  }
}

TEST(sim_line_caches, an_owner_supplies_all_readers_and_writes_back_once) {
  line_caches caches(4, {1, 1}, {1, 1}, 10);
  caches.access(0, 5, true);
  for (std::size_t reader = 1; reader < 4; ++reader) EXPECT_EQ(caches.access(reader, 5, false).supplier, 0);
  EXPECT_EQ(caches.state_of(0, 5), state::owned);
  EXPECT_EQ(caches.access(1, 6, false).written_back, -1);  // a reader loses it
  EXPECT_EQ(caches.access(0, 7, false).written_back, 5);   // the owner loses it
  EXPECT_EQ(caches.access(1, 5, false).from, source::memory);
  EXPECT_EQ(caches.state_of(2, 5), state::shared);
}

TEST(sim_line_caches, a_line_that_nobody_else_has_is_written_without_invalidations) {
  line_caches caches(2, first, second, 10);
  caches.access(0, 5, false);
  EXPECT_EQ(caches.state_of(0, 5), state::exclusive);
  EXPECT_TRUE(caches.access(0, 5, true).invalidated.none());
  EXPECT_EQ(caches.state_of(0, 5), state::modified);
}

}  // namespace
