// Runtimes inside each other's tasks, with one worker each: a thread that waits is a worker of all of them.
#include <kith/kith.hpp>
#include "support/scratch_file.hpp"
#include "support/workers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

using kith::test::make_options;

TEST(nested_runtimes, a_task_of_the_inner_one_waits_for_the_outer_ones_future) {
  kith::runtime a(make_options(1)), b(make_options(1));
  EXPECT_EQ(a.run([&] {
    const kith::future<int> f = kith::async([] { return 7; });
    return b.run([&] { return f.get(); });
  }),
            7);
  EXPECT_EQ(a.run([&] { return b.run([&] { return a.submit([] { return 8; }).get(); }); }), 8);
  EXPECT_EQ(a.run([&] {
    return b.run([&] {
      return kith::async([&] { return a.submit([] { return 9; }).then([](int i) { return i; }).get(); }).get();
    });
  }),
            9);
  EXPECT_TRUE(a.run([&] {
    const kith::future<void> f = kith::async([] {});
    return b.run([&] { return f.wait_for(std::chrono::hours(1)); });
  }));
}

TEST(nested_runtimes, both_are_entered_again) {
  kith::runtime a(make_options(1)), b(make_options(1)), c(make_options(1));
  EXPECT_EQ(a.run([&] { return b.run([&] { return a.run([&] { return b.run([] { return 1; }); }); }); }), 1);
  EXPECT_EQ(a.run([&] { return b.run([&] { return a.run([&] { return b.submit([] { return 2; }).get(); }); }); }), 2);
  EXPECT_EQ(a.run([&] {
    return b.run([&] {
      return c.run([&] {
        return a.run(
            [&] { return kith::async([&] { return b.submit([&] { return c.run([] { return 3; }); }).get(); }).get(); });
      });
    });
  }),
            3);
  a.run([&] {  // the chain of workers is as before
    b.run([] {});
    std::atomic<int> ran{0};
    for (int i = 0; i < 10; ++i) kith::spawn([&] { b.run([&] { ++ran; }); });
    kith::wait();
    EXPECT_EQ(ran, 10);
  });
}

// A run waits for a stand-in that is about to leave the seat of worker 0, but not for another thread's run.
TEST(nested_runtimes, threads_in_recorded_runs_may_wait_for_each_other) {
  const kith::test::scratch_file one, two;
  kith::runtime_options first = make_options(2), second = make_options(1);
  first.record = one.path();
  second.record = two.path();
  kith::runtime a(first), b(second);
  std::atomic<bool> in{false}, go{false};
  std::thread other([&] {
    while (!in) std::this_thread::yield();
    a.run([&] { go = true; });
  });
  a.run([&] {
    kith::spawn([&] {
      in = true;
      while (!go) std::this_thread::yield();
    });
    kith::wait();
  });
  other.join();

  std::atomic<int> inside{0}, ran{0};
  const auto cross = [&](kith::runtime& from, kith::runtime& to) {
    from.run([&] {
      ++inside;
      while (inside < 2) std::this_thread::yield();
      to.run([&] { kith::spawn([&] { ++ran; }); });
    });
  };
  std::thread crossing([&] { cross(a, b); });
  cross(b, a);
  crossing.join();
  EXPECT_EQ(ran, 2);
}

}  // namespace
