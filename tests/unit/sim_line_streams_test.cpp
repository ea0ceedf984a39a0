// How recorded addresses become lines.
#include "engine/sim/line_streams.hpp"
#include "recording/check.hpp"
#include "recording/touches.hpp"
#include "support/touching.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace kith;
using sim::line_streams;
using sim::line_streams_of;
using sim::line_touches;
using test::touching_script;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;
using testing::ThrowsMessage;

/// "LINE x COUNT", with w if it writes.
std::vector<std::string> text(const line_streams& s, std::int32_t task) {
  std::vector<std::string> all;
  for (const line_touches& t : s.rows_of(static_cast<std::size_t>(task)))
    all.push_back(std::to_string(t.line) + (t.writes != 0 ? "w" : "") + "x" + std::to_string(t.count));
  return all;
}

TEST(sim_line_streams, join_touches_of_a_line) {
  touching_script s;
  const std::uint32_t b = s.block(1000);
  const std::int32_t t = s.task(1);
  for (std::uint64_t at : {0, 8, 56, 64, 72, 0}) s.read(t, b, at);
  s.write(t, b, 0);  // not one with the reads before: they need no leave
  s.read(t, b, 8);
  s.write(t, b, 8);
  s.touch(t, {b, 60, false, 8});       // two lines
  s.touch(t, {b, 128, true, 64 * 3});  // three
  const line_streams all = line_streams_of(s.finish());
  EXPECT_EQ(text(all, t), (std::vector<std::string>{"0x3", "1x2", "0x1", "0wx4", "1x1", "2wx1", "3wx1", "4wx1"}));
  EXPECT_EQ(text(all, 0), std::vector<std::string>{});
}

TEST(sim_line_streams, join_touches_of_lines_that_no_set_shares) {
  touching_script s;
  const std::uint32_t a = s.block(4096), b = s.block(4096), far = s.block(4096);
  const std::int32_t t = s.task(1);
  for (std::uint64_t i = 0; i < 8; ++i) {
    s.read(t, a, 8 * i);
    s.read(t, b, 64 + 8 * i);
    s.write(t, a, 8 * i);
  }
  s.read(t, far, 64);  // in the set of b's line, if there are 4
  s.read(t, b, 64);
  for (std::uint64_t i = 2; i < 9; ++i) s.read(t, far, 64 * i);
  s.read(t, a, 0);  // too long ago
  const recording r = s.finish();
  EXPECT_EQ(line_streams_of(r).rows_of(1).size(), 17u + 2 + 7 + 1);
  EXPECT_EQ(text(line_streams_of(r, 64), t),
            (std::vector<std::string>{"0x1", "65x8", "0wx15", "129x1", "65x1", "130x1", "131x1", "132x1", "133x1",
                                      "134x1", "135x1", "136x1", "0x1"}));
}

TEST(sim_line_streams, do_not_depend_on_where_the_system_puts_memory) {
  const auto made = [](std::uint64_t heap, std::uint64_t mapped) {
    touching_script s;
    const std::uint32_t a = s.block_at(heap + 64, 100), b = s.block_at(heap + 5000, 100),
                        c = s.block_at(heap + (std::uint64_t{5} << 20) + 64, 64), d = s.block_at(mapped, 1 << 20);
    const std::int32_t t = s.task(1);
    for (const std::uint32_t k : {d, c, b, a}) s.read(t, k, 0);
    s.read(t, 1, 0x1234567890);  // of no known block
    return text(line_streams_of(s.finish()), t);
  };
  const std::vector<std::string> one = made(0x555500000000, 0x7fff00000000);
  EXPECT_EQ(one, made(0x556612345000, 0x7ffe87654000));
  // Page 0 has what is of no block; then come the heap's pages, of which c's is 5 MiB behind, and d.
  EXPECT_EQ(one, (std::vector<std::string>{"16512x1", "16449x1", "142x1", "65x1", "34x1"}));
}

TEST(sim_line_streams, keep_blocks_that_share_a_line_together) {
  touching_script s;
  const std::uint32_t a = s.block_at(0x10010, 16), b = s.block_at(0x10020, 16), c = s.block_at(0x10040, 16);
  const std::int32_t t = s.task(1), u = s.task(1);
  s.read(t, a, 0);
  s.read(u, b, 0);
  s.read(u, c, 0);
  const line_streams all = line_streams_of(s.finish());
  EXPECT_EQ(text(all, t), std::vector<std::string>{"0x1"});
  EXPECT_EQ(text(all, u), (std::vector<std::string>{"0x1", "1x1"}));
}

TEST(sim_line_streams, memory_that_was_given_to_another_block_is_other_memory) {
  touching_script s;
  const std::uint32_t a = s.block_at(0x10000, 4096), b = s.block_at(0x10800, 64);
  const std::int32_t t = s.task(1), u = s.task(1);
  s.read(t, a, 0x800);
  s.read(u, b, 0);
  s.read(t, b, 0);
  const line_streams all = line_streams_of(s.finish());
  const std::uint32_t before = all.rows_of(1)[0].line, after = all.rows_of(2)[0].line;
  EXPECT_NE(before, after);
  EXPECT_EQ(before % 64, after % 64);
  EXPECT_EQ(all.rows_of(1)[1].line, after);
}

TEST(sim_line_streams, what_only_its_maker_touches_is_each_cores_own) {
  touching_script s;
  const std::int32_t t = s.task(1), u = s.task(1);
  const std::uint32_t mine = s.block_at(0x10000, 64, t), same = s.block_at(0x10000, 64, u),
                      passed_on = s.block_at(0x20000, 64, t);
  s.write(t, mine, 0);
  s.write(t, passed_on, 0);
  s.write(u, same, 0);
  s.read(u, passed_on, 0);
  s.write(u, touching_script::stack, 8);
  s.write(u, touching_script::stack, 128);
  const line_streams all = line_streams_of(s.finish());
  EXPECT_EQ(all.rows_of(1)[0].line, all.rows_of(2)[0].line);
  EXPECT_GE(all.rows_of(1)[0].line, all.shared + all.stacks[0].size);
  EXPECT_LT(all.rows_of(1)[1].line, all.shared);
  EXPECT_EQ(all.rows_of(2)[2].line, all.shared);
  EXPECT_EQ(all.rows_of(2)[3].line, all.shared + 1);
  EXPECT_EQ(all.stack_depth[2], 64u);
  // Another core's, and that of a task within another.
  std::set<std::uint32_t> lines;
  for (std::uint32_t core = 0; core < 4; ++core) {
    for (const line_touches& k : {all.rows_of(1)[0], all.rows_of(2)[2]})
      lines.insert(all.line_of(k.line, core, 0, all.stacks[0]));
    const std::uint32_t top = all.line_of(all.shared, core, 0, all.stacks[0]);
    EXPECT_EQ(all.line_of(all.shared, core, 7, all.stacks[0]), top + 7);
    EXPECT_EQ(all.line_of(all.shared, core, all.stacks[0].size, all.stacks[0]), top);
  }
  EXPECT_EQ(lines.size(), 8u);
  EXPECT_LT(*lines.rbegin(), all.lines(4));
}

TEST(sim_line_streams, are_refused_if_they_are_too_large) {
  touching_script s;
  const std::int32_t t = s.task(1);
  s.touch(t, {s.block(64), 0, false, std::uint64_t{1} << 50});
  EXPECT_THAT([&] { (void)line_streams_of(s.finish()); },
              ThrowsMessage<error>(HasSubstr("a touch of 1125899906842624")));
  touching_script deep;
  const std::int32_t u = deep.task(1);
  deep.read(u, touching_script::stack, std::uint64_t{1} << 40);
  EXPECT_THAT([&] { (void)line_streams_of(deep.finish()); }, ThrowsMessage<error>(HasSubstr("64 MiB")));
  EXPECT_TRUE(line_streams_of(test::script().finish()).first.empty());
}

/// A recording whose one task touches 2^32 bytes `touches` times, in a run of that many nanoseconds.
recording forged(std::size_t touches, std::uint64_t nanoseconds) {
  touching_script s;
  const std::uint64_t bytes = std::uint64_t{1} << 32;
  const std::uint32_t b = s.block(bytes);
  const std::int32_t t = s.task(1);
  for (std::size_t i = 0; i < touches; ++i) s.touch(t, {b, 0, false, bytes});
  recording r = s.finish();
  r.tasks[1].ended = r.tasks[0].ended = nanoseconds;
  return r;
}

TEST(sim_line_streams, are_refused_if_the_run_was_too_short_for_them) {
  recording r = forged(3, 1000);
  const auto refused = AllOf(HasSubstr("table stream: of task 1:"), HasSubstr("4294967296 bytes by site 0"),
                             HasSubstr("at most 16873216 lines"), HasSubstr("in 3000 ns"));  // 2 bodies, 1 worker
  EXPECT_THAT([&] { (void)line_streams_of(r); }, ThrowsMessage<error>(refused));
  r.file = "x.rec";
  EXPECT_THAT([&] { (void)line_streams_of(r); }, ThrowsMessage<error>(StartsWith("x.rec: damaged: table stream")));
  r.streams[0].touches = std::uint64_t{1} << 30;
  EXPECT_THAT(
      [&] { check_recording(r, "x.rec"); },
      ThrowsMessage<error>(AllOf(StartsWith("x.rec: damaged: table stream, row 0: with it there are 1073741824"),
                                 HasSubstr("in 3000 ns"))));
}

TEST(sim_line_streams, of_long_runs_have_as_many_lines_as_time_allows) {
  const auto touches_of = [](const recording& r) {
    std::uint64_t touches = 0;
    touch_reader reader(r);
    for (int i = 0; i < 2; ++i) reader.read(1, [&](const touch&) { ++touches; });  // each time the same is allowed
    return touches / 2;
  };
  EXPECT_EQ(touches_of(forged(40, 30'000'000)), 40u);  // 2.7e9 lines, of 2.9e9
  EXPECT_THROW((void)touches_of(forged(44, 30'000'000)), error);
  // A model may be faster than any processor, and a run that did not end has no time.
  recording simulated = forged(40, 1000), unended = simulated;
  simulated.meta["engine"] = "sim";
  EXPECT_EQ(touches_of(simulated), 40u);
  unended.tasks[0].ended = 0;
  EXPECT_EQ(touches_of(unended), 40u);
  simulated = forged(std::size_t{1} << 14, 1000);  // 2^40 lines
  simulated.meta["engine"] = "sim";
  EXPECT_THAT([&] { (void)touches_of(simulated); },
              ThrowsMessage<error>(HasSubstr("at most 1099511627775 lines of 64")));
}

}  // namespace
