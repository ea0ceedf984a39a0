// Fidelity line: misses compared with a plain model, and times, misses and messages with what can be computed by hand.
#include "support/line_runs.hpp"
#include "support/plain_caches.hpp"
#include "support/scale.hpp"

#include "base/rng.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace kith;
using sim::program;
using sim::result;
using sim::run_options;
using test::by_turns;
using test::chip;
using test::cycle;
using test::lines;
using test::program_of;
using test::small_chip;
using test::touching_script;
using testing::HasSubstr;
using testing::ThrowsMessage;

int hops(int from, int to) { return std::abs(from % 8 - to % 8) + std::abs(from / 8 - to / 8); }
/// From the home of line `l` for a core at node 0, without contention: L2, the request, memory, and five flits.
std::uint64_t miss_cycles(std::uint32_t l) {
  const int way = hops(0, static_cast<int>(l % 32));
  return 20 + 500 + static_cast<std::uint64_t>(way * 6 + (way != 0 ? 4 : 0));
}

TEST(sim_line, a_stream_takes_as_long_as_its_misses) {
  touching_script s;
  const std::uint32_t b = s.block(64 * 100);
  const std::int32_t t = s.task(1000);
  std::uint64_t cycles = 0;
  for (std::uint32_t l = 0; l < 100; ++l) {
    for (std::uint32_t i = 0; i < 8; ++i) s.read(t, b, 64 * l + 8 * i);
    cycles += miss_cycles(l) + 7 * 2 + 8 * 2;  // seven hits, and two cycles of the core for each access
  }
  const result r = sim::simulate(program_of(s), chip(), lines("fifo", 1));
  ASSERT_TRUE(r.lines);
  EXPECT_EQ(r.lines->touches, 800u);
  EXPECT_EQ(r.lines->accesses, 100u);
  EXPECT_EQ(r.lines->first_misses, 100u);
  EXPECT_EQ(r.lines->second_misses, 100u);
  EXPECT_EQ(r.lines->from_memory, 100u);
  EXPECT_EQ(r.makespan, cycles * cycle);
  EXPECT_DOUBLE_EQ(r.lines->cycles, static_cast<double>(cycles));
}

TEST(sim_line, instructions_are_the_time_between_accesses) {
  touching_script s;
  const std::uint32_t b = s.block(64);
  const std::int32_t counted = s.task(1000), uncounted = s.task(1000);
  for (std::uint32_t i = 0; i < 8; ++i) {
    s.read(counted, b, 8 * i);
    s.read(uncounted, b, 8 * i);
  }
  recording r = s.finish();
  r.counts.resize(1);
  r.counts[0].task = counted;
  r.counts[0][counter::instructions] = 40;  // five for each access
  program p = sim::program_of(std::move(r));
  p.lines = sim::line_streams_of(p.recorded);
  machine_model m = chip();
  const std::uint64_t caches = miss_cycles(0) + 7 * 2 + 8 * 2;
  const auto cycles = [&](const run_options& how) { return sim::simulate(p, m, how).makespan / cycle; };
  m.line.instruction_cycles = 3;
  EXPECT_EQ(cycles(lines("fifo", 1)), caches + 40 * 3 + 8 * 2);
  run_options given = lines("fifo", 1);
  given.access_cycles = 7;
  EXPECT_EQ(cycles(given), caches + 16 * 7);
  m.line.instruction_cycles = 0;  // a machine that does not say it
  EXPECT_EQ(cycles(lines("fifo", 1)), caches + 16 * 2);
}

TEST(sim_line, what_fits_a_level_is_found_there) {
  for (const auto& [kib, first, second] : {std::tuple{64, 1024u, 1024u},
                                           {128, 3u * 2048, 2048u},
                                           {2048, 3u * 32768, 32768u},
                                           {2304, 3u * 36864, 3u * 36864}}) {
    touching_script s;
    const std::uint32_t b = s.block(static_cast<std::uint64_t>(kib) * 1024);
    const std::int32_t t = s.task(1000);
    for (int pass = 0; pass < 3; ++pass) {
      for (std::uint32_t at = 0; at < static_cast<std::uint32_t>(kib) * 1024; at += 64) s.read(t, b, at);
    }
    const result r = sim::simulate(program_of(s), chip(), lines("fifo", 1));
    EXPECT_EQ(r.lines->first_misses, first) << kib;
    EXPECT_EQ(r.lines->second_misses, second) << kib;
  }
}

TEST(sim_line, a_stride_of_a_way_uses_one_set) {
  touching_script s;
  const std::uint32_t b = s.block(std::uint64_t{9} << 18);
  const std::int32_t eight = s.task(1000), nine = s.task(1000, std::vector<std::int32_t>{eight});
  for (int pass = 0; pass < 4; ++pass) {
    for (std::uint64_t i = 0; i < 8; ++i) s.read(eight, b, i << 18);
    for (std::uint64_t i = 0; i < 9; ++i) s.read(nine, b, (i << 18) + 64);
  }
  const result r = sim::simulate(program_of(s), chip(), lines("fifo", 1));
  EXPECT_EQ(r.lines->second_misses, 8u + 4 * 9);
  EXPECT_EQ(r.lines->first_misses, 4u * 8 + 4 * 9);
}

/// C = A B of n x n numbers, in blocks.
program product(std::uint32_t n, std::uint32_t block) {
  touching_script s;
  const std::uint32_t a = s.block(n * n * 8), b = s.block(n * n * 8), c = s.block(n * n * 8);
  const std::int32_t t = s.task(1000);
  for (std::uint32_t i0 = 0; i0 < n; i0 += block) {
    for (std::uint32_t j0 = 0; j0 < n; j0 += block) {
      for (std::uint32_t k0 = 0; k0 < n; k0 += block) {
        for (std::uint32_t i = i0; i < i0 + block; ++i) {
          for (std::uint32_t j = j0; j < j0 + block; ++j) {
            for (std::uint32_t k = k0; k < k0 + block; ++k) {
              s.read(t, a, (i * n + k) * 8);
              s.read(t, b, (k * n + j) * 8);
            }
            s.write(t, c, (i * n + j) * 8);
          }
        }
      }
    }
  }
  return program_of(s);
}

TEST(sim_line, blocks_save_the_misses_of_a_matrix_product) {
  constexpr std::uint32_t n = 48;
  machine_model m = small_chip();
  m.line.first = {4096, 64, 2};  // fully associative: no conflicts
  m.line.second = {8192, 128, 20};
  const result plain = sim::simulate(product(n, n), m, lines("fifo", 1));
  const result blocked = sim::simulate(product(n, 8), m, lines("fifo", 1));
  // A column of B is 48 lines, which fit beside a row of A; all of B is 288 lines, which do not fit. So B is read anew
  // for each row of C, and C once. A's lines are used in L1, which L2 does not notice, and drops them twice.
  EXPECT_GE(plain.lines->second_misses, n * 288u + 288 + 288);
  EXPECT_LE(plain.lines->second_misses, n * 288u + 288 + 3 * 288);
  EXPECT_LT(blocked.lines->second_misses, plain.lines->second_misses / 4);
  EXPECT_LT(blocked.makespan, plain.makespan);
}

TEST(sim_line, cores_that_write_a_line_take_it_from_each_other) {
  constexpr int turns = 3000;
  const result same = sim::simulate(by_turns(0, turns), chip(), lines("fifo", 2));
  const result falsely = sim::simulate(by_turns(8, turns), chip(), lines("fifo", 2));
  const result apart = sim::simulate(by_turns(64, turns), chip(), lines("fifo", 2));
  EXPECT_EQ(same.makespan, falsely.makespan);
  EXPECT_EQ(same.lines->invalidations, falsely.lines->invalidations);
  EXPECT_GT(falsely.lines->invalidations, 100u);
  EXPECT_GT(falsely.lines->from_cores, 100u);
  EXPECT_EQ(apart.lines->invalidations, 0u);
  EXPECT_EQ(apart.lines->second_misses, 6u);
  EXPECT_GT(falsely.makespan, apart.makespan);
  // Touches that are taken together, because the core has few other lines, notice others all the same.
  const result merged = sim::simulate(by_turns(8, turns, 256), chip(), lines("fifo", 2));
  EXPECT_GT(merged.lines->invalidations, falsely.lines->invalidations * 9 / 10);
  EXPECT_EQ(merged.lines->touches, falsely.lines->touches);
}

// A core that lost a line keeps in step with the one that took it. Else it would read ahead and miss most changes.
TEST(sim_line, cores_that_poll_a_line_see_its_changes) {
  constexpr int turns = 3000, pollers = 3;
  touching_script s;
  const std::uint32_t polled = s.block(64);
  for (int i = 0; i <= pollers; ++i) {
    const std::uint32_t own = s.block(3 * 4096);
    const std::int32_t t = s.task(1000);
    for (int k = 0; k < turns; ++k) {
      s.touch(t, {polled, 0, i == 0});
      s.write(t, own, static_cast<std::uint64_t>(k % 3) * 4096);
      s.write(t, own, static_cast<std::uint64_t>((k + 1) % 3) * 4096);
    }
  }
  const result r = sim::simulate(program_of(s), chip(), lines("fifo", pollers + 1));
  EXPECT_GT(r.lines->invalidations, turns / 2u);
  EXPECT_GE(r.lines->from_cores, r.lines->invalidations);
}

TEST(sim_line, more_than_64_cores_share_a_line) {
  // All cores of a chip read it at once, then one writes it.
  touching_script s;
  const std::uint32_t b = s.block(64);
  std::vector<std::int32_t> readers;
  for (int i = 0; i < 128; ++i) {
    readers.push_back(s.task(1000));
    for (int k = 0; k < 2000; ++k) s.read(readers.back(), b, 0);
  }
  const std::int32_t writer = s.task(1000, readers);
  s.write(writer, b, 0);
  machine_model m = model_by_name("altra-max-128");
  m.costs = {};
  const result r = sim::simulate(program_of(s), m, lines("fifo", 128));
  EXPECT_EQ(r.workers.size(), 128u);
  EXPECT_EQ(r.lines->from_memory + r.lines->from_cores, r.lines->second_misses);
  EXPECT_GT(r.lines->second_misses, 64u) << "so many cores had it";
  EXPECT_EQ(r.lines->invalidations + 1, r.lines->second_misses) << "the writer had it, too";
}

TEST(sim_line, a_chain_moves_its_line_from_core_to_core) {
  // Each task keeps its worker busy while the next one starts elsewhere.
  touching_script s;
  const std::uint32_t b = s.block(64);
  std::int32_t before = s.task(1000);
  s.write(before, b, 0);
  for (int i = 0; i < 9; ++i) {
    before = s.task(1000, std::vector<std::int32_t>{before});
    s.write(before, b, 0);
  }
  const result one = sim::simulate(program_of(s), chip(), lines("fifo", 1));
  EXPECT_EQ(one.lines->from_memory, 1u);
  EXPECT_EQ(one.lines->invalidations, 0u);
  const result many = sim::simulate(program_of(s), chip(), lines("random", 32));
  EXPECT_EQ(many.lines->from_memory, 1u);
  EXPECT_EQ(many.lines->from_cores, many.lines->invalidations);
  EXPECT_EQ(many.lines->second_misses, 1 + many.lines->from_cores);
}

TEST(sim_line, every_stack_is_its_cores_own) {
  touching_script s;
  for (int t = 0; t < 100; ++t) {
    const std::int32_t task = s.task(1000);
    for (std::uint64_t i = 1; i <= 64; ++i) s.write(task, touching_script::stack, 8 * i);
  }
  const result one = sim::simulate(program_of(s), chip(), lines("fifo", 1));
  EXPECT_EQ(one.lines->second_misses, 8u);
  const result four = sim::simulate(program_of(s), chip(), lines("fifo", 4));
  EXPECT_EQ(four.lines->second_misses, 32u);
  EXPECT_EQ(four.lines->invalidations, 0u);
}

/// Tasks that read and write random blocks, and depend on each other as they must, or each on the one before.
/// Then other tasks, which use a set of both levels alone, keep the workers so busy that the next task runs elsewhere.
void fill(touching_script& s, std::uint64_t seed, int tasks, bool in_a_row = false) {
  rng draw(seed, purpose::test, 0);
  constexpr std::uint32_t blocks = 12, bytes = 8 * 64;
  std::vector<std::int32_t> writer(blocks, -1);
  std::vector<std::vector<std::int32_t>> readers(blocks);
  std::vector<std::uint32_t> block;
  std::int32_t last = -1;
  for (std::uint32_t b = 0; b < blocks; ++b) block.push_back(s.block(bytes));
  for (int i = 0; i < tasks; ++i) {
    std::vector<std::pair<std::uint32_t, bool>> uses;
    std::vector<std::int32_t> before;
    for (std::uint32_t u = 0; u < 3; ++u) {
      const std::uint32_t b = draw.below(blocks);
      if (std::ranges::find(uses, b, &std::pair<std::uint32_t, bool>::first) != uses.end()) continue;
      uses.emplace_back(b, draw.below(3) == 0);
      if (writer[b] >= 0) before.push_back(writer[b]);
      if (uses.back().second) before.insert(before.end(), readers[b].begin(), readers[b].end());
    }
    std::ranges::sort(before);
    before.erase(std::ranges::unique(before).begin(), before.end());
    if (in_a_row) {
      before.clear();
      if (last > 0) {
        before.push_back(last);
        const std::int32_t other = s.task(1000, before);
        for (int k = 0; k < 300; ++k) s.read(other, touching_script::stack, 3 * 64 + 8);
      }
    }
    const std::int32_t t = last = s.task(1000, before);
    for (const auto& [b, writes] : uses) {
      if (writes) {
        writer[b] = t;
        readers[b].clear();
      } else {
        readers[b].push_back(t);
      }
    }
    // The first task touches the first line, so that lines can be counted from there.
    if (i == 0) s.read(t, block[0], 0);
    for (std::uint32_t k = draw.below(120); k > 0; --k) {
      const auto& [b, writes] = uses[draw.below(static_cast<std::uint32_t>(uses.size()))];
      const std::uint64_t half = draw.below(2) * std::uint64_t{256};
      if (draw.below(8) == 0) {
        s.touch(t, {touching_script::stack, half + 8 + 8 * std::uint64_t{draw.below(24)}, draw.below(2) == 0});
      } else {
        // Not aligned: some touch two lines.
        const std::uint64_t at = half + draw.below(3 * 64 - 16);
        s.touch(t, {block[b], at, writes && draw.below(2) == 0, 1 + std::uint64_t{draw.below(16)}});
      }
    }
  }
}

struct misses {
  std::uint64_t first = 0, second = 0;
  std::size_t cores = 0;
};

/// Replays the tasks in the order of their starts; counts how many cores have run any.
misses plain_misses(touching_script& s, const program& p, const result& r, const machine_model& m, std::size_t cores) {
  const auto shape = [](const line_costs::cache& c) {
    return sim::cache_shape{static_cast<std::uint32_t>(c.bytes / c.ways / 64), c.ways};
  };
  test::plain_caches caches(cores, shape(m.line.first), shape(m.line.second));
  std::vector<std::int32_t> order;
  for (std::int32_t t = 1; t < static_cast<std::int32_t>(p.tasks()); ++t) order.push_back(t);
  const auto run = [&](std::int32_t t) -> const recorded_task& {
    return r.schedule.tasks[static_cast<std::size_t>(t)];
  };
  std::ranges::sort(order, {}, [&](std::int32_t t) { return std::tuple(run(t).started, t); });
  misses all;
  std::set<std::uint32_t> used;
  for (const std::int32_t t : order) {
    const auto core = static_cast<std::uint32_t>(run(t).worker);
    used.insert(core);
    for (const touching_script::one& k : s.of(t)) {
      std::uint64_t from = s.address(k.block) - s.address(2) + k.offset, until = from + k.bytes - 1;
      std::uint64_t base = 0;
      if (k.block == touching_script::stack) {  // downward from the root's, which has none
        until = k.offset - 1;
        from = until - std::min(until, k.bytes - 1);
        base = p.lines.shared + core * p.lines.own;
      }
      for (std::uint64_t l = from / 64; l <= until / 64; ++l) {
        const auto o = caches.access(core, static_cast<std::uint32_t>(base + l), k.writes);
        all.first += o.from != sim::line_caches::found_in::first;
        all.second += o.from == sim::line_caches::found_in::memory || o.from == sim::line_caches::found_in::other_core;
      }
    }
  }
  all.cores = used.size();
  return all;
}

TEST(sim_line, has_the_misses_of_a_plain_model) {
  const machine_model m = small_chip();
  for (std::uint64_t seed = 1; seed <= (test::sanitized ? 3 : 12); ++seed) {
    for (const auto& [policy, workers] : {std::pair{"fifo", 1}, {"fifo", 3}, {"random", 8}, {"reference", 32}}) {
      // Which of two tasks that run at once comes first decides what is evicted. So tasks of several cores run in a
      // row.
      touching_script s;
      fill(s, seed, 150, workers != 1);
      const program p = program_of(s, seed % 2 == 0 ? sim::least_sets(m) : 1);
      SCOPED_TRACE(std::string(policy) + " on " + std::to_string(workers) + ", seed " + std::to_string(seed));
      run_options how = lines(policy, workers);
      how.keep_schedule = true;
      const result r = sim::simulate(p, m, how);
      const misses want = plain_misses(s, p, r, m, static_cast<std::size_t>(workers));
      EXPECT_GE(want.cores, workers == 1 ? 1u : 3u);
      EXPECT_EQ(r.lines->first_misses, want.first);
      EXPECT_EQ(r.lines->second_misses, want.second);
      EXPECT_EQ(r.cache_misses, want.second);
      EXPECT_EQ(r.lines->from_memory + r.lines->from_cores, want.second);
    }
  }
}

TEST(sim_line, gives_the_same_result_again) {
  touching_script s;
  fill(s, 5, 300);
  const program p = program_of(s);
  for (const char* policy : {"fifo", "source", "random", "token", "reference", "steal"}) {
    for (const bool in_hardware : {false, true}) {
      run_options how = lines(policy, 16);
      how.noise = true;
      how.hardware.used = in_hardware;
      const machine_model m = model_by_name("cmp-32");
      const result a = sim::simulate(p, m, how), b = sim::simulate(p, m, how);
      EXPECT_EQ(a.makespan, b.makespan) << policy;
      EXPECT_EQ(a.lines->first_misses, b.lines->first_misses) << policy;
      EXPECT_EQ(a.lines->flits, b.lines->flits) << policy;
      EXPECT_EQ(a.network_bytes, b.network_bytes) << policy;
      EXPECT_EQ(a.events, b.events) << policy;
      EXPECT_GT(a.network_bytes, 0u) << policy;
    }
  }
}

TEST(sim_line, contention_only_adds_time) {
  touching_script s;
  fill(s, 3, 200);
  const program p = program_of(s);
  run_options how = lines("fifo", 1);
  const result with = sim::simulate(p, small_chip(), how);
  how.parts.contention = false;
  const result without = sim::simulate(p, small_chip(), how);
  EXPECT_GE(with.makespan, without.makespan);
  EXPECT_EQ(with.lines->flits, without.lines->flits);
  EXPECT_EQ(with.lines->second_misses, without.lines->second_misses);
}

TEST(sim_line, says_what_it_lacks) {
  touching_script s;
  fill(s, 1, 5);
  const program p = program_of(s);
  const auto run = [&](const program& of, const machine_model& m, const run_options& how) {
    return [&, how] { (void)sim::simulate(of, m, how); };
  };
  machine_model without = chip();
  without.line = {};
  EXPECT_THAT(run(p, without, lines("fifo", 2)), ThrowsMessage<error>(HasSubstr("a table [line], as cmp-32 has")));
  program plain = p;
  plain.lines = {};
  const machine_model m = chip();
  EXPECT_THAT(run(plain, m, lines("fifo", 2)), ThrowsMessage<error>(HasSubstr("kith record --addresses -- PROGRAM")));
  machine_model large = model_by_name("bullion-s16-16");  // 288 cores
  large.line = m.line;
  EXPECT_THAT(run(p, large, lines("fifo", 0)), ThrowsMessage<error>(HasSubstr("use --workers 256")));
  run_options dealt = lines("fifo", 2);
  dealt.distribution = sim::distribution::fine;
  EXPECT_THAT(run(p, m, dealt), ThrowsMessage<error>(HasSubstr("expected no --distribution")));
  run_options bare = lines("fifo", 2);
  bare.parts.caches = false;
  EXPECT_THAT(run(p, m, bare), ThrowsMessage<error>(HasSubstr("expected --fidelity block")));
}

}  // namespace
