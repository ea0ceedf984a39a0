// More workers than may be awake (KITH_AWAKE, docs/sleep.md): few are woken, and still every task finds a worker.
#include "support/scale.hpp"

#include <kith/kith.hpp>

#include <sys/resource.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace {

using kith::test::scaled;

/// A runtime of which `awake` workers are to be awake.
class a_crowd {
 public:
  a_crowd(int workers, int awake, const char* policy = "steal") : runtime_(options(workers, awake, policy)) {}
  kith::runtime& operator*() { return runtime_; }
  kith::runtime* operator->() { return &runtime_; }

 private:
  static kith::runtime_options options(int workers, int awake, const char* policy) {
    kith::runtime_options o;
    o.workers = workers;
    o.awake = awake;
    o.oversubscribe = true;
    o.policy = policy;
    o.inline_limit = 0;  // all tasks are queued
    return o;
  }
  kith::runtime runtime_;
};

class every_policy : public testing::TestWithParam<const char*> {};

TEST_P(every_policy, has_a_worker_for_each_task_that_blocks) {
  constexpr int workers = 12;
  a_crowd rt(workers, 2, GetParam());
  for (int round = 0; round < scaled(3); ++round) {
    std::mutex guard;
    std::condition_variable changed;
    int inside = 0;
    rt->run([&] {
      for (int i = 0; i < workers; ++i) {
        kith::spawn([&] {
          std::unique_lock lock(guard);
          ++inside;
          changed.notify_all();
          changed.wait(lock, [&] { return inside == workers; });
        });
      }
      kith::wait();
    });
    EXPECT_EQ(inside, workers);
  }
}
INSTANTIATE_TEST_SUITE_P(crowd, every_policy,
                         testing::Values("steal", "auto", "fifo", "dfifo", "dfifo:steal=off", "dep", "nabbitc"));

TEST(crowd, has_a_worker_for_tasks_that_keep_all_cores_busy) {
  const int workers = static_cast<int>(std::thread::hardware_concurrency()) + 2;
  a_crowd rt(workers, workers - 2);
  std::atomic<int> inside{0};
  rt->run([&] {
    for (int i = 0; i < workers; ++i) {
      kith::spawn([&] {
        ++inside;
        while (inside != workers) {
        }
      });
    }
    kith::wait();
  });
  EXPECT_EQ(inside, workers);
}

TEST(crowd, wakes_few_workers_for_many_short_tasks) {
  a_crowd rt(16, 1);
  const int tasks = scaled(20'000);
  rt->reset_statistics();
  rt->run([&] {
    for (int i = 0; i < tasks; ++i) kith::spawn([] {});
    kith::wait();
  });
  EXPECT_LT(rt->statistics().total.wakes, static_cast<std::uint64_t>(tasks) / 10);
}

TEST(crowd, sleeps_when_there_is_nothing_to_do) {
  a_crowd rt(16, 2);
  rt->run([] {
    for (int i = 0; i < 1000; ++i) kith::spawn([] {});
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the watcher has gone to sleep
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, 3);  // one is this thread's own
}

}  // namespace
