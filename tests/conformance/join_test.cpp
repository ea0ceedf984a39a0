// Joins beside tasks, under every policy.
#include "support/matrix.hpp"
#include "support/resident.hpp"
#include "support/scale.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <stdexcept>

namespace {

using kith::test::sanitized;
using kith::test::scaled;
using testing::ThrowsMessage;

class joins : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};
};
KITH_FOR_ALL_POLICIES(joins);

std::int64_t fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = kith::join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

TEST_P(joins, give_the_sequential_result) {
  EXPECT_EQ(rt.run([] { return fib(16); }), 987);
  std::array<std::int64_t, 8> in_tasks{};
  rt.run([&] {
    for (std::int64_t& result : in_tasks) kith::spawn([&result] { result = fib(12); });
  });
  EXPECT_THAT(in_tasks, testing::Each(144));
}

/// A tree in which each level has its children as halves or as tasks, in turns.
std::int64_t mixed(int depth) {
  if (depth == 0) return 1;
  if (depth % 2 == 0) {
    const auto [a, b] = kith::join([&] { return mixed(depth - 1); }, [&] { return mixed(depth - 1); });
    return a + b;
  }
  std::int64_t a = 0, b = 0;
  kith::spawn([&] { a = mixed(depth - 1); });
  kith::spawn([&] { b = mixed(depth - 1); });
  kith::wait();
  return a + b;
}

TEST_P(joins, and_tasks_may_be_nested_in_each_other) {
  const int depth = sanitized ? 6 : 9;
  for (int round = 0; round < scaled(3); ++round) {
    EXPECT_EQ(rt.run([&] { return mixed(depth); }), std::int64_t{1} << depth);
  }
}

TEST_P(joins, may_wait_in_a_half_for_what_a_task_of_the_other_one_does) {
  for (int round = 0; round < scaled(20); ++round) {
    rt.run([] {
      kith::future<int> first;
      const auto [a, b] = kith::join(
          [&] {
            first = kith::async([] { return 1; });
            return first.get();
          },
          [&] {
            kith::group mine;
            std::atomic<int> ran{0};
            for (int t = 0; t < 5; ++t) mine.spawn([&] { ran += static_cast<int>(fib(5)); });
            mine.wait();
            return ran.load();
          });
      EXPECT_EQ(a + b, 26);
    });
  }
}

TEST_P(joins, have_the_running_tasks_group_filled_in_both_halves) {
  for (int round = 0; round < scaled(10); ++round) {
    std::atomic<int> ran{0};
    rt.run([&] {
      kith::group all;
      const auto fill = [&] {
        for (int t = 0; t < 3; ++t) all.spawn([&] { ++ran; });
      };
      kith::parallel_invoke(fill, fill, fill, fill);
      all.wait();
      EXPECT_EQ(ran, 12);
    });
  }
}

TEST_P(joins, pass_on_failures_of_tasks_that_a_half_created) {
  for (int round = 0; round < scaled(10); ++round) {
    EXPECT_THAT(
        [&] {
          rt.run([&] {
            kith::join([] { fib(8); }, [] { kith::spawn([] { throw std::runtime_error("a task of a half"); }); });
            kith::wait();
          });
        },
        ThrowsMessage<std::runtime_error>("a task of a half"));
  }
}

TEST_P(joins, wait_for_tasks_of_a_half_at_the_end_of_the_task) {
  for (int round = 0; round < scaled(10); ++round) {
    std::atomic<int> ran{0};
    rt.run([&] {
      kith::spawn([&] {
        const auto create = [&] {
          for (int t = 0; t < 4; ++t) kith::spawn([&ran] { ++ran; });
        };
        kith::parallel_invoke(create, create, create);
      });
      kith::wait();
      EXPECT_EQ(ran, 12);
    });
  }
}

}  // namespace
