// Homes where the system gives huge pages without a request. A small region's pages are on its own node all
// the same, and the system is asked, for a sample, whether Kith's homes are right. The tests pass on
// systems without huge pages as well.
#include "real_nodes.hpp"

#include "memory/pages.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace kith;
using kith::test::memory;

class SmallHomes : public kith::test::two_hosts {
 protected:
  static constexpr std::size_t block = std::size_t{128} << 10, huge = std::size_t{2} << 20, all = 4 * huge;
  static constexpr std::size_t blocks = all / block;

  /// The memory of a program that does not know about pages.
  struct plain {
    std::byte* at =
        static_cast<std::byte*>(mmap(nullptr, all + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    plain() = default;
    ~plain() { munmap(at, all + huge); }
    plain(const plain&) = delete;
    plain& operator=(const plain&) = delete;
    /// The first address at which a huge page could begin.
    std::byte* data() const {
      return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(at) + huge - 1) / huge * huge);
    }
  };

  node host_of(std::size_t b) const { return node{hosts()[b % hosts().size()]}; }

  /// The number of pages of [data, data + all) that are not on the node of their block.
  std::size_t misplaced(const std::byte* data) const {
    std::size_t wrong = 0;
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::size_t i = 0; i < block; i += page) wrong += node_of(data + b * block + i) != host_of(b).value;
    }
    return wrong;
  }
  /// Each block is first written by a task on its node.
  void touch_blocks(runtime& rt, std::byte* data) const {
    rt.run([&] {
      for (std::size_t b = 0; b < blocks; ++b)
        spawn([p = data + b * block] { std::memset(p, 7, block); }, out(data + b * block, block), host_of(b));
    });
  }
  void expect_known_is_true(runtime& rt, const std::byte* data) const {
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto known = known_bytes_on_nodes(rt, data + b * block, block);
      const auto found = count_pages(rt, data + b * block, block)->on_node;
      for (std::size_t n = 0; n < found.size(); ++n)
        EXPECT_EQ(known[n], found[n] * page) << "block " << b << ", node " << n;
    }
  }
};

TEST_F(SmallHomes, TheGuestHasTheHugePagesThatWereAskedFor) {
  const char* const ordered = std::getenv("KITH_GUEST_HUGE_PAGES");
  if (ordered == nullptr) GTEST_SKIP() << "not in a guest of vm.py";
  EXPECT_EQ(unasked_huge_page_size() != 0, std::string(ordered) == "always");
  if (unasked_huge_page_size() == 0) return;
  const plain p;  // without Kith, huge pages cross blocks, which is what these tests are about
  const kith::test::on_cpu bound(kith::test::first_cpu(here, here.nodes[static_cast<std::size_t>(hosts().front())]));
  p.data()[0] = std::byte{1};
  EXPECT_EQ(node_of(p.data() + huge - page), hosts().front());
}

TEST_F(SmallHomes, OfAProgramsOwnMemoryAreWhereTheyWereTouched) {
  runtime rt(kith::test::with_policy("socket"));
  const plain p;
  touch_blocks(rt, p.data());
  EXPECT_EQ(misplaced(p.data()), 0u);
  expect_known_is_true(rt, p.data());
  EXPECT_GT(rt.statistics().homes_asked, 0u);
  EXPECT_EQ(rt.statistics().homes_elsewhere, 0u);
}

TEST_F(SmallHomes, OfSystemMemoryToo) {
  runtime rt(kith::test::with_policy("socket"));
  const memory m(rt, all + huge, distribution::system);
  auto* const data = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(m.at()) + huge - 1) / huge * huge);
  touch_blocks(rt, data);
  EXPECT_EQ(misplaced(data), 0u);
  expect_known_is_true(rt, data);
}

TEST_F(SmallHomes, AndOfSystemMemoryThatAskedForHugePages) {
  runtime rt(kith::test::with_policy("socket"));
  const memory m(rt, all, distribution(distribution::system).in_huge_pages());
  touch_blocks(rt, m.at());
  EXPECT_EQ(misplaced(m.at()), 0u);
  expect_known_is_true(rt, m.at());
}

TEST_F(SmallHomes, MemoryThatIsGivenOutAgainIsLookedAtAnew) {
  runtime rt(kith::test::with_policy("socket"));
  for (int round = 0; round < 3; ++round) {
    const memory m(rt, all, distribution::system);
    touch_blocks(rt, m.at());
    EXPECT_EQ(misplaced(m.at()), 0u) << round;
  }
}

TEST_F(SmallHomes, FineIsPageByPageHoweverLarge) {
  runtime rt(kith::test::with_policy("socket"));
  const std::size_t n = homes().size(), bytes = n * huge + huge;
  const memory m(rt, bytes, distribution::fine);
  const page_census c = m.touch().count(rt);
  EXPECT_EQ(c.elsewhere, 0u);
  for (std::size_t i = 0; n > 1 && i + 1 < 2 * n; ++i)
    EXPECT_NE(node_of(m.at(i * page)), node_of(m.at((i + 1) * page)));
}

TEST_F(SmallHomes, BlockSharesEndWhereTheySay) {
  runtime rt(kith::test::with_policy("socket"));
  const memory m(rt, homes().size() * (huge + huge / 2), distribution::block);
  EXPECT_EQ(m.touch().count(rt).elsewhere, 0u);
}

TEST_F(SmallHomes, DeferredBlocksGoWhereTheirWritersArePlacedWhoeverTouchedThem) {
  runtime rt(kith::test::with_policy("socket"));
  const memory m(rt, all + huge, distribution::deferred);
  auto* const data = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(m.at()) + huge - 1) / huge * huge);
  for (std::size_t i = 0; i < all; i += huge) data[i] = std::byte{1};
  touch_blocks(rt, data);
  EXPECT_EQ(misplaced(data), 0u);
  expect_known_is_true(rt, data);
}

TEST_F(SmallHomes, DepRunsTasksWhereTheirPagesAre) {
  runtime rt(kith::test::with_policy("dep:steal=off"));
  const plain p;
  std::vector<int> elsewhere(blocks);
  rt.run([&] {
    for (int round = 0; round < 3; ++round) {
      for (std::size_t b = 0; b < blocks; ++b) {
        std::byte* const mine = p.data() + b * block;
        spawn(
            [&, b, mine, round] {
              std::memset(mine, round, block);
              for (std::size_t i = 0; i < block; i += page) elsewhere[b] += node_of(mine + i) != node_here();
            },
            inout(mine, block));
      }
    }
  });
  if (regular()) {
    EXPECT_EQ(elsewhere, std::vector<int>(blocks));
  }
  expect_known_is_true(rt, p.data());
}

/// AnonHugePages, in bytes, of the mapping that contains the address.
std::size_t in_huge_pages(const void* p) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t from = 0, to = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &from, &to) == 2)
      inside = from <= reinterpret_cast<std::uintptr_t>(p) && reinterpret_cast<std::uintptr_t>(p) < to;
    std::size_t kb = 0;
    if (inside && std::sscanf(line.c_str(), "AnonHugePages: %zu kB", &kb) == 1) return kb << 10;
  }
  return 0;
}

TEST_F(SmallHomes, ARegionThatCoversHugePagesKeepsThem) {
  if (unasked_huge_page_size() == 0) GTEST_SKIP() << "this system gives no huge pages unasked";
  runtime rt(kith::test::with_policy("socket"));
  const plain p;
  const std::size_t large = 2 * huge;
  rt.run([&] { spawn([&] { std::memset(p.data(), 7, large); }, out(p.data(), large), node{hosts().back()}); });
  EXPECT_EQ(in_huge_pages(p.data()), large);
  for (std::size_t i = 0; i < large; i += page) ASSERT_EQ(node_of(p.data() + i), hosts().back());
}

TEST_F(SmallHomes, DataThatWasFilledBeforeTheRunIsFoundOut) {
  runtime rt(kith::test::with_policy("socket"));
  const plain p;
  {
    const kith::test::on_cpu bound(kith::test::first_cpu(here, here.nodes[static_cast<std::size_t>(hosts().front())]));
    std::memset(p.data(), 1, all);
  }
  rt.run([&] {
    for (std::size_t b = 0; b < 16; ++b) spawn([] {}, inout(p.data() + b * block, block), node{hosts().back()});
  });
  const statistics s = rt.statistics();
  EXPECT_EQ(s.homes_asked, 16u);
  EXPECT_EQ(s.homes_elsewhere, 16u);
  for (std::size_t b = 0; b < 16; ++b)
    EXPECT_EQ(known_bytes_on_nodes(rt, p.data() + b * block, block)[static_cast<std::size_t>(hosts().front())], block);
}

// More regions than those of which each is asked for anyhow.
TEST_F(SmallHomes, AllIsAskedForWhileMostIsElsewhere) {
  const std::size_t many = all / page;
  const auto use = [&](const plain& p, runtime& rt) {
    rt.run([&] {
      for (std::size_t i = 0; i < many; ++i)
        spawn([at = p.data() + i * page] { *at = std::byte{1}; }, inout(p.data() + i * page, page),
              node{hosts().back()});
    });
    return rt.statistics();
  };
  {
    runtime rt(kith::test::with_policy("socket:steal=off"));
    const plain untouched;
    const statistics s = use(untouched, rt);
    EXPECT_GT(s.homes_asked, 0u);
    EXPECT_LT(s.homes_asked, many / 2 + 64 * static_cast<std::uint64_t>(rt.workers()));
  }
  runtime rt(kith::test::with_policy("socket:steal=off"));
  const plain filled;
  {
    const kith::test::on_cpu bound(kith::test::first_cpu(here, here.nodes[static_cast<std::size_t>(hosts().front())]));
    std::memset(filled.data(), 1, all);
  }
  const statistics s = use(filled, rt);
  EXPECT_EQ(s.homes_asked, many);
  EXPECT_EQ(s.homes_elsewhere, many);
}

}  // namespace
