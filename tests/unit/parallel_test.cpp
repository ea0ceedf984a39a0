// Loops, scans and sorts on joins.
#include "support/resident.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>
#include <kith/parallel_sort.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using kith::test::make_options;

using testing::ThrowsMessage;

std::vector<int> random_numbers(std::size_t count, int below) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(count));
  std::vector<int> v(count);
  for (int& x : v) x = static_cast<int>(random() % static_cast<unsigned>(below));
  return v;
}

TEST(parallel_sort, sorts_any_order) {
  const std::size_t most = kith::test::sanitized ? 20'000 : 200'000;
  for (const int workers : {1, 3}) {
    kith::runtime rt(make_options(workers));
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{2049}, most}) {
      std::vector<std::vector<int>> inputs{random_numbers(count, 1 << 30), random_numbers(count, 3),
                                           random_numbers(count, 1)};
      inputs.push_back(inputs.front());
      std::sort(inputs.back().begin(), inputs.back().end());
      inputs.push_back(inputs.back());
      std::reverse(inputs.back().begin(), inputs.back().end());
      inputs.push_back(inputs.front());  // an organ pipe: rises, then falls
      std::sort(inputs.back().begin(), inputs.back().begin() + static_cast<std::ptrdiff_t>(count / 2));
      std::sort(inputs.back().begin() + static_cast<std::ptrdiff_t>(count / 2), inputs.back().end(), std::greater<>());
      for (std::vector<int>& v : inputs) {
        std::vector<int> expected = v;
        std::sort(expected.begin(), expected.end());
        rt.run([&] { kith::parallel_sort(v.begin(), v.end()); });
        EXPECT_EQ(v, expected);
        std::reverse(expected.begin(), expected.end());
        rt.run([&] { kith::parallel_sort(v.begin(), v.end(), std::greater<>()); });
        EXPECT_EQ(v, expected);
      }
    }
  }
}

TEST(parallel_sort, moves_what_cannot_be_copied_in_any_container) {
  kith::runtime rt(make_options(2));
  std::deque<std::unique_ptr<int>> v;
  for (const int x : random_numbers(10'000, 1'000)) v.push_back(std::make_unique<int>(x));
  rt.run([&] { kith::parallel_sort(v.begin(), v.end(), [](const auto& a, const auto& b) { return *a < *b; }); });
  EXPECT_TRUE(std::is_sorted(v.begin(), v.end(), [](const auto& a, const auto& b) { return *a < *b; }));
}

TEST(parallel_sort, passes_on_what_a_comparison_throws_and_sorts_again) {
  kith::runtime rt(make_options(2));
  std::vector<int> v = random_numbers(50'000, 1 << 30);
  std::atomic<int> left{200'000};
  const auto less = [&](int a, int b) {
    if (--left == 0) throw std::runtime_error("enough");
    return a < b;
  };
  EXPECT_THAT([&] { rt.run([&] { kith::parallel_sort(v.begin(), v.end(), less); }); },
              ThrowsMessage<std::runtime_error>("enough"));
  rt.run([&] { kith::parallel_sort(v.begin(), v.end()); });
  EXPECT_TRUE(std::is_sorted(v.begin(), v.end()));
}

TEST(parallel_scan, gives_the_serial_prefix_sums) {
  for (const int workers : {1, 2, 5}) {
    kith::runtime rt(make_options(workers));
    for (const std::int64_t count : {0, 1, 2, 3, 7, 1000}) {
      std::vector<std::string> prefixes(static_cast<std::size_t>(count));
      const auto letter = [](std::int64_t i) { return static_cast<char>('a' + i % 26); };
      const std::string all = rt.run([&] {
        return kith::parallel_scan(
            5, 5 + count, std::string(),  // addition is not commutative
            [&](std::int64_t from, std::int64_t to, std::string sum, bool final) {
              for (std::int64_t i = from; i < to; ++i) {
                sum += letter(i);
                if (final) prefixes[static_cast<std::size_t>(i - 5)] = sum;
              }
              return sum;
            },
            [](const std::string& a, const std::string& b) { return a + b; });
      });
      std::string expected;
      for (std::int64_t i = 0; i < count; ++i) {
        expected += letter(i + 5);
        ASSERT_EQ(prefixes[static_cast<std::size_t>(i)], expected);
      }
      EXPECT_EQ(all, expected);
    }
  }
}

TEST(parallel_scan, passes_on_what_a_part_throws) {
  kith::runtime rt(make_options(3));
  const auto scan = [](std::int64_t, std::int64_t, int sum, bool final) {
    if (final) throw std::runtime_error("part");
    return sum;
  };
  EXPECT_THAT([&] { rt.run([&] { kith::parallel_scan(0, 100, 0, scan, std::plus<>()); }); },
              ThrowsMessage<std::runtime_error>("part"));
}

TEST(parallel_for, makes_no_task_where_joins_do) {
  kith::runtime rt(make_options(2));
  std::vector<int> v(1000);
  rt.run([&] { kith::parallel_for(0, 1000, [&](std::int64_t i) { v[static_cast<std::size_t>(i)] = 1; }); });
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 1000);
  EXPECT_EQ(rt.statistics().total.created, 0u);
  kith::runtime_options o = make_options(4);
  o.machine = "node:2 core:2";
  kith::runtime nodes(o);
  nodes.run([&] { kith::parallel_for(0, 1000, [&](std::int64_t i) { v[static_cast<std::size_t>(i)] = 2; }); });
  EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 2000);
  EXPECT_EQ(nodes.statistics().total.created, 4u);
}

TEST(parallel_for, waits_for_the_tasks_of_its_iterations) {
  for (const int workers : {1, 3}) {
    kith::runtime rt(make_options(workers));
    rt.run([&] {
      std::atomic<int> ran{0};
      for (int round = 1; round <= 20; ++round) {
        kith::parallel_for(0, 10, [&](std::int64_t) { kith::spawn([&] { ++ran; }); }, {kith::schedule::dynamic, 1});
        EXPECT_EQ(ran, 10 * round);
      }
    });
  }
}

TEST(parallel_for, skips_chunks_after_an_exception) {
  kith::runtime rt(make_options(2));
  std::atomic<int> ran{0};
  const auto body = [&](std::int64_t) {
    ++ran;
    throw std::runtime_error("chunk");
  };
  EXPECT_THAT([&] { rt.run([&] { kith::parallel_for(0, 1000, body, {kith::schedule::dynamic, 1}); }); },
              ThrowsMessage<std::runtime_error>("chunk"));
  EXPECT_LE(ran, 2);  // one for each worker
}

}  // namespace
