// Computed homes of pages: each formula is compared with a page-by-page count.
#include "memory/page_map.hpp"
#include "support/sizes.hpp"

#include <kith/error.hpp>

#include <gmock/gmock.h>

#include <numeric>

namespace {

using kith::distribution;
using kith::node_id;
using kith::page_map;
using kith::test::page;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

page_map over(distribution::kind what, std::uint64_t pages, std::vector<int> nodes, std::uintptr_t begin = 7 * page) {
  page_map p{.begin = begin, .bytes = pages * page, .page_bytes = page, .what = what};
  for (int n : nodes) p.nodes.emplace_back(n);
  return p;
}

/// The same sums, byte range by byte range, only from node_at.
std::vector<std::uint64_t> one_by_one(const page_map& p, std::uintptr_t from, std::uint64_t bytes) {
  std::vector<std::uint64_t> sums(9);
  for (std::uintptr_t at = from; at < from + bytes;) {
    const std::uintptr_t next = std::min(from + bytes, (at / page + 1) * page);
    const bool inside = at >= p.begin && at < p.begin + p.bytes;
    const node_id n = inside ? p.node_at(at) : node_id();
    sums[n ? n.index() : 8] += next - at;
    at = next;
  }
  return sums;
}

std::vector<std::uint64_t> computed(const page_map& p, std::uintptr_t from, std::uint64_t bytes) {
  std::vector<std::uint64_t> sums(9);
  p.add_bytes(from, bytes, std::span(sums).first(8), sums[8]);
  return sums;
}

TEST(Placement, FineFollowsThePageNumber) {
  const page_map p = over(distribution::fine, 10, {0, 2, 5});
  EXPECT_EQ(p.node_at(7 * page), node_id(2));  // page 7 of the address space: 7 mod 3 = 1
  EXPECT_EQ(p.node_at(8 * page - 1), node_id(2));
  EXPECT_EQ(p.node_at(8 * page), node_id(5));
  EXPECT_EQ(p.node_at(9 * page), node_id(0));
}

TEST(Placement, FineMayNumberPagesFromElsewhere) {
  page_map p = over(distribution::fine, 10, {0, 2, 5}, (std::uintptr_t{1} << 32) * page);
  EXPECT_EQ(p.node_at(p.begin), node_id(2));  // 2^32 mod 3 = 1
  p.first_page = std::uint64_t{1} << 32;
  EXPECT_EQ(p.node_at(p.begin), node_id(0));
}

TEST(Placement, SharesAreContiguousAndDifferByAtMostAPage) {
  for (std::uint64_t pages : {1u, 2u, 3u, 7u, 8u, 100u}) {
    const page_map p = over(distribution::block, pages, {3, 1, 0});
    std::vector<std::uint64_t> of(8);
    std::size_t last = 0;
    for (std::uint64_t i = 0; i < pages; ++i) {
      const node_id n = p.node_at(p.begin + i * page);
      const auto position = static_cast<std::size_t>(std::ranges::find(p.nodes, n) - p.nodes.begin());
      ASSERT_LT(position, 3u);
      EXPECT_GE(position, last) << "in the order of the nodes";
      last = position;
      ++of[n.index()];
    }
    const auto [least, most] = std::ranges::minmax({of[3], of[1], of[0]});
    EXPECT_LE(most - least, 1u) << pages;
  }
}

TEST(Placement, SumsAgreeWithAPageByPageCount) {
  const page_map all[] = {over(distribution::fine, 23, {0, 1, 2, 3}),  over(distribution::fine, 5, {7, 6, 1}),
                          over(distribution::block, 23, {0, 1, 2, 3}), over(distribution::block, 2, {0, 1, 2, 3}),
                          over(distribution::coarse, 9, {4}),          over(distribution::system, 9, {})};
  for (const page_map& p : all) {
    for (std::uintptr_t from : {p.begin, p.begin + 1, p.begin + page - 1, p.begin + 3 * page, p.begin + p.bytes - 1}) {
      for (std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{page}, 3 * page + 5, 17 * page, p.bytes, 40 * page}) {
        EXPECT_EQ(computed(p, from, bytes), one_by_one(p, from, bytes))
            << static_cast<int>(p.what) << " from " << from - p.begin << ", " << bytes;
      }
    }
  }
}

TEST(Distribution, TextAndBack) {
  for (const char* text :
       {"system", "fine", "coarse", "local", "block", "deferred", "node:3", "fine,huge", "node:0,huge"}) {
    EXPECT_EQ(distribution::parse(text).text(), text);
  }
  EXPECT_EQ(distribution::parse("node:12"), distribution(kith::node{12}));
  for (const char* text : {"", "Fine", "node:", "node:x", "node:-1", "standard", "fine,", "fine,small", "huge"}) {
    EXPECT_THAT([&] { distribution::parse(text); },
                ThrowsMessage<kith::error>(HasSubstr("memory '" + std::string(text) + "': expected system, fine")))
        << text;
  }
}

}  // namespace
