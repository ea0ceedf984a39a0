// The policy `auto` in native runs: no node stays asleep while another one has work that it may take.
#include "support/allocated.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
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

}  // namespace
