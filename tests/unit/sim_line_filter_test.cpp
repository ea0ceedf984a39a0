// What passes the filter of the first level, and how near a run of it is to a run of everything.
#include "engine/sim/line_filter.hpp"
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
using test::touching_script;
using testing::HasSubstr;
using testing::ThrowsMessage;

using row = std::tuple<std::uint32_t, bool, std::uint32_t>;  // line, writes, count

std::vector<row> rows_of(const sim::line_streams& s, std::size_t task) {
  std::vector<row> all;
  for (const sim::line_touches& t : s.rows_of(task)) all.emplace_back(t.line, t.writes != 0, t.count);
  return all;
}

TEST(sim_line_filter, leaves_what_a_cold_first_level_misses) {
  touching_script s;
  const std::uint32_t b = s.block(4096);
  const std::int32_t one = s.task(1000), two = s.task(1000);
  for (const std::uint64_t l : {0u, 1u, 0u, 2u, 0u, 1u, 3u}) s.read(one, b, 64 * l);
  s.write(one, b, 64 * 3);  // the directory must know
  s.write(one, b, 64 * 3);
  s.read(two, b, 64 * 3);
  const recording r = s.finish();
  const sim::line_streams all = sim::line_streams_of(r, 1);
  const sim::line_streams few = sim::filtered(all, {1, 2});
  // Two ways: 1 goes when 2 comes, because 0 was used since.
  EXPECT_EQ(
      rows_of(few, static_cast<std::size_t>(one)),
      (std::vector<row>{{0, false, 1}, {1, false, 2}, {2, false, 2}, {1, false, 1}, {3, false, 1}, {3, true, 2}}));
  EXPECT_EQ(rows_of(few, static_cast<std::size_t>(two)), (std::vector<row>{{3, false, 1}})) << "each task begins anew";
  EXPECT_EQ(few.shared, all.shared);
}

TEST(sim_line_filter, keeps_sets_or_refuses) {
  sim::line_streams s;
  s.first = {0, 0};
  s.own = 1030;
  s.stacks = {{0, 1024}};
  s.stack_depth = {64};
  const sim::line_streams few = sim::filtered(s, {256, 4});
  EXPECT_EQ(few.own, 1280u);
  EXPECT_EQ(few.stack_depth.front(), 256u);
  EXPECT_THAT([&] { sim::filtered(s, {2048, 4}); },
              ThrowsMessage<error>(testing::AllOf(HasSubstr("--l1-filter"), HasSubstr("2048 lines"))));
  EXPECT_THAT([&] { sim::filtered_on(s, model_by_name("tilepro64")); }, ThrowsMessage<error>(HasSubstr("home caches")));
  EXPECT_THAT([&] { sim::filtered_on(s, model_by_name("epyc-2x4")); },
              ThrowsMessage<error>(HasSubstr("no table [line]")));
}

TEST(sim_line_filter, is_near_the_run_of_all_rows) {
  // Tasks that walk over a part of shared data several times, and write a part of their own.
  touching_script s;
  const std::uint32_t shared = s.block(std::uint64_t{1} << 20), own = s.block(std::uint64_t{1} << 20);
  rng draw(3, purpose::test, 0);
  std::vector<std::int32_t> tasks;
  for (std::uint32_t t = 0; t < 24; ++t) {
    const std::int32_t task = s.task(1000);
    const std::uint64_t from = std::uint64_t{draw.below(8)} << 17;
    for (int pass = 0; pass < 3; ++pass) {
      for (std::uint64_t at = 0; at < 1u << 14; at += 64) {
        s.read(task, shared, from + at);
        s.read(task, shared, from + 64 * draw.below(1024));
        s.write(task, own, (std::uint64_t{t} << 15) + at % 4096);
      }
    }
  }
  sim::program p = sim::program_of(s.finish());
  machine_model m = model_by_name("cmp-32");
  m.line.first = {8192, 4, 2};
  m.line.second = {65536, 8, 20};
  sim::run_options run;
  run.policy = "fifo";
  run.workers = 4;
  run.fidelity = sim::fidelity::line;
  p.lines = sim::line_streams_on(p.recorded, m);
  const std::size_t before = p.lines.rows.size();
  const sim::result all = sim::simulate(p, m, run);
  p.lines = sim::filtered_on(std::move(p.lines), m);
  EXPECT_LT(p.lines.rows.size(), before);
  const sim::result few = sim::simulate(p, m, run);
  EXPECT_EQ(few.lines->touches, all.lines->touches);
  const auto near = [](auto a, auto b) {
    EXPECT_NEAR(static_cast<double>(a), static_cast<double>(b), 0.03 * static_cast<double>(b));
  };
  near(few.lines->second_misses, all.lines->second_misses);
  near(few.makespan, all.makespan);
}

}  // namespace
