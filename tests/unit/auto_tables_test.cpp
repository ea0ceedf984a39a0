// The policy `auto` knows tables: what so many tasks use that all nodes had better have it in their caches.
#include "support/auto_bench.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace {

using kith::mode;
using kith::ready_reason;
using kith::test::auto_bench;
using kith::test::page;

/// Three nodes, and a region of 8 pages at node 2: copies of it for all nodes take 24 pages.
class table_bench : public auto_bench {
 public:
  explicit table_bench(mode how = mode::in, std::uint64_t node_cache = 0)
      : auto_bench("node:3 core:1", "auto", 0, node_cache), shared(region(2)), how_(how) {
    ran(10'000'000);  // long tasks, so that thefts cost little
  }
  /// Makes the worker of node 2 run a task that uses the region, and reads so many other pages.
  void use(std::uint64_t pages, std::uint32_t of) {
    ready(task({{of, 8 * page, how_}, {region(2), pages * page, mode::in}}));
    EXPECT_NE(next(2), nullptr);
  }
  void use(std::uint64_t pages) { use(pages, shared); }
  /// Makes a worker run a task that writes it.
  void write() {
    ready(task({{shared, 8 * page}}));
    EXPECT_NE(next(2), nullptr);
  }
  /// Whether a task that uses the region goes to node 1, of which it reads two pages. It has four other pages in all.
  bool leaves() {
    const auto fresh = region();
    ready(task({{shared, 8 * page, how_}, {region(1), 2 * page, mode::in}, {fresh, 2 * page, mode::out}}));
    EXPECT_NE(next(regions[fresh].home_node().value), nullptr);
    return regions[fresh].home_node().value == 1;
  }
  const std::uint32_t shared;

 private:
  mode how_;
};

TEST(auto_tables, attract_no_task_that_has_other_data) {
  for (const mode how : {mode::in, mode::concurrent}) {
    table_bench b(how);
    EXPECT_FALSE(b.leaves());
    for (int i = 0; i < 4; ++i) b.use(6);
    EXPECT_TRUE(b.leaves());
  }
}

TEST(auto_tables, are_used_with_as_much_other_data_as_copies_for_all_nodes_take) {
  const auto is_table_after = [](std::uint64_t pages) {
    table_bench b;
    for (int i = 0; i < 3; ++i) b.use(6);
    b.use(pages);
    return b.leaves();
  };
  EXPECT_FALSE(is_table_after(1));
  EXPECT_TRUE(is_table_after(2));
}

TEST(auto_tables, are_most_of_the_data_of_the_tasks_that_use_them) {
  table_bench b;
  for (int i = 0; i < 10; ++i) b.use(9);
  EXPECT_FALSE(b.leaves());
}

// The rows of a matrix: each is used once in each round.
TEST(auto_tables, stay_in_the_caches_between_two_uses) {
  const auto is_table_after_rounds = [](int rows) {
    table_bench b(mode::in, 64 * page);
    std::vector<std::uint32_t> all{b.shared};
    while (all.size() < static_cast<std::size_t>(rows)) all.push_back(b.region(2));
    for (int round = 0; round < 10; ++round) {
      for (const std::uint32_t row : all) b.use(4, row);
    }
    return b.leaves();
  };
  EXPECT_TRUE(is_table_after_rounds(8));
  EXPECT_FALSE(is_table_after_rounds(10));
}

TEST(auto_tables, attract_tasks_that_have_nothing_else) {
  table_bench b;
  for (int i = 0; i < 4; ++i) b.use(6);
  kith::task& t = b.task({{b.shared, 8 * page, mode::in}});
  b.ready(t);
  EXPECT_EQ(b.next(2), &t);
  EXPECT_EQ(b.by[2]->sums[kith::event::steal], 0u);
}

TEST(auto_tables, have_versions_that_are_tables_from_the_beginning) {
  table_bench b;
  for (int i = 0; i < 4; ++i) b.use(6);
  b.write();
  b.write();  // no task has used the version before
  EXPECT_TRUE(b.leaves());
}

TEST(auto_tables, are_none_after_a_version_that_few_have_used) {
  table_bench b;
  for (int i = 0; i < 4; ++i) b.use(6);
  b.write();
  b.use(6);
  b.write();
  EXPECT_FALSE(b.leaves());
}

// Worker 0 has written what its successor changes; all of the successor's data is at node 2.
TEST(auto_tables, do_not_make_a_worker_leave_what_it_wrote) {
  enum class first { none, inputs, tables };
  const auto stays = [](first ran, std::uint64_t bytes) {
    auto_bench b("node:3 core:1");
    const auto table = b.region(2), own = b.region(2);
    const auto input = [&] { return ran == first::tables ? table : b.region(2); };
    for (int i = 0; i < 12 && ran != first::none; ++i) {  // most of their bytes are input
      b.ready(b.task({{input(), 8 * page, mode::in}, {b.region(i % 3), 6 * page}}));
      EXPECT_NE(b.next(i % 3), nullptr);
    }
    b.wrote(own, 0);
    kith::task& t = b.task({{input(), bytes, mode::in}, {own, page}});
    return b.ready(t, 0, ready_reason::completion) == &t;
  };
  EXPECT_TRUE(stays(first::inputs, 2 * page));  // what is changed counts twice
  EXPECT_FALSE(stays(first::inputs, 3 * page));
  EXPECT_FALSE(stays(first::none, 3 * page)) << "nothing is known of the type";
  EXPECT_TRUE(stays(first::tables, 8 * page));
}

}  // namespace
