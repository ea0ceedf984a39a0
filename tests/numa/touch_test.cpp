// Compares the homes that the runtime assumes with where pages truly are: first touch, DEP's table,
// deferred memory, migration.
#include "real_nodes.hpp"

#include "base/rng.hpp"
#include "memory/pages.hpp"

#include <algorithm>
#include <cstring>
#include <latch>

namespace {

using namespace kith;
using kith::test::memory;

class Homes : public kith::test::two_hosts {
 protected:
  /// Prints the assumed and the true homes of the blocks, in pages; one line each.
  void expect_known_is_true(runtime& rt, const memory& m, std::size_t bytes) {
    std::vector<std::uint64_t> known = known_bytes_on_nodes(rt, m.at(), bytes);
    EXPECT_EQ(known.back(), 0u);
    known.pop_back();
    for (std::uint64_t& k : known) k /= page;
    EXPECT_EQ(known, count_pages(rt, m.at(), bytes)->on_node);
  }
  /// A task that writes pages [first, first + count).
  auto writes(const memory& m, std::size_t first, std::size_t count) {
    return [p = m.at(first * page), bytes = count * page] { std::memset(p, 7, bytes); };
  }
};

TEST_F(Homes, FirstTouchIsWhereTheTaskRan) {
  runtime rt(kith::test::with_policy("socket"));
  const memory m(rt, 8 * hosts().size() * page, distribution::system);
  rt.run([&] {
    for (std::size_t i = 0; i < hosts().size(); ++i)
      spawn(writes(m, 8 * i, 8), out(m.at(8 * i * page), 8 * page), node{hosts()[i]});
  });
  const auto counts = m.count(rt).on_node;
  for (int h : hosts()) EXPECT_EQ(counts[static_cast<std::size_t>(h)], 8u);
  expect_known_is_true(rt, m, 8 * hosts().size() * page);
}

TEST_F(Homes, DepsTableIsTheTruth) {
  for (distribution how : {distribution(distribution::system), distribution(distribution::deferred)}) {
    runtime rt(kith::test::with_policy("dep:steal=off"));
    constexpr std::size_t blocks = 48, pages = 3;
    const memory m(rt, blocks * pages * page, how);
    rng random(1, purpose::pick, 0);
    const auto block = [&](std::size_t b) { return m.at(b * pages * page); };
    rt.run([&] {
      for (std::size_t b = 0; b < blocks; ++b) spawn(writes(m, b * pages, pages), out(block(b), pages * page));
      for (int t = 0; t < 80; ++t) {
        const std::size_t a = random.below(blocks), b = (a + 1 + random.below(blocks - 1)) % blocks;
        spawn(writes(m, b * pages, pages), in(block(a), pages * page), inout(block(b), pages * page));
      }
    });
    SCOPED_TRACE(how.text());
    expect_known_is_true(rt, m, blocks * pages * page);
    EXPECT_EQ(rt.statistics().cancelled, 0u);
  }
}

TEST_F(Homes, DeferredPagesGoWhereTheirWriterIsPlacedWhoeverTouchesThem) {
  runtime rt(kith::test::with_policy("dep:steal=off"));
  const int last = hosts().back();
  const memory anchor(rt, 64 * page, node{last}), d(rt, 6 * page, distribution::deferred);
  d.at()[0] = std::byte{3};  // touched by this thread before any task, so it is moved
  rt.run([&] {
    spawn([] {}, inout(anchor.at(), 64 * page), out(d.at(), 6 * page));  // does not write anything in fact
  });
  d.touch();
  EXPECT_EQ(d.count(rt).on_node[static_cast<std::size_t>(last)], 6u);
  expect_known_is_true(rt, d, 6 * page);
}

TEST_F(Homes, MigrationMovesPagesAndKeepsContents) {
  runtime rt(kith::test::with_policy("socket+pm"));
  const int from = hosts().front(), to = hosts().back();
  const std::size_t pages = 150, spread = 40;  // more than one batch
  const memory m(rt, pages * page, node{from}), f(rt, spread * page, distribution::fine);
  for (std::size_t i = 0; i < pages * page; ++i) m.at()[i] = static_cast<std::byte>(i * 31 >> 3);
  f.touch();
  const std::vector<std::byte> before(m.at(), m.at(pages * page));
  rt.run([&] {
    for (std::size_t i = 0; i < pages; i += 3) spawn([] {}, inout(m.at(i * page), 3 * page), node{to});
    spawn([] {}, inout(f.at(), spread * page), node{to});
  });
  EXPECT_EQ(rt.statistics().migrated_bytes, (pages + spread) * page);
  EXPECT_EQ(m.count(rt).on_node[static_cast<std::size_t>(to)], pages);
  EXPECT_EQ(f.count(rt).on_node[static_cast<std::size_t>(to)], spread);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), m.at()));
  expect_known_is_true(rt, m, pages * page);
}

// One task fills everything; the other nodes steal, and what they steal moves.
TEST_F(Homes, AutoMovesPagesAndKeepsContents) {
  runtime rt(kith::test::with_policy("auto:moves=1"));
  constexpr std::size_t blocks = 60, pages = 5, steps = 30;
  const memory m(rt, blocks * pages * page, distribution::system);
  const auto block = [&](std::size_t b) { return m.at(b * pages * page); };
  rt.run([&] {
    access_list all;
    for (std::size_t b = 0; b < blocks; ++b) all.add(out(block(b), pages * page));
    spawn(writes(m, 0, blocks * pages), all);
    for (std::size_t step = 0; step < steps; ++step) {
      kith::wait();
      for (std::size_t b = 0; b < blocks; ++b) {
        const auto add_to_all = [first = block(b), bytes = pages * page] {
          for (std::size_t i = 0; i < bytes; ++i) first[i] = static_cast<std::byte>(static_cast<int>(first[i]) + 1);
        };
        spawn(add_to_all, inout(block(b), pages * page));
      }
    }
  });
  EXPECT_TRUE(
      std::all_of(m.at(), m.at(blocks * pages * page), [](std::byte each) { return each == std::byte{7 + steps}; }));
  expect_known_is_true(rt, m, blocks * pages * page);
}

// The program fills everything before the run, so that all pages are at one node, though they are dealt to all. In each
// step all workers have a task at once, so the other nodes steal theirs, again and again, until they get the data.
TEST_F(Homes, AutoFindsOutWhatWasFilledBeforeAndMovesIt) {
  runtime rt(kith::test::with_policy("auto"));
  const auto blocks = static_cast<std::size_t>(rt.workers());
  constexpr std::size_t pages = 4, steps = 20;
  const memory m(rt, blocks * pages * page, distribution::system);
  const int filled = hosts().front();
  {
    const kith::test::on_cpu bound(kith::test::first_cpu(here, here.nodes[static_cast<std::size_t>(filled)]));
    m.touch();
  }
  const auto there = [&] { return m.count(rt).on_node[static_cast<std::size_t>(filled)]; };
  ASSERT_EQ(there(), blocks * pages);
  for (std::size_t step = 0; step < steps; ++step) {
    std::latch met(static_cast<std::ptrdiff_t>(blocks));
    rt.run([&] {
      for (std::size_t b = 0; b < blocks; ++b)
        spawn([&met] { met.arrive_and_wait(); }, inout(m.at(b * pages * page), pages * page));
    });
  }
  const statistics s = rt.statistics();
  EXPECT_GT(s.homes_elsewhere, 0u);
  EXPECT_LT(there(), blocks * pages);
  EXPECT_GE(s.migrated_bytes, (blocks * pages - there()) * page);  // some moves twice
  expect_known_is_true(rt, m, blocks * pages * page);
}

TEST_F(Homes, WithoutTheOptionNothingMoves) {
  runtime rt(kith::test::with_policy("socket"));
  const memory m(rt, 80 * page, node{hosts().front()});
  m.touch();
  rt.run([&] { spawn([] {}, inout(m.at(), 80 * page), node{hosts().back()}); });
  EXPECT_EQ(m.count(rt).on_node[static_cast<std::size_t>(hosts().front())], 80u);
  EXPECT_EQ(rt.statistics().migrated_bytes, 0u);
}

TEST_F(Homes, AHugePageMovesWhole) {
  const std::size_t huge = huge_page_size();
  if (huge == 0) GTEST_SKIP() << "this system gives no transparent huge pages";
  runtime rt(kith::test::with_policy("socket+pm"));
  const int to = hosts().back();
  const memory m(rt, huge, distribution(node{hosts().front()}).in_huge_pages());
  m.touch();
  rt.run([&] { spawn([] {}, inout(m.at(), huge), node{to}); });
  EXPECT_EQ(m.count(rt).on_node[static_cast<std::size_t>(to)], huge / page);
}

}  // namespace
