// Tasks that run at their creation because tasks with the same code were short.
#include "base/clock.hpp"
#include "engine/native/body_times.hpp"
#include "support/resident.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

namespace {

using kith::detail::action;
using kith::detail::outcome;
using kith::native::body_times;

outcome first(void*, action) { return outcome::ended; }
outcome second(void*, action) { return outcome::held; }

constexpr std::uint64_t limit = 150;

TEST(body_times, calls_code_short_after_several_samples_and_long_after_few) {
  body_times times;
  EXPECT_FALSE(times.is_short(first));
  int samples = 0;
  for (; !times.is_short(first) && samples < 100; ++samples) times.took(first, 40, limit);
  EXPECT_GT(samples, 5);
  EXPECT_LT(samples, 20);
  EXPECT_FALSE(times.is_short(second));
  times.took(first, 100'000, limit);
  EXPECT_FALSE(times.is_short(first));
}

TEST(body_times, keeps_its_answer_near_the_limit) {
  body_times times;
  for (int i = 0; i < 100; ++i) times.took(first, limit + limit / 3, limit);
  EXPECT_FALSE(times.is_short(first));
  for (int i = 0; i < 100; ++i) times.took(first, limit / 2, limit);
  EXPECT_TRUE(times.is_short(first));
  for (int i = 0; i < 100; ++i) times.took(first, limit + limit / 3, limit);
  EXPECT_TRUE(times.is_short(first));
  for (int i = 0; i < 100; ++i) times.took(first, 2 * limit, limit);
  EXPECT_FALSE(times.is_short(first));
}

kith::runtime_options inlining_options(int workers, std::optional<int> inline_limit = {}) {
  kith::runtime_options o;
  o.workers = workers;
  o.oversubscribe = true;
  o.policy = "steal";
  o.inline_limit = inline_limit;
  return o;
}

/// Creates `count` tasks that only count; returns how many of them had run when spawn returned.
int run_at_creation(int count, std::atomic<int>& ran) {
  int at_creation = 0;
  for (int i = 0; i < count; ++i) {
    const int before = ran.load();
    kith::spawn([&ran] { ran.fetch_add(1, std::memory_order_relaxed); });
    at_creation += ran.load() != before;
  }
  kith::wait();
  return at_creation;
}

/// Whether reading the clock, and little else, takes less than the limit: not in every virtual machine.
bool takes_little_time() {
  std::uint64_t least = limit;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t from = kith::ticks();
    least = std::min(least, kith::ticks() - from);
  }
  return least < limit / 2;
}

TEST(at_creation, short_tasks_run_there_once_they_are_known) {
  kith::runtime rt(inlining_options(1));
  std::atomic<int> ran{0};
  EXPECT_EQ(rt.run([&] { return run_at_creation(100, ran); }), 0);  // nothing is known of them
  rt.run([&] { run_at_creation(20'000, ran); });
  const int at_creation = rt.run([&] { return run_at_creation(1'000, ran); });
  if (!kith::test::sanitized && takes_little_time()) {
    EXPECT_GT(at_creation, 0);
  }
  EXPECT_EQ(ran, 21'100);
}

TEST(at_creation, no_task_runs_there_if_the_option_or_the_policy_says_so) {
  kith::runtime_options fifo = inlining_options(1);
  fifo.policy = "fifo";
  for (const kith::runtime_options& o : {inlining_options(1, 0), fifo}) {
    kith::runtime rt(o);
    std::atomic<int> ran{0};
    rt.run([&] {
      run_at_creation(20'000, ran);
      EXPECT_EQ(run_at_creation(1'000, ran), 0);
    });
  }
}

TEST(at_creation, tasks_with_a_priority_are_queued) {
  kith::runtime rt(inlining_options(1));
  rt.run([] {
    int ran = 0;
    const auto body = [&ran] { ++ran; };
    for (int i = 0; i < 20'000; ++i) kith::spawn(body);
    kith::wait();
    for (int i = 0; i < 100; ++i) {
      const int before = ran;
      kith::spawn(body, kith::priority::high);
      EXPECT_EQ(ran, before);
    }
    kith::wait();
  });
}

TEST(at_creation, a_dependent_task_waits_for_its_predecessors) {
  for (const int workers : {1, 3}) {
    kith::runtime rt(inlining_options(workers));
    constexpr int length = 64, rows = 300;
    std::vector<int> cells(length);
    std::atomic<int> wrong{0};
    rt.run([&] {
      for (int r = 0; r < rows; ++r) {
        for (int i = 1; i < length; ++i)
          kith::spawn(
              [&wrong, r](int& here, const int& left) {
                wrong += here != r || left < r;
                ++here;
              },
              kith::inout(cells[static_cast<std::size_t>(i)]), kith::in(cells[static_cast<std::size_t>(i - 1)]));
        kith::spawn([](int& here) { ++here; }, kith::inout(cells[0]));
      }
    });
    EXPECT_EQ(wrong, 0);
    for (const int c : cells) EXPECT_EQ(c, rows);
  }
}

TEST(at_creation, an_exception_leaves_wait_not_spawn) {
  kith::runtime rt(inlining_options(1, 1));
  rt.run([&] {
    EXPECT_NO_THROW(kith::spawn([] { throw std::runtime_error("in a task"); }));
    EXPECT_THROW(kith::wait(), std::runtime_error);
  });
}

TEST(at_creation, children_end_before_their_parent_does) {
  kith::runtime rt(inlining_options(3, 1));
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> children{0};
    int seen = 0, data = 0;
    rt.run([&] {
      kith::spawn(
          [&] {
            for (int i = 0; i < 20; ++i) kith::spawn([&] { children.fetch_add(1); });
          },
          kith::out(data));
      kith::spawn([&] { seen = children.load(); }, kith::in(data));
    });
    EXPECT_EQ(seen, 20);
  }
}

TEST(at_creation, inline_limit_runs_tasks_at_creation) {
  kith::runtime rt(inlining_options(1, 1));
  int value = 0;
  rt.run([&] {
    kith::spawn([&] { value = 1; });
    EXPECT_EQ(value, 1);
  });
}

/// The policy waits until tasks are ready to decide where they go.
TEST(at_creation, inline_limit_is_nothing_to_a_policy_that_is_told_of_creations) {
  kith::runtime_options o = inlining_options(2, 1);
  o.policy = "rip-dep:window=4";
  o.machine = "node:2 core:1";
  kith::runtime rt(o);
  static thread_local bool creating = false;
  std::atomic<int> at_creation{0};
  int data[8] = {};
  rt.run([&] {
    for (int& d : data) {
      creating = true;
      kith::spawn(
          [&] {
            at_creation += creating;
            d = 1;
          },
          kith::out(d));
      creating = false;
    }
  });
  EXPECT_EQ(at_creation, 0);
}

}  // namespace
