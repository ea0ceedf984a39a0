// Memory that the runtime keeps on a node: pieces are whole and separate, and pages are returned.
// tests/numa checks on which node they are.
#include "support/scale.hpp"

#include "base/address.hpp"
#include "memory/node_memory.hpp"
#include "memory/pages.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {

using kith::node_memory;
using kith::page_size;

struct piece {
  std::byte* at;
  std::size_t bytes, alignment;
  unsigned char mark;

  bool whole() const {
    return std::all_of(at, at + bytes, [this](std::byte b) { return b == std::byte{mark}; });
  }
};

piece take(node_memory& from, std::size_t bytes, std::size_t alignment, unsigned char mark) {
  const piece p{static_cast<std::byte*>(from.allocate(bytes, alignment)), bytes, alignment, mark};
  std::memset(p.at, mark, bytes);
  return p;
}

bool is_mapped(const void* p) {
  const auto at = reinterpret_cast<std::uintptr_t>(p) / page_size() * page_size();
  unsigned char resident = 0;
  return mincore(kith::at_address(at), 1, &resident) == 0;
}

/// Every size with every alignment, twice, each piece with a mark of its own. A node number that does not
/// exist must work, too.
void expect_pieces_whole_and_apart(int node) {
  node_memory memory(node);
  std::vector<piece> all;
  unsigned char mark = 0;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t bytes = 1; bytes <= 5 * page_size(); bytes += bytes < 700 ? 7 : 1111) {
      for (std::size_t alignment = 1; alignment <= 2 * page_size(); alignment *= 2) {
        all.push_back(take(memory, bytes, alignment, ++mark));
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(all.back().at) % alignment, 0u) << bytes << " at " << alignment;
      }
    }
    // Half of them are used again.
    for (std::size_t i = 0; i < all.size() / 2; ++i) {
      ASSERT_TRUE(all[2 * i].whole()) << all[2 * i].bytes << " at " << all[2 * i].alignment;
      memory.deallocate(all[2 * i].at, all[2 * i].bytes, all[2 * i].alignment);
      all[i] = all[2 * i + 1];
    }
    all.resize(all.size() / 2);
  }
  for (const piece& p : all) {
    ASSERT_TRUE(p.whole()) << p.bytes << " at " << p.alignment;
    memory.deallocate(p.at, p.bytes, p.alignment);
  }
}

TEST(NodeMemory, PiecesAreWholeAndApart) { expect_pieces_whole_and_apart(0); }
TEST(NodeMemory, WhereTheSystemPlacesNothingItIsMemoryAllTheSame) { expect_pieces_whole_and_apart(1 << 20); }

TEST(NodeMemory, LargePiecesGoBackAtOnceTheRestWithTheWhole) {
  auto memory = std::make_unique<node_memory>(0);
  const piece large = take(*memory, 10 * page_size(), 64, 1), small = take(*memory, 100, 4, 2);
  EXPECT_TRUE(is_mapped(large.at));
  EXPECT_TRUE(is_mapped(large.at + large.bytes - 1));
  memory->deallocate(large.at, large.bytes, large.alignment);
  EXPECT_FALSE(is_mapped(large.at));
  EXPECT_FALSE(is_mapped(large.at + large.bytes - 1));
  EXPECT_TRUE(is_mapped(small.at));
  const piece kept = take(*memory, 20 * page_size(), 64, 3);
  memory.reset();
  EXPECT_FALSE(is_mapped(small.at));
  EXPECT_FALSE(is_mapped(kept.at));
}

TEST(NodeMemory, SmallPiecesAreUsedAgain) {
  node_memory memory(0);
  std::vector<std::byte*> seen;
  for (int i = 0; i < 10000; ++i) {
    const piece p = take(memory, 512, 8, 1);
    seen.push_back(p.at);
    memory.deallocate(p.at, p.bytes, p.alignment);
  }
  std::ranges::sort(seen);
  seen.erase(std::ranges::unique(seen).begin(), seen.end());
  EXPECT_LT(seen.size(), 100u);
}

TEST(NodeMemory, MoreThanThereIsIsRefused) {
  node_memory memory(0);
  const volatile std::size_t too_many = static_cast<std::size_t>(-1);  // a constant would be a warning
  EXPECT_THROW((void)memory.allocate(too_many, 64), std::bad_alloc);
  EXPECT_THROW((void)memory.allocate(static_cast<std::size_t>(-1) / 2, 64), std::bad_alloc);
}

/// Each thread fills pieces, and other threads release them.
TEST(NodeMemory, OfAllThreads) {
  constexpr int threads = 4;
  const int rounds = kith::test::scaled(2000);
  node_memory memory(0);
  std::vector<std::atomic<piece*>> box(64);
  std::atomic<int> broken{0};
  const auto leave = [&](piece* p) {
    if (p == nullptr) return;
    if (!p->whole()) ++broken;
    memory.deallocate(p->at, p->bytes, p->alignment);
    delete p;
  };
  std::vector<std::thread> all;
  for (int who = 0; who < threads; ++who) {
    all.emplace_back([&, who] {
      for (int i = 0; i < rounds; ++i) {
        const auto n = static_cast<unsigned>(i * 7 + who * 13);
        auto* const p = new piece(take(memory, 1 + n % 900, 16, static_cast<unsigned char>(n)));
        leave(box[n % box.size()].exchange(p));
      }
    });
  }
  for (std::thread& t : all) t.join();
  for (auto& p : box) leave(p.exchange(nullptr));
  EXPECT_EQ(broken, 0);
}

}  // namespace
