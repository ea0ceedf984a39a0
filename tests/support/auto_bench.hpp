// The policy `auto` in the sequential world, for tests.
#pragma once

#include "support/policy_bench.hpp"
#include "support/sizes.hpp"

#include <gtest/gtest.h>

namespace kith::test {

class auto_bench : public policy_bench {
 public:
  explicit auto_bench(const char* machine, const std::string& policy = "auto", std::size_t idle_cores = 0,
                      std::uint64_t node_cache = 0)
      : policy_bench(machine, policy, {}, node_cache, idle_cores) {}

  mode how = mode::inout;  // what tasks do with their megabyte

  /// The next task of the worker, which finds it before it robs a stalled node.
  kith::task* next(int worker) {
    for (int failed_searches = 0; failed_searches < 40; ++failed_searches) {
      const poll_result l = chosen->next(*by[static_cast<std::size_t>(worker)]);
      if (l.kind == poll_result::found || l.kind == poll_result::empty) return l.work;
    }
    return nullptr;
  }
  /// Makes tasks of this type ready, each with `bytes` untouched bytes. Returns the number that each node got.
  std::vector<int> deal(int tasks, std::uint64_t bytes, std::uint16_t type = 0) {
    std::vector<int> dealt(static_cast<std::size_t>(workers.nodes()));
    for (int i = 0; i < tasks; ++i) ++dealt[fresh(bytes, type).index()];
    return dealt;
  }
  node_id fresh(std::uint64_t bytes, std::uint16_t type = 0) {
    const auto r = region();
    kith::task& t = task({{r, bytes}});
    t.type = type;
    ready(t);
    return regions[r].home_node();
  }
  /// Queues tasks with a megabyte at node 0.
  void queue_at_0(int tasks) {
    for (int i = 0; i < tasks; ++i) ready(task({{region(0), megabyte, how}}));
  }
  /// Queues a task of this type with a megabyte at node 0.
  kith::task* queue(std::uint16_t type) {
    kith::task& t = task({{region(0), megabyte, how}});
    t.type = type;
    ready(t);
    return &t;
  }
  /// Runs the worker's next task, which takes the given nanoseconds.
  kith::task* run_next(int worker, std::uint64_t nanoseconds) {
    kith::task* t = next(worker);
    if (t != nullptr) chosen->observer()->ran(*t, *by[static_cast<std::size_t>(worker)], nanoseconds);
    return t;
  }
  /// Makes worker 0 run a task with a megabyte at node 0, in the given number of nanoseconds.
  void ran(std::uint64_t nanoseconds, std::uint16_t type = 0) {
    kith::task* const t = queue(type);
    EXPECT_EQ(run_next(0, nanoseconds), t);
  }
};

}  // namespace kith::test
