// The policy `auto` in native runs: no node stays asleep while another one has work that it may take.
#include "support/allocated.hpp"
#include "support/with_variable.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <latch>
#include <map>
#include <mutex>
#include <thread>

namespace {

using kith::test::system_page;

/// All data is at node 0, where the tasks are queued before it is known what a theft costs. Nothing more is queued, so
/// only what rings when a task begins or was timed can wake the worker of node 1. sim_test has the same, simulated.
TEST(auto_wake, leaves_no_node_asleep_while_work_for_all_waits_at_one) {
  constexpr std::size_t blocks = 400;
  kith::runtime_options options = kith::test::on("node:2 core:1", "auto");
  options.workers = 2;
  kith::runtime rt(options);
  const kith::test::memory data(rt, blocks * system_page, kith::node{0});
  std::mutex guard;
  std::map<std::thread::id, int> ran;
  rt.run([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the other worker falls asleep
    static const kith::task_type use{"use"};
    for (std::size_t i = 0; i < blocks; ++i) {
      kith::access_list one;
      one.add(kith::inout(data.page_of(i), system_page));
      kith::spawn(
          [&] {
            std::this_thread::sleep_for(std::chrono::microseconds(300));
            const std::lock_guard lock(guard);
            ++ran[std::this_thread::get_id()];
          },
          use, one);
    }
  });
  EXPECT_EQ(ran.size(), 2u);
}

/// Runs as many tasks as there are workers, which wait for each other. All data is at node 0.
void meet(kith::runtime& rt, const kith::test::memory& data) {
  std::latch met(rt.workers());
  rt.run([&] {
    for (int i = 0; i < rt.workers(); ++i)
      kith::spawn([&met] { met.arrive_and_wait(); },
                  kith::inout(data.page_of(static_cast<std::size_t>(i)), system_page));
  });
}

/// Workers that have watched fall asleep when the short tasks are done.
TEST(auto_wake, nobody_counts_as_watching_who_sleeps) {
  const kith::test::with_variable all_may_be_awake("KITH_AWAKE", "0");
  for (const char* machine : {"node:4 core:2", "node:8 core:1"}) {
    kith::runtime_options options = kith::test::on(machine, "auto");
    options.spin = 0;
    kith::runtime rt(options);
    const kith::test::memory data(rt, 32 * system_page, kith::node{0});
    for (std::size_t step = 0; step < 300; ++step) {
      rt.run([&] {
        for (std::size_t i = 0; i < step % 20; ++i) {
          kith::spawn(
              [step] {
                const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(step % 19);
                while (std::chrono::steady_clock::now() < end) {
                }
              },
              kith::inout(data.page_of(i), system_page));
        }
      });
      meet(rt, data);
    }
    EXPECT_GE(rt.statistics().total.tasks, 300u * 8);
  }
}

/// Each worker runs a chain of tasks on more data than its node's caches hold, and these meet after each task.
TEST(auto_wake, the_bound_keeps_no_task_for_which_all_chains_wait) {
  const kith::test::with_variable all_may_be_awake("KITH_AWAKE", "0");
  kith::runtime_options options = kith::test::on(KITH_TEST_DATA "/machines/small-caches.toml", "auto");
  options.throttle = 0;
  kith::runtime rt(options);
  const auto workers = static_cast<std::size_t>(rt.workers());
  const std::size_t bytes = 400 * system_page, steps = 160;
  const kith::test::memory data(rt, workers * bytes, kith::distribution::block);
  std::barrier met(static_cast<std::ptrdiff_t>(workers));
  static const kith::task_type step_type{"step"};
  rt.run([&] {
    for (std::size_t step = 0; step < steps; ++step) {
      for (std::size_t i = 0; i < workers; ++i) {
        std::byte* const mine = data.get() + i * bytes;
        kith::spawn(
            [&met, mine, bytes, meets = step >= 60] {
              std::memset(mine, 1, bytes);
              if (meets) met.arrive_and_wait();
            },
            kith::inout(mine, bytes), step_type);
      }
    }
  });
  EXPECT_EQ(rt.statistics().total.tasks, steps * workers);
}

}  // namespace
