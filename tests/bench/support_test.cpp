// The parts that the benchmarks compute with: patterns, programs, medians, the search for a level, the
// lines between processes.
#include "bodies.hpp"
#include "dags.hpp"
#include "explicit_graph.hpp"
#include "patterns.hpp"
#include "protocol.hpp"
#include "summary.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace {

using namespace kith::bench;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<int> dependences(const grid& g, int step, int point) {
  std::array<int, grid::radix> points{};
  const int n = g.dependences(step, point, points);
  return {points.begin(), points.begin() + n};
}

TEST(bench_patterns, stencil_has_its_neighbours_clipped) {
  const grid g{pattern::stencil_1d, 8, 10};
  EXPECT_THAT(dependences(g, 0, 3), IsEmpty());
  EXPECT_THAT(dependences(g, 1, 0), ElementsAre(0, 1));
  EXPECT_THAT(dependences(g, 5, 3), ElementsAre(2, 3, 4));
  EXPECT_THAT(dependences(g, 5, 7), ElementsAre(6, 7));
}

TEST(bench_patterns, nearest_has_two_on_each_side) {
  const grid g{pattern::nearest, 8, 10};
  EXPECT_THAT(dependences(g, 1, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(dependences(g, 1, 4), ElementsAre(2, 3, 4, 5, 6));
}

TEST(bench_patterns, dom_grows_then_moves_to_the_right_and_shrinks) {
  const grid g{pattern::dom, 4, 10};
  EXPECT_EQ(g.count(0), 1);
  EXPECT_EQ(g.count(1), 2);
  EXPECT_EQ(g.count(5), 4);
  EXPECT_EQ(g.count(9), 1);
  EXPECT_EQ(g.first(6), 0);
  EXPECT_EQ(g.first(9), 3);
  EXPECT_THAT(dependences(g, 1, 1), ElementsAre(0));  // point 1 did not exist at step 0
  EXPECT_THAT(dependences(g, 5, 2), ElementsAre(1, 2));
}

TEST(bench_patterns, tree_doubles_until_it_is_as_wide_as_the_grid) {
  const grid g{pattern::tree, 8, 100};
  EXPECT_EQ(g.count(0), 1);
  EXPECT_EQ(g.count(2), 4);
  EXPECT_EQ(g.count(50), 8);
  EXPECT_THAT(dependences(g, 50, 7), ElementsAre(3));
}

TEST(bench_patterns, fft_exchanges_over_1_2_4_and_again) {
  const grid g{pattern::fft, 8, 10};
  EXPECT_THAT(dependences(g, 1, 2), ElementsAre(1, 2, 3));
  EXPECT_THAT(dependences(g, 2, 2), ElementsAre(0, 2, 4));
  EXPECT_THAT(dependences(g, 3, 2), ElementsAre(2, 6));
  EXPECT_THAT(dependences(g, 4, 2), ElementsAre(1, 2, 3));
}

TEST(bench_patterns, random_nearest_keeps_the_point_and_repeats_with_its_period) {
  const grid g{pattern::random_nearest, 64, 100};
  std::size_t kept = 0;
  for (int point = 0; point < 64; ++point) {
    const auto here = dependences(g, 1, point);
    EXPECT_THAT(here, testing::Contains(point));
    EXPECT_EQ(here, dependences(g, 1 + grid::period, point));
    kept += here.size() - 1;
  }
  EXPECT_NEAR(static_cast<double>(kept) / (64 * 4), grid::fraction, 0.1);
}

TEST(bench_patterns, names_are_known_both_ways_and_a_wrong_one_is_named) {
  for (pattern p : all_patterns) EXPECT_EQ(pattern_of(name_of(p)), p);
  EXPECT_THAT([] { pattern_of("spiral"); }, testing::ThrowsMessage<std::runtime_error>(testing::AllOf(
                                                testing::HasSubstr("spiral"), testing::HasSubstr("fft"))));
}

/// Counts what a program emits.
struct counter {
  std::int64_t tasks = 0, largest = -1;
  template <class... In>
  void task(std::int64_t x, In... in) {
    ++tasks;
    for (std::int64_t cell : {x, static_cast<std::int64_t>(in)...}) largest = std::max(largest, cell);
  }
  void free_task() { ++tasks; }
  void reader(std::int64_t x) { task(x); }
};

template <class Program>
void expect_as_announced(const Program& program) {
  counter seen;
  program.emit(seen);
  EXPECT_EQ(seen.tasks, program.tasks());
  EXPECT_LT(seen.largest, std::max<std::int64_t>(program.cells(), 0));
}

TEST(bench_programs, emit_the_tasks_and_cells_that_they_announce) {
  expect_as_announced(wavefront{7});
  expect_as_announced(cholesky{9});
  expect_as_announced(independent{11});
  expect_as_announced(fan{5});
  for (pattern p : all_patterns) expect_as_announced(pattern_program({p, 8, 50}));
}

TEST(bench_programs, explicit_graph_of_a_wavefront_has_the_edges_from_above_and_left) {
  const explicit_graph<empty_body> graph(wavefront{3}, empty_body{});
  ASSERT_EQ(graph.size(), 9u);
  EXPECT_THAT(graph.predecessors(0), IsEmpty());
  EXPECT_THAT(graph.predecessors(2), ElementsAre(1));
  EXPECT_THAT(graph.predecessors(3), ElementsAre(0));
  EXPECT_THAT(graph.predecessors(4), ElementsAre(1, 3));
}

TEST(bench_programs, the_check_sees_a_task_that_is_missing_twice_or_out_of_order) {
  auto run = [](auto&& program_of) {
    std::vector<std::uint64_t> cells(4, 7);
    std::atomic<std::int64_t> free{0};
    program_of(serial_emitter<check_body>{{cells.data(), &free}});
    return cells;
  };
  const auto right = run([](auto e) { e.task(0), e.task(1, 0), e.task(0, 1); });
  EXPECT_EQ(right, run([](auto e) { e.task(0), e.task(1, 0), e.task(0, 1); }));
  EXPECT_NE(right, run([](auto e) { e.task(0), e.task(1, 0); }));
  EXPECT_NE(right, run([](auto e) { e.task(0), e.task(0), e.task(1, 0), e.task(0, 1); }));
  EXPECT_NE(right, run([](auto e) { e.task(1, 0), e.task(0), e.task(0, 1); }));
}

TEST(bench_summary, median_of_odd_and_even_numbers) {
  EXPECT_EQ(summary_of({3, 1, 2}).median, 2);
  EXPECT_EQ(summary_of({4, 1, 2, 3}).median, 2.5);
  EXPECT_EQ(summary_of({4, 1, 2, 3}).min, 1);
  EXPECT_EQ(summary_of({4, 1, 2, 3}).max, 4);
  EXPECT_THROW(summary_of({}), std::runtime_error);
}

TEST(bench_summary, level_is_interpolated_in_the_logarithm) {
  const auto found = granularity_at(0.5, {{100, 0.25}, {400, 0.75}});
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, 200, 1e-9);
}

TEST(bench_summary, level_is_the_finest_one_whatever_disturbed_coarser_samples) {
  const auto found = granularity_at(0.5, {{100, 0.25}, {400, 0.75}, {1600, 0.3}, {6400, 0.9}});
  ASSERT_TRUE(found);
  EXPECT_NEAR(*found, 200, 1e-9);
}

TEST(bench_summary, level_that_is_not_crossed_is_none) {
  EXPECT_FALSE(granularity_at(0.5, {}));
  EXPECT_FALSE(granularity_at(0.5, {{100, 0.2}, {400, 0.4}}));
  EXPECT_FALSE(granularity_at(0.5, {{100, 0.6}, {400, 0.9}}));
}

TEST(bench_protocol, lines_come_back_as_they_went) {
  request q;
  q.what = verb::metg;
  q.subject = "fft";
  q.width = 8;
  q.size = 100;
  q.iterations = 12345678901;
  q.prebuilt = true;
  EXPECT_EQ(to_line(request_of(to_line(q))), to_line(q));
  EXPECT_EQ(request_of(to_line(q)).iterations, 12345678901);
  const reply r{true, 1.25e9, 42, "a version"};
  EXPECT_EQ(reply_of(to_line(r)).nanoseconds, 1.25e9);
  EXPECT_EQ(reply_of(to_line(r)).text, "a version");
  EXPECT_FALSE(reply_of("no such thing").ok);
  EXPECT_EQ(reply_of("no such thing").text, "such thing");
}

TEST(bench_protocol, a_wrong_line_is_quoted) {
  for (const char* line : {"", "dance", "metg fft 8", "dag wavefront 0 x 0 0"}) {
    EXPECT_THROW(request_of(line), std::runtime_error) << line;
  }
  EXPECT_THROW(reply_of("perhaps"), std::runtime_error);
}

}  // namespace
