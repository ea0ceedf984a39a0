// Priorities, under every policy that claims to honour them: a worker takes the highest level that it sees.
#include "policy/list.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

namespace {

using kith::priority;

class priorities : public testing::TestWithParam<std::string> {
 protected:
  static kith::runtime_options options() {
    kith::runtime_options o;
    o.policy = GetParam();
    o.workers = 1;
    return o;
  }
  /// Two tasks of each level, the highest in the middle. Tasks of one level are equal.
  template <class... Args>
  void spawn_all(const Args&... args) {
    for (priority p :
         {priority::low, priority::normal, priority::high, priority::high, priority::normal, priority::low})
      kith::spawn([this, p] { order.push_back(p); }, p, args...);
  }
  static std::vector<priority> expected() {
    return {priority::high, priority::high, priority::normal, priority::normal, priority::low, priority::low};
  }
  kith::runtime rt{options()};
  std::vector<priority> order;
};

TEST_P(priorities, of_tasks_that_are_created) {
  rt.run([&] { spawn_all(); });
  EXPECT_EQ(order, expected());
}

TEST_P(priorities, of_tasks_that_one_completion_makes_ready) {
  int x = 0;
  rt.run([&] {
    kith::spawn([&x] { x = 1; }, kith::out(x));
    for (priority p :
         {priority::low, priority::normal, priority::high, priority::high, priority::normal, priority::low})
      kith::spawn([this, p] { order.push_back(p); }, p, kith::in(x));
  });
  EXPECT_EQ(order, expected());
}

TEST_P(priorities, of_what_became_ready_against_what_waits) {
  int x = 0;
  rt.run([&] {
    kith::spawn([&x] { x = 1; }, kith::out(x), priority::high);
    kith::spawn([&] { order.push_back(priority::low); }, kith::in(x), priority::low);
    kith::spawn([&] { order.push_back(priority::normal); });
  });
  EXPECT_EQ(order, (std::vector{priority::normal, priority::low}));
}

TEST_P(priorities, of_children_that_their_parent_waits_for) {
  rt.run([&] {
    kith::spawn([&] {
      spawn_all();
      kith::wait();
    });
  });
  EXPECT_EQ(order, expected());
}

TEST_P(priorities, without_any_other_than_normal_nothing_is_lost) {
  rt.run([&] {
    for (int i = 0; i < 100; ++i) kith::spawn([&] { order.push_back(priority::normal); });
  });
  EXPECT_EQ(order.size(), 100u);
}

std::vector<std::string> policies() {
  std::vector<std::string> names;
  for (const kith::policy_entry& p : kith::policy_list()) {
    if (p.priorities) names.emplace_back(p.name);
  }
  names.emplace_back("steal:end=fifo");
  names.emplace_back("numa:queue=node");
  names.emplace_back("dep:queue=node");
  return names;
}

std::string name_of(const testing::TestParamInfo<std::string>& policy) {
  std::string name = policy.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(all, priorities, testing::ValuesIn(policies()), name_of);

/// Several workers: each task once, whatever its level.
TEST(priorities_of_several_workers, every_task_runs_once) {
  for (const kith::policy_entry& p : kith::policy_list()) {
    if (!p.priorities) continue;
    for (const char* machine : {"", "node:2 core:2"}) {
      kith::runtime_options o;
      o.policy = p.name;
      o.machine = machine;
      o.workers = 4;
      o.oversubscribe = true;
      kith::runtime rt(o);
      std::vector<int> runs(2000), chain(20);
      rt.run([&] {
        for (std::size_t i = 0; i < runs.size(); ++i)
          kith::spawn([&runs, i] { ++runs[i]; }, static_cast<priority>(i % 3), kith::inout(chain[i % chain.size()]),
                      kith::color{static_cast<int>(i % 4)});
      });
      EXPECT_EQ(runs, std::vector<int>(2000, 1)) << p.name << " " << machine;
    }
  }
}

}  // namespace
