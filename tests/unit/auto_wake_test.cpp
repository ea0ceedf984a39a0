// The policy `auto` in native runs: no node stays asleep while another one has work that it may take.
#include "support/allocated.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
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

/// As many tasks as workers wait for each other. All data is at node 0, and a theft does not pay: its price is not
/// known, as no task ends.
TEST(auto_wake, leaves_no_task_to_a_node_whose_workers_are_blocked) {
  kith::runtime_options options = kith::test::on("node:4 core:2", "auto");
  options.spin = 0;
  kith::runtime rt(options);
  const auto workers = static_cast<std::size_t>(rt.workers());
  const kith::test::memory data(rt, workers * system_page, kith::node{0});
  for (int step = 0; step < 50; ++step) {
    std::latch met(static_cast<std::ptrdiff_t>(workers));
    rt.run([&] {
      for (std::size_t i = 0; i < workers; ++i)
        kith::spawn([&met] { met.arrive_and_wait(); }, kith::inout(data.page_of(i), system_page));
    });
  }
  EXPECT_EQ(rt.statistics().total.tasks, 50 * workers);
}

}  // namespace
