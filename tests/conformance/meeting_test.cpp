// As many tasks as there are workers wait for each other, however they were created, while the other workers sleep at
// first. They go on only if each worker is woken and gets one. Under the policies that let any worker run any task.
#include "support/allocated.hpp"
#include "support/with_variable.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace {

using kith::test::system_page;

class meetings : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  static kith::runtime_options options() {
    kith::runtime_options o = kith::test::on(std::get<0>(GetParam()), std::get<1>(GetParam()));
    o.spin = 0;  // workers that find nothing sleep soon
    return o;
  }
  /// Calls create(meet) in the runtime when its workers have gone to sleep. `meet` returns when all workers call it.
  void when_asleep(const std::function<void(const std::function<void()>& meet)>& create) {
    for (int round = 0; round < 3; ++round) {
      std::latch met(rt.workers());
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      create([&met] { met.arrive_and_wait(); });
      EXPECT_TRUE(met.try_wait());
    }
  }
  void create_all(const std::function<void()>& meet) const {
    for (int i = 0; i < rt.workers(); ++i) kith::spawn([&meet] { meet(); });
  }

  const kith::test::with_variable all_may_be_awake{"KITH_AWAKE", "0"};
  kith::runtime rt{options()};
};

TEST_P(meetings, of_tasks) {
  when_asleep([&](const auto& meet) { rt.run([&] { create_all(meet); }); });
}

TEST_P(meetings, of_tasks_with_data_at_one_node) {
  const kith::test::memory data(rt, static_cast<std::size_t>(rt.workers()) * system_page, kith::node{0});
  when_asleep([&](const auto& meet) {
    rt.run([&] {
      for (int i = 0; i < rt.workers(); ++i)
        kith::spawn([&meet] { meet(); }, kith::inout(data.page_of(static_cast<std::size_t>(i)), system_page));
    });
  });
}

TEST_P(meetings, of_tasks_that_one_has_released) {
  when_asleep([&](const auto& meet) {
    int x = 0;
    rt.run([&] {
      kith::spawn([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }, kith::out(x));
      for (int i = 0; i < rt.workers(); ++i) kith::spawn([&meet] { meet(); }, kith::in(x));
    });
  });
}

TEST_P(meetings, of_children) {
  when_asleep([&](const auto& meet) {
    rt.run([&] {
      kith::spawn([&] {
        create_all(meet);
        kith::wait();
      });
    });
  });
}

TEST_P(meetings, of_tasks_from_outside) {
  when_asleep([&](const auto& meet) {
    std::vector<kith::future<void>> all;
    for (int i = 0; i < rt.workers(); ++i) all.push_back(rt.submit([&meet] { meet(); }));
    for (const kith::future<void>& each : all) each.wait();
  });
}

TEST_P(meetings, of_the_nodes_of_a_captured_graph) {
  const std::function<void()>* now = nullptr;
  kith::captured_graph g;
  rt.run([&] {
    g.capture([&] {
      for (int i = 0; i < rt.workers(); ++i) kith::spawn([&now] { (*now)(); });
    });
  });
  when_asleep([&](const auto& meet) {
    now = &meet;
    rt.run([&] { g.run(); });
  });
}

INSTANTIATE_TEST_SUITE_P(all, meetings,
                         testing::Combine(testing::Values("node:1 core:8", "node:4 core:2", "node:8 core:1"),
                                          testing::Values("auto", "steal", "fifo", "lifo", "nabbitc", "ads", "source")),
                         [](const auto& of) {
                           std::string name = std::string(std::get<1>(of.param)) + "_" + std::get<0>(of.param);
                           for (char& c : name) {
                             if (c == ' ' || c == ':') c = '_';
                           }
                           return name;
                         });

}  // namespace
