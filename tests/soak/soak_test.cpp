// Many tasks, in waves: the results are right, and the memory in use does not grow. 4 * 10^7 tasks by default;
// `make test-full` runs 10^9 (KITH_TEST_SCALE=25).
#include "support/resident.hpp"
#include "support/scale.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

namespace {

constexpr std::int64_t wave = 100'000;  // tasks, about

std::int64_t independent() {
  static std::atomic<std::int64_t> sum;
  sum = 0;
  for (std::int64_t i = 0; i < wave; ++i) kith::spawn([] { sum.fetch_add(1, std::memory_order_relaxed); });
  kith::wait();
  EXPECT_EQ(sum, wave);
  return wave;
}

std::int64_t wavefront_by_handles() {
  constexpr std::int64_t n = 256;
  std::vector<std::uint32_t> values(n * n, 1);
  {
    std::vector<kith::handle<std::uint32_t>> cells(values.begin(), values.end());
    for (std::int64_t i = 1; i < n; ++i) {
      for (std::int64_t j = 1; j < n; ++j) {
        const auto at = static_cast<std::size_t>(i * n + j);
        std::uint32_t* const x = &values[at];
        kith::spawn([x] { *x = *(x - 1) + *(x - n); }, kith::inout(cells[at]), kith::in(cells[at - 1]),
                    kith::in(cells[at - n]));
      }
    }
    kith::wait();
  }
  bool right = true;
  for (std::size_t at = n + 1; at < values.size(); ++at)
    right = right && (at % n == 0 || values[at] == values[at - 1] + values[at - n]);
  EXPECT_TRUE(right);
  return (n - 1) * (n - 1);
}

std::int64_t chains_by_address() {
  static std::array<std::int64_t, 64> cells;
  cells.fill(0);
  for (std::int64_t i = 0; i < wave; ++i) {
    std::int64_t& cell = cells[static_cast<std::size_t>(i) % cells.size()];
    kith::spawn([&cell] { ++cell; }, kith::inout(cell));
  }
  kith::wait();
  for (std::size_t c = 0; c < cells.size(); ++c)
    EXPECT_EQ(cells[c], wave / 64 + (static_cast<std::int64_t>(c) < wave % 64 ? 1 : 0));
  return wave;
}

void grow(std::atomic<std::int64_t>& sum, int depth) {
  sum.fetch_add(1, std::memory_order_relaxed);
  for (int child = 0; depth > 0 && child < 2; ++child) kith::spawn([&sum, depth] { grow(sum, depth - 1); });
}
std::int64_t trees() {
  constexpr int depth = 15;
  std::atomic<std::int64_t> sum{0};
  kith::spawn([&sum] { grow(sum, depth); });
  kith::wait();
  EXPECT_EQ(sum, (std::int64_t{2} << depth) - 1);
  return sum;
}

std::int64_t futures() {
  constexpr std::int64_t count = wave / 10;
  std::vector<kith::future<std::int64_t>> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(kith::async([i] { return i; }));
  std::int64_t sum = 0;
  for (auto& f : all) sum += f.get();
  EXPECT_EQ(sum, count * (count - 1) / 2);
  return count;
}

TEST(soak, memory_stays_as_it_is) {
  constexpr std::array waves{independent, wavefront_by_handles, chains_by_address, trees, futures};
  constexpr long slack = 8L << 20;  // bytes
  const std::int64_t wanted = std::int64_t{kith::test::scaled(40)} * 1'000'000;
  const std::int64_t warm = std::min<std::int64_t>(wanted / 4, 20'000'000);
  kith::runtime rt;
  std::int64_t tasks = 0;
  long most_at_first = 0, most = 0;
  rt.run([&] {
    for (std::size_t i = 0; tasks < wanted && !testing::Test::HasFailure(); ++i) {
      tasks += waves[i % waves.size()]();
      const long now = kith::test::resident_bytes();
      long& highest = tasks < warm ? most_at_first : most;
      highest = std::max(highest, now);
    }
  });
  std::printf("%lld tasks; at most %ld MiB during the first %lld, %ld MiB after that\n", static_cast<long long>(tasks),
              most_at_first >> 20, static_cast<long long>(warm), most >> 20);
  EXPECT_LE(most, most_at_first + slack);
}

}  // namespace
