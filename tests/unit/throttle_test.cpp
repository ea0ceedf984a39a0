// The throttle: how many unfinished tasks a creator may have, and how many bytes these may name, before it helps.
#include "engine/life/throttle.hpp"
#include "support/resident.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace {

using kith::test::make_options;

TEST(throttle, bounds_unfinished_tasks) {
  kith::runtime_options o = make_options(2);
  o.throttle = 100;
  kith::runtime rt(o);
  std::atomic<int> ended{0};
  int most = 0;
  rt.run([&] {
    for (int i = 0; i < 5000; ++i) {
      kith::spawn([&] { ++ended; });
      most = std::max(most, i + 1 - ended);
    }
  });
  EXPECT_EQ(ended, 5000);
  EXPECT_LE(most, 100 + 64 + 1);  // ends are reported in batches
  EXPECT_GT(rt.statistics().throttled, 0u);
}

/// A creator that never waits, and whose tasks name data that no task has named before.
TEST(throttle, bounds_the_memory_for_ranges) {
  kith::runtime rt(make_options(2));
  constexpr int many = 300'000;
  std::vector<int> cells(many);
  const auto fill_to = [&](int count) {
    for (int i = 0; i < count; ++i) kith::spawn([](int& c) { c = 1; }, kith::out(cells[static_cast<std::size_t>(i)]));
  };
  rt.run([&] { fill_to(10'000); });
  const long before = kith::test::resident_bytes();
  long grown = 0;
  rt.run([&] {
    fill_to(many);
    grown = kith::test::resident_bytes() - before;
  });
  EXPECT_EQ(std::ranges::count(cells, 1), many);
  if (!kith::test::sanitized) {
    EXPECT_LT(grown, 20 << 20);  // 300 bytes for each range would be 90 MB
  }
}

TEST(throttle, bounds_bytes) {
  kith::runtime_options o = make_options(1);  // no other worker ends the tasks
  o.inline_limit = 0;
  o.throttle_bytes = 10 * 1024;
  kith::runtime rt(o);
  std::vector<char> data(1024 * 200);
  rt.run([&] {
    for (int i = 0; i < 200; ++i)
      kith::spawn([](std::span<char> c) { c[0] = 1; }, kith::out(data.data() + i * 1024, 1024));
  });
  EXPECT_GT(rt.statistics().throttled, 0u);
  EXPECT_EQ(rt.statistics().total.tasks, 200u);
}

TEST(throttle, on_bytes_is_left_alone_by_a_refused_access) {
  kith::runtime_options o = make_options(2);
  o.throttle_bytes = 10 * 1024;
  kith::runtime rt(o);
  std::vector<char> data(64 * 1024);
  rt.run([&] {
    kith::spawn([](std::span<char>) {}, kith::out(data.data(), 16));
    EXPECT_THROW(kith::spawn([] {}, kith::out(data.data() + 32, 32 * 1024), kith::in(data.data() + 8, 16)),
                 kith::error);
    kith::wait();
    const std::uint64_t before = rt.statistics().throttled;
    for (int i = 0; i < 100; ++i) {
      kith::spawn([](std::span<char>) {}, kith::out(data.data(), 16));
      kith::wait();
    }
    EXPECT_EQ(rt.statistics().throttled, before);
  });
}

TEST(throttle, may_be_below_the_length_of_a_chain) {
  kith::runtime_options o = make_options(1);
  o.throttle = 4;
  kith::runtime rt(o);
  int ran = 0;
  rt.run([&] {
    kith::spawn([&] {
      int gate = 0;
      kith::group g;
      for (int i = 0; i < 20; ++i) g.spawn([&](int&) { ++ran; }, kith::inout(gate));
      g.wait();
    });
  });
  EXPECT_EQ(ran, 20);
}

/// Members of a group may have created more since the owner found that it may go on.
TEST(throttle, lets_an_owner_go_on_for_no_more_than_the_bound) {
  constexpr kith::life::throttle bound(8);
  for (std::uint64_t unfinished = 0; unfinished < 100; ++unfinished) {
    for (const bool exceeded : {false, true}) {
      EXPECT_GE(bound.owner_goes_on_for(unfinished, exceeded), 1u) << unfinished;
      EXPECT_LE(bound.owner_goes_on_for(unfinished, exceeded), 8u) << unfinished;
    }
  }
}

}  // namespace
