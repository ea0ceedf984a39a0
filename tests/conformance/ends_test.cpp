// When a task ends, and what a wait may delay, under every policy.
#include "support/matrix.hpp"
#include "support/resident.hpp"
#include "support/scale.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using kith::test::resident_bytes;
using kith::test::sanitized;
using kith::test::scaled;

constexpr long megabyte = 1 << 20;

class ends : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};
};
KITH_FOR_ALL_POLICIES(ends);

void step(int k, std::atomic<int>& ran) {
  ++ran;
  if (k > 0) kith::spawn([k, &ran] { step(k - 1, ran); });
}

TEST_P(ends, a_chain_of_last_acts_takes_no_memory) {
  // Under these policies every link closes a window, and a task that was taken past it lives until the
  // window is partitioned.
  const bool windows = GetParam().policy.starts_with("rip-mw") && !GetParam().machine.empty();
  const int length = windows || sanitized ? 500 : scaled(20000);
  std::atomic<int> ran{0};
  rt.run([&] { step(length, ran); });
  const long before = resident_bytes();
  rt.run([&] { step(5 * length, ran); });
  EXPECT_EQ(ran, 6 * length + 2);
  if (!sanitized && !windows) {
    EXPECT_LT(resident_bytes() - before, 10 * megabyte);
  }
}

/// The same where each link has a capture to destroy at its end. The link is kept until then, and so is the chain.
TEST_P(ends, captures_are_destroyed_after_the_children_ran) {
  std::atomic<int> late{0}, destroyed{0};
  struct mark {
    std::atomic<int>* count;
    explicit mark(std::atomic<int>& c) : count(&c) {}
    mark(mark&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
    mark(const mark& other) = default;
    ~mark() {
      if (count != nullptr) ++*count;
    }
  };
  rt.run([&] {
    for (int i = 0; i < 20; ++i) {
      kith::spawn([&, m = std::make_shared<mark>(destroyed)] {
        kith::spawn([&late, weak = std::weak_ptr<mark>(m)] {
          for (int c = 0; c < 3; ++c) kith::spawn([&late, weak] { late += weak.expired() ? 1 : 0; });
        });
      });
    }
  });
  EXPECT_EQ(late, 0);
  EXPECT_EQ(destroyed, 20);
}

TEST_P(ends, a_future_is_ready_when_the_captures_are_gone) {
  struct mark {
    const kith::future<void>* future;
    int* early;
    mark(const kith::future<void>& f, int& count) : future(&f), early(&count) {}
    mark(mark&& other) noexcept : future(std::exchange(other.future, nullptr)), early(other.early) {}
    ~mark() {
      if (future != nullptr && future->ready()) ++*early;
    }
  };
  std::atomic<bool> named{false};
  int early = 0;
  kith::future<void> f;
  f = rt.submit([&named, m = mark(f, early)] {
    while (!named) std::this_thread::yield();
  });
  named = true;
  f.wait();
  EXPECT_EQ(early, 0);
}

TEST_P(ends, a_future_is_ready_after_the_children_of_its_task) {
  rt.run([&] {
    for (int i = 0; i < 20; ++i) {
      std::atomic<int> ended{0};
      kith::future<int> f = kith::async([&ended] {
        for (int c = 0; c < 4; ++c) kith::spawn([&ended] { kith::spawn([&ended] { ++ended; }); });
        return 7;
      });
      EXPECT_EQ(f.get(), 7);
      EXPECT_EQ(ended, 4);
    }
  });
}

TEST_P(ends, a_late_failure_of_a_child_is_the_task_s) {
  rt.run([&] {
    kith::future<int> f = kith::async([] {
      kith::spawn([] { kith::spawn([] { throw std::runtime_error("late"); }); });
      return 1;
    });
    EXPECT_THAT([&] { f.get(); }, testing::ThrowsMessage<std::runtime_error>("late"));
    kith::spawn([] { kith::spawn([] { throw std::runtime_error("late as well"); }); });
    EXPECT_THAT([] { kith::wait(); }, testing::ThrowsMessage<std::runtime_error>("late as well"));
  });
}

TEST_P(ends, successors_wait_for_the_children) {
  int token = 0;
  std::atomic<int> ended{0};
  const auto family = [&ended](int&) {
    for (int c = 0; c < 3; ++c) kith::spawn([&ended] { kith::spawn([&ended] { ++ended; }); });
  };
  rt.run([&] {
    for (int i = 1; i <= 20; ++i) {
      kith::spawn(family, kith::inout(token));
      kith::spawn([&ended, i](const int&) { EXPECT_EQ(ended, 3 * i); }, kith::in(token));
    }
  });
}

/// D writes the data that X reads; A waits for X, and B waits for A. No task may run on top of one on which it depends.
TEST_P(ends, a_wait_goes_on_whatever_waits_beside_it) {
  for (int i = 0; i < scaled(20); ++i) {
    std::atomic<int> got{0};
    rt.run([&] {
      int x = 0;
      kith::spawn([](int& v) { v = 7; }, kith::out(x));
      const kith::future<int> fx = kith::async([](const int& v) { return v; }, kith::in(x));
      const kith::future<int> fa = kith::async([&] {
        got += fx.get();
        return 1;
      });
      for (int b = 0; b < 3; ++b) kith::spawn([&] { got += fa.get(); });
      kith::wait();
    });
    EXPECT_EQ(got, 10);
  }
}

int down(int depth) {
  volatile char frame[256];
  frame[0] = 1;
  return depth == 0 ? 0 : frame[0] + kith::async([depth] { return down(depth - 1); }).get();
}

TEST_P(ends, recursion_by_futures_is_deep) {
  const int depth = sanitized ? 500 : scaled(5000);
  EXPECT_EQ(rt.run([&] { return down(depth); }), depth);
}

void down_by_waits(int depth) {
  if (depth == 0) return;
  kith::spawn([depth] { down_by_waits(depth - 1); });
  kith::wait();
}

TEST_P(ends, recursion_by_waits_is_deep) {
  rt.run([] { down_by_waits(sanitized ? 500 : scaled(5000)); });
}

/// A run returns through another runtime, on a stack of that one: then the task continues on its own stack, and its
/// remaining stack is known.
TEST(run_inside_run, recursion_is_deep_after_a_run_on_another_stack) {
  kith::runtime_options o;
  o.policy = "fifo";
  o.workers = 1;
  o.inline_limit = 0;
  kith::runtime outer(o), inner(o);
  const int depth = sanitized ? 500 : 50000;
  const int levels = outer.run([&] {
    inner.run([&] {
      kith::spawn([&] { outer.run([] {}); });  // comes first, and may not run on top of the wait
      kith::async([] {}).get();
    });
    return down(depth);
  });
  EXPECT_EQ(levels, depth);
}

/// Tasks that check for cancellation see one that came after they were created.
TEST_P(ends, cancellation_reaches_scopes_that_were_made_before) {
  std::atomic<int> inside{0}, late{0};
  rt.run([&] {
    kith::group all;
    for (int i = 0; i < 4; ++i) {
      all.spawn([&] {
        kith::group mine;
        mine.spawn([] {});
        mine.wait();  // cancellation was checked here, and there was none
        if (++inside == 1) all.cancel();
        while (!kith::cancelled()) std::this_thread::yield();
        mine.spawn([&] { ++late; });
        kith::spawn([&] { ++late; });
      });
    }
    all.wait();
  });
  EXPECT_EQ(late, 0);
}

/// Slots, closures and queue entries of children that their waiting parent took past the queue are released.
TEST_P(ends, rounds_of_nested_tasks_take_no_memory) {
  std::atomic<int> ran{0};
  const auto rounds = [&](int n) {
    rt.run([&] {
      for (int i = 0; i < n; ++i) {
        kith::spawn([&] {
          for (int c = 0; c < 20; ++c) kith::spawn([&ran, fat = std::array<char, 4096>{}] { ran += 1 + fat[0]; });
          kith::wait();
        });
        kith::wait();
      }
    });
  };
  const int few = sanitized ? 20 : 300;
  rounds(few);
  const long before = resident_bytes();
  rounds(10 * few);
  EXPECT_EQ(ran, 20 * 11 * few);
  // A worker keeps up to 512 dead entries (queue/dead_entries.hpp), each with a closure of 4 KiB: 2 MiB, and malloc
  // keeps as much again for its thread. All closures of the rounds are 234 MiB.
  if (!sanitized) {
    EXPECT_LT(resident_bytes() - before, (4 + 6 * rt.workers()) * megabyte);
  }
}

}  // namespace
