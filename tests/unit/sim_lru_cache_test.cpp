// Which chunks a cache holds, compared with a plain list.
#include "engine/sim/lru_cache.hpp"

#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <list>

namespace {

using namespace kith;

struct held {
  std::uint32_t chunk;
  std::uint64_t bytes;
};

std::uint64_t bytes_of(const std::list<held>& all) {
  std::uint64_t sum = 0;
  for (const held& h : all) sum += h.bytes;
  return sum;
}

TEST(SimLruCache, TheOldestLeaveWhenItIsTooFull) {
  constexpr std::uint32_t chunks = 64;
  constexpr std::uint64_t capacity = 1000;
  sim::lru_cache cache(chunks, capacity);
  std::list<held> expected;  // the newest first
  rng draw(1, purpose::test, 0);
  for (int i = 0; i < 20000; ++i) {
    const std::uint32_t chunk = draw.below(chunks);
    const auto at = std::ranges::find(expected, chunk, &held::chunk);
    ASSERT_EQ(cache.holds(chunk), at != expected.end()) << i;
    if (draw.below(8) == 0) {
      if (at == expected.end()) continue;
      cache.drop(chunk);
      expected.erase(at);
    } else {
      const std::uint64_t bytes = 1 + draw.below(200);
      cache.use(chunk, bytes);
      const std::uint64_t known = at == expected.end() ? 0 : at->bytes;
      if (at != expected.end()) expected.erase(at);
      expected.push_front({chunk, std::max(bytes, known)});  // what the cache held of the chunk stays
    }
    while (bytes_of(expected) > capacity) {
      ASSERT_TRUE(cache.too_full()) << i;
      ASSERT_EQ(cache.oldest().chunk, expected.back().chunk) << i;
      ASSERT_EQ(cache.oldest().bytes, expected.back().bytes) << i;
      cache.drop_oldest();
      expected.pop_back();
    }
    ASSERT_FALSE(cache.too_full()) << i;
  }
  cache.clear();
  for (std::uint32_t c = 0; c < chunks; ++c) EXPECT_FALSE(cache.holds(c));
}

TEST(SimLruCache, TheNewestStaysHoweverLarge) {
  sim::lru_cache cache(3, 100);
  cache.use(0, 50);
  cache.use(1, 500);
  ASSERT_TRUE(cache.too_full());
  cache.drop_oldest();
  EXPECT_FALSE(cache.holds(0));
  EXPECT_TRUE(cache.holds(1));
  EXPECT_FALSE(cache.too_full());
}

}  // namespace
