// Activities that are coroutines: they hold no worker while they wait, and end as other activities do.
#include "support/places.hpp"
#include "support/scale.hpp"

#include <kith/activity.hpp>
#include <kith/kith.hpp>
#include <kith/places.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using kith::test::make_place_options;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Counts nodes of a tree; each waits for its children at other places.
kith::activity<long> count(int depth) {
  long all = 1;
  std::vector<kith::place_future<long>> children;
  for (int c = 0; depth > 0 && c < 3; ++c)
    children.push_back(kith::at((kith::here() + c) % kith::places()).async<count>(depth - 1));
  for (const auto& child : children) all += co_await child;
  co_return all;
}

TEST(PlacesCoroutine, ReturnsItsValue) {
  for (const int workers : {1, 3}) {
    kith::place_runtime places(make_place_options(3, workers));
    places.run([] {
      for (int depth = 0; depth < 6; ++depth) {
        long expected = 0, level = 1;
        for (int d = 0; d <= depth; ++d, level *= 3) expected += level;
        EXPECT_EQ(kith::at(depth % 3).async<count>(depth).get(), expected);
      }
    });
  }
}

std::atomic<int> suspended{0}, most{0};
std::atomic<bool> opened{false};

kith::activity<> stall(int there) {
  ++suspended;
  co_await kith::at(there).async([] {
    while (!opened) std::this_thread::yield();
  });
  --suspended;
}

/// One worker has many stalled activities at once, and no stack for any of them.
TEST(PlacesCoroutine, HoldsNoWorker) {
  kith::place_options o = make_place_options(2);
  o.fab_slots = 4096;
  kith::place_runtime places(o);
  opened = false;
  constexpr int all = 1000;
  places.run([] {
    kith::finish([] {
      for (int i = 0; i < all; ++i) kith::at(0).spawn<stall>(1);
      kith::at(1).spawn([] {
        while (suspended < all) kith::wait(), std::this_thread::yield();
        most = suspended.load();
        opened = true;
      });
    });
  });
  EXPECT_EQ(most, all);
  EXPECT_EQ(suspended, 0);
}

std::atomic<int> came{0};

/// A finish inside a coroutine, whose body uses the coroutine's variables.
kith::activity<int> fan_out(int width, std::span<const int> weights) {
  int spawned = 0;
  co_await kith::async_finish([&] {
    for (int i = 0; i < width; ++i, ++spawned)
      kith::at(i % kith::places()).spawn([](int w) { came += w; }, weights[static_cast<std::size_t>(i)]);
  });
  co_return came.exchange(0) * 1000 + spawned;
}

TEST(PlacesCoroutine, WaitsForAFinish) {
  kith::place_runtime places(make_place_options(3, 2));
  std::vector<int> weights(50);
  std::iota(weights.begin(), weights.end(), 1);
  places.run([&] {
    for (int round = 0; round < kith::test::scaled(50); ++round)
      EXPECT_EQ(kith::at(round % 3).async<fan_out>(50, weights).get(), 1275 * 1000 + 50);
  });
}

kith::activity<int> doubled(int place, int n) {
  co_return 2 * co_await kith::at(place).async([](int m) { return m; }, n);
}
kith::activity<int> sum_of_parts(int n) {
  int all = 0;
  for (int i = 0; i < n; ++i) all += co_await doubled(i % kith::places(), i);
  co_return all;
}

/// Values that stay inside an activity need not be sendable.
kith::activity<std::unique_ptr<int>> boxed(int n) {
  co_await kith::at(1).async([] {});
  co_return std::make_unique<int>(n);
}
kith::activity<int> unboxed(int n) {
  const std::unique_ptr<int> box = co_await boxed(n);
  kith::activity<int> other = doubled(0, *box), moved = std::move(other);
  bool refused = false;
  try {
    co_await std::move(other);
  } catch (const kith::error&) {
    refused = true;
  }
  co_return refused ? co_await std::move(moved) : -1;
}

TEST(PlacesCoroutine, AwaitsOthersAsParts) {
  kith::place_runtime places(make_place_options(2));
  places.run([] {
    EXPECT_EQ(kith::at(1).async<sum_of_parts>(100).get(), 9900);
    EXPECT_EQ(kith::at(0).async<unboxed>(21).get(), 42);
  });
}

kith::activity<> fails(int when) {
  if (when == 0) throw std::runtime_error("at once");
  co_await kith::at(0).async([] {});
  if (when == 1) throw std::runtime_error("later");
  co_await kith::at(1).async([] { throw std::runtime_error("elsewhere"); });
}
kith::activity<int> catches() {
  try {
    co_await kith::async_finish([] { kith::at(1).spawn([] { throw std::runtime_error("in the finish"); }); });
  } catch (const kith::place_error& e) {
    co_return e.place() * 10 + static_cast<int>(e.reason() == "in the finish");
  }
  co_return -1;
}
kith::activity<> body_fails() {
  co_await kith::async_finish([] { throw std::logic_error("the body"); });
}

TEST(PlacesCoroutine, FailuresGoTheirWay) {
  kith::place_runtime places(make_place_options(2, 2));
  places.run([] {
    const char* const reasons[] = {"at once", "later", "elsewhere"};
    for (int when = 0; when < 3; ++when) {
      EXPECT_THAT([&] { kith::finish([&] { kith::at(when % 2).spawn<fails>(when); }); },
                  ThrowsMessage<kith::place_error>(HasSubstr(reasons[when])));
      EXPECT_THAT([&] { kith::at(when % 2).async<fails>(when).get(); },
                  ThrowsMessage<kith::place_error>(HasSubstr(reasons[when])));
    }
    EXPECT_EQ(kith::at(0).async<catches>().get(), 11);
    EXPECT_THAT([&] { kith::at(1).async<body_fails>().get(); },
                ThrowsMessage<kith::place_error>(HasSubstr("the body")));
  });
}

std::atomic<int> tasks{0};
kith::activity<int> with_tasks() {
  for (int i = 0; i < 10; ++i) kith::spawn([] { ++tasks; });
  co_await kith::at(1 - kith::here()).async([] {});
  for (int i = 0; i < 10; ++i) kith::spawn([] { ++tasks; });
  kith::wait();
  co_return kith::here();
}

/// Tasks are those of the part that created them; the activity ends after all of them.
TEST(PlacesCoroutine, HasTasks) {
  kith::place_runtime places(make_place_options(2, 2));
  places.run([] {
    for (int round = 0; round < kith::test::scaled(200); ++round) {
      tasks = 0;
      EXPECT_EQ(kith::at(1).async<with_tasks>().get(), 1);
      EXPECT_EQ(tasks, 20);
    }
  });
}

kith::activity<int> returns_one() { co_return 1; }
kith::activity<int> awaits_twice() {
  kith::activity<int> a = returns_one();
  const int first = co_await std::move(a);
  EXPECT_THROW(static_cast<void>(std::move(a).operator co_await()), kith::error);
  co_return first;
}

TEST(PlacesCoroutine, RunsOnce) {
  kith::place_runtime places(make_place_options(1));
  places.run([] { EXPECT_EQ(kith::at(0).async<awaits_twice>().get(), 1); });
}

TEST(PlacesCoroutine, RefusesOthers) {
  kith::place_runtime places(make_place_options(1));
  places.run([] {
    const auto plain = [] {
      kith::activity<> a = fails(2);  // never started: it is destroyed
      auto awaiter = kith::async_finish([] {});
      awaiter.await_suspend(std::noop_coroutine());
    };
    EXPECT_THAT([&] { kith::at(0).async(plain).get(); },
                ThrowsMessage<kith::place_error>(HasSubstr("not a coroutine")));
  });
}

}  // namespace
