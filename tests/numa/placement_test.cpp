// Exact page counts for each distribution, on real nodes.
#include "real_nodes.hpp"

#include "memory/pages.hpp"

#include <algorithm>
#include <numeric>

namespace {

using namespace kith;
using kith::test::memory;
using testing::Each;
using testing::ElementsAre;

class Distributions : public kith::test::placing_nodes {
 protected:
  runtime rt{kith::test::with_policy("socket")};

  /// The pages on each node. None may be untouched, or on another node than computed.
  std::vector<std::uint64_t> exact(const memory& m) {
    const page_census c = m.touch().count(rt);
    EXPECT_EQ(c.untouched, 0u);
    EXPECT_EQ(c.elsewhere, 0u);
    return c.on_node;
  }
  std::vector<std::uint64_t> all_on(int node, std::uint64_t pages) const {
    std::vector<std::uint64_t> counts(here.nodes.size());
    counts[static_cast<std::size_t>(node)] = pages;
    return counts;
  }
};

TEST_F(Distributions, NothingIsTouchedByTheAllocation) {
  for (distribution how :
       {distribution(distribution::system), distribution(distribution::fine), distribution(distribution::coarse),
        distribution(distribution::block), distribution(distribution::deferred), distribution(node{0})}) {
    const memory m(rt, 40 * page, how);
    EXPECT_EQ(m.count(rt).untouched, 40u) << how.text();
  }
}

TEST_F(Distributions, FineDealsPageByPage) {
  const std::size_t n = homes().size();
  const memory m(rt, 24 * n * page, distribution::fine);
  const auto counts = exact(m);
  for (int h : homes()) EXPECT_EQ(counts[static_cast<std::size_t>(h)], 24u);
  // Neighbours must also differ, in the order of the nodes.
  for (std::size_t i = 0; n > 1 && i + 1 < 2 * n; ++i)
    EXPECT_NE(node_of(m.at(i * page)), node_of(m.at((i + 1) * page)));
}

TEST_F(Distributions, FineStaysExactBesideOtherMappings) {
  const memory a(rt, 7 * page, distribution::fine), b(rt, 5 * page, distribution::fine),
      c(rt, page, distribution::fine);
  exact(b);
  exact(a);
  exact(c);
}

TEST_F(Distributions, CoarseTakesTheNodesInTurn) {
  std::vector<int> seen;
  for (std::size_t i = 0; i < 2 * homes().size(); ++i) {
    const memory m(rt, 11 * page, distribution::coarse);
    const auto counts = exact(m);
    seen.push_back(static_cast<int>(std::ranges::find(counts, 11u) - counts.begin()));
  }
  std::vector<int> first(seen.begin(), seen.begin() + static_cast<long>(homes().size()));
  EXPECT_TRUE(std::equal(first.begin(), first.end(), seen.begin() + static_cast<long>(homes().size())));
  std::ranges::sort(first);
  EXPECT_EQ(first, homes());
  reset_distribution(rt);
  const memory again(rt, 11 * page, distribution::coarse);
  EXPECT_EQ(exact(again), all_on(seen.front(), 11));
}

TEST_F(Distributions, BlockGivesEqualShares) {
  const std::size_t n = homes().size();
  const memory m(rt, (9 * n + 1) * page, distribution::block);
  const auto counts = exact(m);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0u), 9 * n + 1);
  for (int h : homes()) EXPECT_GE(counts[static_cast<std::size_t>(h)], 9u);
  int changes = 0;
  for (std::size_t i = 0; i < 9 * n; ++i) changes += node_of(m.at(i * page)) != node_of(m.at((i + 1) * page));
  EXPECT_EQ(changes, static_cast<int>(n) - 1);
}

TEST_F(Distributions, OnTheNodeThatIsNamed) {
  for (int h : hosts()) {
    const memory m(rt, 13 * page, node{h});
    EXPECT_EQ(exact(m), all_on(h, 13));
  }
}

TEST_F(Distributions, LocalIsTheCallingWorkersNode) {
  std::vector<std::vector<std::uint64_t>> found(hosts().size());
  rt.run([&] {
    for (std::size_t i = 0; i < hosts().size(); ++i) {
      spawn(
          [&, i] {
            const memory m(rt, 6 * page, distribution::local);
            found[i] = m.touch().count(rt).on_node;
          },
          node{hosts()[i]});
    }
  });
  for (std::size_t i = 0; i < hosts().size(); ++i) EXPECT_EQ(found[i], all_on(hosts()[i], 6));
}

TEST_F(Distributions, HugePagesAreOnTheNodesToo) {
  const std::size_t huge = huge_page_size();
  if (huge == 0) GTEST_SKIP() << "this system gives no transparent huge pages";
  const std::size_t n = homes().size();
  const memory m(rt, 2 * n * huge, distribution(distribution::fine).in_huge_pages());
  const auto counts = exact(m);
  for (int h : homes()) EXPECT_EQ(counts[static_cast<std::size_t>(h)], 2 * huge / page);
  EXPECT_EQ(node_of(m.at()), node_of(m.at(huge - page)));
}

TEST_F(Distributions, AnAllocatorPlacesAContainersElements) {
  const int last = hosts().back();
  const std::vector<double, allocator<double>> v(10 * page / sizeof(double), 1.0, allocator<double>(rt, node{last}));
  EXPECT_EQ(count_pages(rt, v.data(), 10 * page)->on_node, all_on(last, 10));
}

TEST_F(Distributions, LocalWithoutARuntimeIsWhereTheCallerRuns) {
  for (int h : hosts()) {
    void* const p = [&] {
      const kith::test::on_cpu bound(kith::test::first_cpu(here, here.nodes[static_cast<std::size_t>(h)]));
      return allocate(4 * page, distribution::local);
    }();
    for (std::size_t i = 0; i < 4; ++i) static_cast<std::byte*>(p)[i * page] = std::byte{1};
    EXPECT_EQ(count_pages(rt, p, 4 * page)->on_node, all_on(h, 4));
    deallocate(p);
  }
}

// Machines of another shape: nodes with memory and no cores, or cores and no memory.
TEST_F(Distributions, AvoidNodesThatHaveNoMemoryOrNoWorkers) {
  if (regular()) GTEST_SKIP() << "every node of this machine has cores and memory";
  const bool all_have_memory =
      std::ranges::all_of(here.nodes, [](const machine::node& n) { return n.memory_bytes != 0; });
  const memory fine(rt, 60 * page, distribution::fine);
  const auto counts = exact(fine);
  for (const machine::node& n : here.nodes) {
    if (n.memory_bytes == 0) {
      EXPECT_EQ(counts[n.id.index()], 0u) << n.os_index;
    }
    if (n.cores.empty() && all_have_memory) {  // otherwise it may stand in for a node without memory
      EXPECT_EQ(counts[n.id.index()], 0u) << "nobody works there: " << n.os_index;
    }
    const memory named(rt, 5 * page, node{n.id.value});
    const auto there = exact(named);
    EXPECT_EQ(std::accumulate(there.begin(), there.end(), 0u), 5u);
    if (n.memory_bytes != 0) {
      EXPECT_EQ(there[n.id.index()], 5u) << n.os_index;
    }
  }
}

}  // namespace
