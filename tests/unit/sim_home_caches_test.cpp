// Home caches: what must hold after any accesses, and fidelity line with them, compared with what can be counted by
// hand.
#include "engine/sim/home_caches.hpp"

#include "engine/sim/simulation.hpp"
#include "support/touching.hpp"

#include "base/rng.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace kith;
using sim::home_caches;
using test::touching_script;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr home_copies kinds[] = {home_copies::updated, home_copies::dropped, home_copies::first_level};

TEST(home_caches, keep_their_invariants) {
  for (const home_copies kind : kinds) {
    for (const auto& [cores, shift, lines] :
         {std::tuple{1u, 0u, 40u}, {3u, 2u, 200u}, {64u, 1u, 500u}, {150u, 0u, 200u}}) {
      SCOPED_TRACE(std::to_string(cores) + " cores, copies " + std::to_string(static_cast<int>(kind)));
      home_caches caches(cores, {4, 2}, {8, 2}, shift, lines, kind);
      for (std::uint32_t l = 0; l < lines; l += 1u << shift) caches.set_home(l, (l >> shift) % cores);
      rng draw(7, purpose::test, 0);
      for (int i = 0; i < 5000; ++i) {
        const std::uint32_t core = draw.below(cores), line = draw.below(lines);
        const bool writes = draw.below(4) == 0;
        const bool had = caches.in_first(core, line), had_all = caches.in_second(core, line);
        sim::core_set others = caches.copies_of(line);
        others.remove(core);
        const home_caches::outcome o = caches.ask(core, line, writes);
        const std::size_t home = caches.home(line);
        if (writes) {
          ASSERT_TRUE(o.dropped == others);
          sim::core_set left = caches.copies_of(line);
          left.remove(core);
          ASSERT_TRUE(left.none());
          if (core != home) {
            ASSERT_EQ(caches.in_first(core, line), had && kind != home_copies::dropped) << i;
          }
        } else {
          ASSERT_EQ(o.from == home_caches::found_in::first, had) << i;
          ASSERT_EQ(o.from == home_caches::found_in::second, !had && had_all) << i;
          ASSERT_TRUE(caches.in_first(core, line));
        }
        if (i % 100 != 0) continue;
        for (std::uint32_t l = 0; l < lines; ++l) {
          const std::size_t at = caches.home(l);
          for (std::uint32_t c = 0; c < cores; ++c) {
            const bool holds = caches.in_first(c, l) || caches.in_second(c, l);
            const bool never_in_second = c != at && kind == home_copies::first_level;
            ASSERT_TRUE(!holds || c == at || caches.copies_of(l).has(c)) << "H1 " << c << " " << l;
            ASSERT_TRUE(!holds || caches.in_second(at, l)) << "H2 " << c << " " << l;
            ASSERT_TRUE(!caches.in_first(c, l) || never_in_second || caches.in_second(c, l)) << "H3 " << c << " " << l;
            ASSERT_FALSE(never_in_second && caches.in_second(c, l));
          }
        }
      }
    }
  }
}

TEST(home_caches, a_home_that_loses_a_line_takes_the_copies_along) {
  home_caches caches(2, {4, 2}, {1, 2}, 0, 3, home_copies::updated);  // a second level of two lines
  for (std::uint32_t l = 0; l < 3; ++l) caches.set_home(l, 0);
  (void)caches.ask(0, 0, true);
  EXPECT_EQ(caches.ask(1, 0, false).from, home_caches::found_in::home);
  (void)caches.ask(0, 1, false);
  EXPECT_EQ(caches.ask(0, 2, false).written_back, 1u) << "line 0 is the oldest, and changed";
  EXPECT_FALSE(caches.in_first(1, 0));
  EXPECT_FALSE(caches.in_second(1, 0));
  EXPECT_EQ(caches.ask(1, 0, false).from, home_caches::found_in::memory);
}

/// A chip of one cycle a nanosecond, where only accesses take time: 2 cycles each, besides those of the caches.
machine_model tiles(home_copies copies) {
  machine_model m = model_by_name("tilepro64");
  m.costs = {};
  m.metadata_bytes = 0;
  m.ghz = 1;
  for (machine_link& l : m.links) l.gbs = 4;  // a flit of 4 bytes each cycle
  m.line.access_cycles = 2;
  m.line.first = {512, 2, 2};
  m.line.copies = copies;
  return m;
}

sim::run_options on_tiles(const std::string& policy, int workers) {
  sim::run_options s;
  s.policy = policy;
  s.workers = workers;
  s.fidelity = sim::fidelity::line;
  s.distribution = sim::distribution::regions;
  s.noise = false;
  s.keep_schedule = true;
  return s;
}

sim::program program_of(touching_script& s, const machine_model& m) {
  sim::program p = sim::program_of(s.finish());
  p.lines = sim::line_streams_on(p.recorded, m);
  return p;
}

/// Tasks in a row read a block of 64 lines, in words of 8 bytes. The block is a region, the first of two.
sim::result reads(const machine_model& m, const sim::run_options& s, int tasks) {
  touching_script script;
  for (int r = 0; r < 2; ++r) script.region(4096);
  const std::uint32_t block = script.block_at(4096, 4096);
  std::vector<std::int32_t> before;
  for (int i = 0; i < tasks; ++i) {
    before = {script.task(1000, before, {{0, static_cast<std::uint8_t>(mode::in), 4096, 4096}})};
    for (std::uint32_t at = 0; at < 4096; at += 8) script.read(before.front(), block, at);
  }
  return sim::simulate(program_of(script, m), m, s);
}

// A line has four parts of 16 bytes, each of two words: the first is a miss of the first level, the second a hit (2).
constexpr std::uint64_t core_and_hits = 64 * (8 * 2 + 4 * 2), line_at_home = 4 * 12;

TEST(sim_home_caches, a_line_of_the_own_home_takes_the_second_levels_time) {
  for (const home_copies kind : kinds) {
    const sim::result cold = reads(tiles(kind), on_tiles("home-cache", 2), 1),
                      warm = reads(tiles(kind), on_tiles("home-cache", 2), 2);
    EXPECT_EQ(cold.makespan, (core_and_hits + 64 * (line_at_home + 100)) * 1000);
    EXPECT_EQ(warm.makespan - cold.makespan, (core_and_hits + 64 * line_at_home) * 1000);
    EXPECT_EQ(warm.lines->from_memory, 64u);
    EXPECT_EQ(warm.remote_bytes, 0u);
  }
}

TEST(sim_home_caches, a_line_of_another_home_takes_38_cycles_and_2_a_hop) {
  for (const auto& [kind, later] :
       {std::pair{home_copies::updated, std::uint64_t{12}}, {home_copies::first_level, 40}}) {
    const machine_model m = tiles(kind);
    touching_script script;
    for (int r = 0; r < 2; ++r) script.region(4096);
    const std::uint32_t first = script.block_at(4096, 4096), second = script.block_at(8192, 4096);
    // Placed by its first access, at tile 0; it reads what is at home at tile 1.
    const std::int32_t t = script.task(1000, {}, {{0, static_cast<std::uint8_t>(mode::in), 4096, 4096}});
    script.read(t, first, 0);
    for (std::uint32_t at = 0; at < 4096; at += 8) script.read(t, second, at);
    const sim::result r = sim::simulate(program_of(script, m), m, on_tiles("home-cache", 2));
    ASSERT_EQ(r.schedule.tasks[static_cast<std::size_t>(t)].worker, 0);
    const std::uint64_t own = 2 + 12 + 100;  // the first touch
    EXPECT_EQ(r.makespan, (own + core_and_hits + 64 * (40 + 100 + 3 * later)) * 1000);
    EXPECT_EQ(r.remote_bytes, 4096u);
    EXPECT_EQ(r.local_bytes, kind == home_copies::updated ? 64u : 16u);
  }
}

TEST(sim_home_caches, writes_do_not_wait) {
  for (const home_copies kind : kinds) {
    touching_script script;
    for (int r = 0; r < 2; ++r) script.region(4096);
    const std::uint32_t there = script.block_at(8192, 4096);
    const std::int32_t t = script.task(1000, {}, {{0, static_cast<std::uint8_t>(mode::in), 4096, 4096}});
    for (std::uint32_t at = 0; at < 4096; at += 64) script.write(t, there, at);
    const machine_model m = tiles(kind);
    const sim::result r = sim::simulate(program_of(script, m), m, on_tiles("home-cache", 2));
    EXPECT_EQ(r.makespan, 64u * (2 + 2) * 1000);
    EXPECT_EQ(r.lines->upgrades, 64u);
  }
}

TEST(sim_home_caches, a_task_goes_to_its_data_under_home_cache_alone) {
  const machine_model m = tiles(home_copies::first_level);
  touching_script script;
  constexpr int blocks = 8;
  for (int r = 0; r < blocks; ++r) script.region(4096);
  for (int r = blocks - 1; r >= 0; --r) {
    const std::uint32_t b = script.block_at(4096 * (1 + static_cast<std::uint64_t>(r)), 4096);
    const std::int32_t t =
        script.task(1000, {}, {{static_cast<std::uint32_t>(r), static_cast<std::uint8_t>(mode::in), 4096, 4096}});
    for (std::uint32_t at = 0; at < 4096; at += 64) script.read(t, b, at);
  }
  const sim::program p = program_of(script, m);
  EXPECT_EQ(sim::simulate(p, m, on_tiles("home-cache:vicinity=1x1", blocks)).remote_bytes, 0u);
  EXPECT_GT(sim::simulate(p, m, on_tiles("fifo", blocks)).remote_bytes, 0u);
}

TEST(sim_home_caches, lines_must_be_the_machines) {
  touching_script script;
  const std::uint32_t b = script.block(4096);
  script.read(script.task(1000), b, 0);
  sim::program p = sim::program_of(script.finish());
  p.lines = sim::line_streams_of(p.recorded);
  EXPECT_THAT([&] { (void)sim::simulate(p, tiles(home_copies::updated), on_tiles("fifo", 1)); },
              ThrowsMessage<error>(HasSubstr("lines of 64 bytes; tilepro64 has 16")));
}

}  // namespace
