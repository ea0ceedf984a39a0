// Arrays, their layouts and placements, found in recordings written by hand.
#include "analysis/block_shape.hpp"
#include "analysis/placement.hpp"
#include "analysis/task_graph.hpp"
#include "support/recordings.hpp"

#include <gmock/gmock.h>

namespace {

using namespace kith;
using analysis::arrays_of;
using analysis::block_array;
using analysis::block_link;
using analysis::block_shape;
using analysis::find_shape;
using analysis::given_shape;
using analysis::links_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr auto in_ = static_cast<std::uint8_t>(mode::in), out_ = static_cast<std::uint8_t>(mode::out);

void add_task(recording& r, const std::vector<recorded_access>& accesses, const std::vector<std::int32_t>& before = {},
              std::int32_t worker = 0) {
  if (r.first_access.empty()) r.first_access = r.first_dependence = {0};
  recorded_task t;
  t.worker = worker;
  t.started = 10 * r.tasks.size();
  t.ended = t.started + 5;
  r.tasks.push_back(t);
  for (const std::int32_t b : before) r.dependences.push_back({b, 0});
  r.accesses.insert(r.accesses.end(), accesses.begin(), accesses.end());
  r.first_access.push_back(r.accesses.size());
  r.first_dependence.push_back(r.dependences.size());
}

void add_blocks(recording& r, std::uint64_t address, std::size_t count, std::uint64_t bytes, std::uint64_t step) {
  for (std::size_t i = 0; i < count; ++i) r.regions.push_back({address + i * step, bytes, -1});
}

TEST(arrays, are_regions_of_one_size_at_equal_distances) {
  recording r;
  add_blocks(r, 1 << 20, 12, 1000, 4096);
  add_blocks(r, 1 << 24, 4, 64, 64);
  std::swap(r.regions[3], r.regions[7]);  // so that their numbers are not in the order of addresses
  const std::vector<block_array> all = arrays_of(r);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0].block_bytes, 1000u);
  EXPECT_EQ(all[0].bytes, 12000u);
  EXPECT_EQ(all[0].regions[3], 7u);
  EXPECT_EQ(all[1].block_bytes, 64u);
  EXPECT_EQ(analysis::indices_in(r, all[0])[7], 3);
  EXPECT_EQ(analysis::indices_in(r, all[0])[12], -1);
}

TEST(arrays, the_one_that_is_written_comes_first_of_equals) {
  recording r;
  add_blocks(r, 1 << 20, 4, 1000, 1024);
  add_blocks(r, 1 << 24, 4, 1000, 1024);
  add_task(r, {{0, in_, 1000, 1000}, {5, out_, 1000, 1000}});
  EXPECT_EQ(arrays_of(r).front().regions.front(), 4u);
}

TEST(arrays, of_many_small_things_are_shown_as_one) {
  recording r;
  for (std::uint64_t i = 0; i < 9; ++i) r.regions.push_back({(1 << 20) * (i + 1), 100 + i, -1});
  const std::vector<block_array> all = arrays_of(r);
  EXPECT_THAT(all.front().regions, SizeIs(9));
  EXPECT_EQ(all.front().block_bytes, 0u);
}

std::vector<block_link> neighbours(std::int32_t rows, std::int32_t columns) {
  std::vector<block_link> links;
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = 0; j < columns; ++j) {
      if (j + 1 < columns) links.push_back({i * columns + j, i * columns + j + 1, 3});
      if (i + 1 < rows) links.push_back({i * columns + j, (i + 1) * columns + j, 3});
    }
  }
  return links;
}

TEST(layouts, bring_linked_blocks_together) {
  for (const auto& [rows, columns] : {std::pair{4, 6}, {6, 4}, {16, 16}, {3, 20}}) {
    const block_shape l = find_shape(static_cast<std::size_t>(rows * columns), neighbours(rows, columns));
    EXPECT_EQ(l.what, block_shape::grid);
    EXPECT_EQ(l.rows, rows);
    EXPECT_EQ(l.columns, columns);
    EXPECT_DOUBLE_EQ(l.linked, 1);
  }
  const block_shape l = find_shape(24, neighbours(24, 1));
  EXPECT_EQ(l.what, block_shape::line);
  EXPECT_EQ(l.rows, 24);
  EXPECT_EQ(find_shape(24, {}).what, block_shape::line) << "nothing is known";
}

TEST(layouts, of_a_lower_triangle_are_one) {
  // The updates of a Cholesky factorisation: tile (i, j) from (i, k) and (j, k).
  recording r;
  constexpr std::int32_t k_tiles = 8;
  const auto at = [](std::int32_t i, std::int32_t j) { return static_cast<std::uint32_t>(i * (i + 1) / 2 + j); };
  add_blocks(r, 1 << 20, k_tiles * (k_tiles + 1) / 2, 4096, 4096);
  for (std::int32_t k = 0; k < k_tiles; ++k) {
    for (std::int32_t i = k + 1; i < k_tiles; ++i) {
      add_task(r, {{at(k, k), in_, 4096, 4096}, {at(i, k), out_, 4096, 4096}});
      for (std::int32_t j = k + 1; j <= i; ++j)
        add_task(r, {{at(i, k), in_, 4096, 4096}, {at(j, k), in_, 4096, 4096}, {at(i, j), out_, 4096, 4096}});
    }
  }
  const block_array a = arrays_of(r).front();
  const block_shape l = find_shape(a.regions.size(), links_of(r, a));
  EXPECT_EQ(l.what, block_shape::triangle);
  EXPECT_EQ(l.rows, k_tiles);
  for (std::int32_t i = 0; i < k_tiles; ++i) {
    for (std::int32_t j = 0; j <= i; ++j) EXPECT_EQ(l.at(static_cast<std::int32_t>(at(i, j))), std::pair(i, j));
  }
}

TEST(layouts, are_found_through_regions_between_the_blocks) {
  // A row of tiles that exchange halos: no task names two tiles.
  recording r;
  add_blocks(r, 1 << 20, 6, 4096, 4096);
  add_blocks(r, 1 << 24, 6, 64, 4096);
  for (std::uint32_t i = 0; i < 6; ++i)
    add_task(r, {{i, out_, 4096, 4096}, {6 + i, out_, 64, 64}, {6 + (i + 5) % 6, in_, 64, 64}},
             i == 0 ? std::vector<std::int32_t>{} : std::vector{static_cast<std::int32_t>(i) - 1});
  const std::vector<block_link> links = links_of(r, arrays_of(r).front());
  ASSERT_THAT(links, SizeIs(5));
  EXPECT_EQ(links[2].from, 2);
  EXPECT_EQ(links[2].to, 3);
}

TEST(layouts, can_be_told) {
  EXPECT_EQ(given_shape(12, "3x4").at(7), std::pair(1, 3));
  EXPECT_EQ(given_shape(10, "triangle").rows, 4);
  EXPECT_EQ(given_shape(10, "line").rows, 10);
  EXPECT_THAT([] { given_shape(12, "3x5"); }, ThrowsMessage<error>(HasSubstr("has 15 cells; the array has 12 blocks")));
  EXPECT_THAT([] { given_shape(12, "3 by 4"); }, ThrowsMessage<error>(HasSubstr("expected ROWSxCOLUMNS")));
  EXPECT_THAT([] { given_shape(12, "99999999999x1"); }, ThrowsMessage<error>(HasSubstr("expected ROWSxCOLUMNS")));
  EXPECT_THAT([] { given_shape(12, "triangle"); }, ThrowsMessage<error>(HasSubstr("k(k+1)/2")));
}

TEST(placements, are_the_homes_at_the_end_and_who_ran_the_writers) {
  recording r;
  r.worker_node = {0, 1};
  r.meta["nodes"] = "2";
  add_blocks(r, 1 << 20, 4, 1000, 4096);
  // Block 0 moves from node 0 to node 1; block 2 is on both nodes; block 3 is never touched.
  r.homes = {{0, 0, 1000, 5}, {0, 1, 1000, 30}, {1, 0, 1000, 10}, {2, 0, 400, 20}, {2, 1, 600, 20}};
  add_task(r, {{0, out_, 1000, 1000}}, {}, 0);
  add_task(r, {{1, out_, 1000, 1000}, {0, in_, 1000, 1000}}, {0}, 1);
  add_task(r, {{2, out_, 1000, 1000}}, {1}, 1);
  add_task(r, {{0, out_, 1000, 1000}}, {}, 1);
  add_task(r, {{0, out_, 1000, 1000}}, {}, 1);
  const analysis::array_placement p = place_array(r, arrays_of(r).front());
  ASSERT_THAT(p.blocks, SizeIs(4));
  EXPECT_EQ(p.blocks[0].home, 1);
  EXPECT_EQ(p.blocks[0].ran, 1);
  EXPECT_EQ(p.blocks[0].tasks, 3u);
  EXPECT_EQ(p.blocks[0].tasks_at_home, 2u);
  EXPECT_EQ(p.blocks[1].home, 0);
  EXPECT_EQ(p.blocks[1].ran, 1);
  EXPECT_EQ(p.blocks[2].home, 1);
  EXPECT_TRUE(p.blocks[2].spread);
  EXPECT_FALSE(p.blocks[1].spread);
  EXPECT_EQ(p.blocks[3].home, -1);
  EXPECT_THAT(p.bytes, ElementsAre(1400, 1600));
  EXPECT_THAT(p.tasks, ElementsAre(1, 4));
  EXPECT_EQ(p.nowhere, 1000u);
  EXPECT_DOUBLE_EQ(p.balance, 1600.0 / 1500);
  EXPECT_DOUBLE_EQ(p.cut_percent, 100);  // 0-1 and 1-2
}

TEST(task_graphs, have_depths_and_the_order_of_their_blocks) {
  // A wavefront over 2 x 2 tiles, twice. The first task is not related to the others.
  recording r;
  r.worker_node = {0, 1};
  add_blocks(r, 1 << 20, 4, 1000, 4096);
  add_task(r, {{0, out_, 1000, 1000}});
  add_task(r, {{0, out_, 1000, 1000}}, {}, 1);
  add_task(r, {{1, out_, 1000, 1000}}, {1});
  add_task(r, {{2, out_, 1000, 1000}}, {1, 1}, 1);
  add_task(r, {{3, out_, 1000, 1000}}, {2, 3});
  add_task(r, {{3, in_, 1000, 1000}}, {4});
  const analysis::block_array a = arrays_of(r).front();
  const analysis::task_graph g = graph_of(r, a, given_shape(4, "2x2"), 100);
  ASSERT_THAT(g.vertices, SizeIs(4));
  EXPECT_EQ(g.vertices[0].task, 1);
  EXPECT_THAT(g.edges, ElementsAre(std::pair(0, 1), std::pair(0, 2), std::pair(1, 3), std::pair(2, 3)));
  EXPECT_THAT(g.at_depth, ElementsAre(1, 2, 1));
  EXPECT_EQ(g.vertices[1].rank, 1) << "tile (0, 1) is to the right of";
  EXPECT_EQ(g.vertices[2].rank, 0) << "... tile (1, 0)";
  EXPECT_EQ(g.vertices[3].depth, 2);
  EXPECT_THAT(where_it_ran(r, g), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(graph_of(r, a, given_shape(4, "2x2"), 3).edges, SizeIs(1));
}

}  // namespace
