// Windows of tasks and the data flow in them, without threads: what is kept, and what happens if partitioning fails.
#include "support/policy_bench.hpp"

#include "base/rng.hpp"
#include "partition/windows.hpp"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <utility>
#include <vector>

namespace {

using namespace kith;
using partition::byte_flow;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class windows : public testing::Test {
 protected:
  kith::task& task(mode how) {
    kith::task& t = bench.task({{region, 64}});
    kept_access a = *t.access_list().begin();
    a.how = how;
    std::memcpy(t.access_bytes(), &a, sizeof a);
    return t;
  }
  using edges = std::vector<std::pair<std::int64_t, std::int64_t>>;
  static edges before(byte_flow& flow, std::int64_t number, std::int64_t from, kith::task& t) {
    edges found;
    flow.add(number, from, t.access_list(),
             [&](std::int64_t b, std::int64_t weight) { found.emplace_back(b, weight); });
    return found;
  }

  test::policy_bench bench{"node:2 core:1", "fifo"};
  std::uint32_t region = bench.region();
};

TEST_F(windows, count_tasks_beyond_32_bits) {
  byte_flow flow(bench.regions);
  const std::int64_t late = (std::int64_t{1} << 40) + 5;
  EXPECT_THAT(before(flow, late, 0, task(mode::out)), ElementsAre());
  EXPECT_THAT(before(flow, late + 1, 0, task(mode::in)), ElementsAre(Pair(late, 64)));
  EXPECT_THAT(before(flow, late + 2, 0, task(mode::inout)), ElementsAre(Pair(late, 64), Pair(late + 1, 1)));
}

TEST_F(windows, forget_who_has_read_before_them) {
  byte_flow flow(bench.regions);
  constexpr std::int64_t size = 100;
  before(flow, 0, 0, task(mode::out));
  kith::task& reader = task(mode::in);
  for (std::int64_t t = 1; t < 100 * size; ++t) {
    before(flow, t, t / size * size, reader);
    ASSERT_LE(flow.readers(), static_cast<std::size_t>(size));
  }
  const edges last = before(flow, 100 * size, 100 * size - 3, task(mode::out));
  EXPECT_GE(last.size(), 3u) << "those of the window are there";
  EXPECT_LE(last.size(), static_cast<std::size_t>(size));
}

/// An array and its tiles, also in a different division: each byte has its own last writer and readers.
TEST_F(windows, follow_the_bytes_of_regions_that_overlap) {
  struct byte {
    std::int64_t writer = -1;
    std::vector<std::int64_t> readers;
  };
  constexpr std::size_t size = 24;
  const std::uintptr_t base = 1 << 20;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    rng draw(seed, purpose::test, 3);
    byte_flow flow(bench.regions);
    std::vector<byte> bytes(size);
    for (std::int64_t t = 0; t < 60; ++t) {
      const std::size_t begin = draw.below(size), count = 1 + draw.below(static_cast<std::uint32_t>(size - begin));
      const mode how = std::array{mode::in, mode::out, mode::inout, mode::commutative}[draw.below(4)];
      std::map<std::int64_t, std::int64_t> expected;  // the bytes that flow; 0: only an order
      for (std::size_t i = begin; i < begin + count; ++i) {
        byte& b = bytes[i];
        if (b.writer >= 0 && (how != mode::out || b.readers.empty())) expected[b.writer] += how != mode::out;
        if (how == mode::in) {
          b.readers.push_back(t);
          continue;
        }
        for (std::int64_t r : b.readers) expected[r] += 0;
        b.readers.clear();
        b.writer = t;
      }
      std::map<std::int64_t, std::int64_t> found;
      const std::uint32_t at = bench.regions.find(reinterpret_cast<void*>(base + begin), count);
      for (const auto& [b, weight] : before(flow, t, 0, bench.task({{at, count, how}}))) found[b] += weight;
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [b, weight] : expected) {
        ASSERT_TRUE(found.contains(b)) << b << " before " << t << ", seed " << seed;
        ASSERT_GE(found[b], std::max<std::int64_t>(1, weight));
        ASSERT_LE(found[b], weight + static_cast<std::int64_t>(count)) << "orders weigh 1 for each piece";
      }
    }
  }
}

/// No target has a capacity, which is an error of partitioning.
TEST_F(windows, that_cannot_be_partitioned_say_so_and_let_their_tasks_go) {
  using partition::method;
  using all = partition::windows<sequential::world>;
  const partition::targets nowhere{.capacity = {0, 0}, .distance = {10, 20, 20, 10}};
  std::vector<std::pair<kith::task*, std::int32_t>> released;
  all w({.size = 4, .intersection = 2, .moving = true, .first_method = method::greedy}, nowhere, bench.regions, 2, {},
        [&](kith::task& t, std::int32_t part, sequential::worker_view&) { released.emplace_back(&t, part); });
  sequential::worker_view& by = *bench.by[0];
  std::vector<kith::task*> tasks;
  for (int i = 0; i < 6; ++i) {  // two windows: each includes two tasks of the one before
    tasks.push_back(&task(mode::inout));
    w.add(*tasks.back(), by);
  }
  std::int32_t part = 0;
  EXPECT_EQ(w.answer_for(*tasks[1], by, part), all::answer::held);
  EXPECT_EQ(w.answer_for(*tasks[4], by, part), all::answer::held);
  testing::internal::CaptureStderr();
  int jobs = 0;
  for (; !by.jobs.empty(); ++jobs) {
    job<sequential::worker_view>* const next = by.jobs.front();
    by.jobs.pop_front();
    EXPECT_EQ(next->size().tasks, 4u);
    next->run(by);
  }
  EXPECT_EQ(jobs, 2);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("no target has a capacity"));
  EXPECT_EQ(said.find("kith: "), said.rfind("kith: ")) << "once";
  EXPECT_THAT(released, ElementsAre(Pair(tasks[1], -1), Pair(tasks[4], -1)));
  EXPECT_EQ(w.answer_for(*tasks[2], by, part), all::answer::placed);
  EXPECT_EQ(part, -1);
  EXPECT_EQ(by.sums[event::window_partitioned], 0u);
}

/// More tasks than are handed over at once, in the order in which they came.
TEST_F(windows, hand_over_all_that_wait) {
  constexpr std::size_t size = 1000;
  const partition::targets two{.capacity = {1, 1}, .distance = {10, 20, 20, 10}};
  std::vector<kith::task*> released, tasks;
  partition::windows<sequential::world> w({.size = size, .first_method = partition::method::greedy}, two, bench.regions,
                                          2, {}, [&](kith::task& t, std::int32_t part, sequential::worker_view&) {
                                            EXPECT_GE(part, 0);
                                            released.push_back(&t);
                                          });
  sequential::worker_view& by = *bench.by[0];
  for (std::size_t i = 0; i < size; ++i) {
    tasks.push_back(&bench.task({{bench.region(), 64}}));
    w.add(*tasks.back(), by);
    std::int32_t part = 0;
    EXPECT_EQ(w.answer_for(*tasks.back(), by, part), decltype(w)::answer::held);
  }
  ASSERT_EQ(by.jobs.size(), 1u);
  by.jobs.front()->run(by);
  EXPECT_EQ(released, tasks);
  EXPECT_EQ(by.sums[event::window_partitioned], 1u);
}

}  // namespace
