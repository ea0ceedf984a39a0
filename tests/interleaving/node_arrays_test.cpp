// Join counters of graphs in arrays: a node becomes ready once in each run, after all of its predecessors, and sees
// what they wrote. A run begins without a pass over the counters.
#include "engine/native/node_arrays.hpp"
#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace kith {
namespace {

namespace il = kith::interleave;
constexpr std::uint32_t most = 3;

struct state {
  explicit state(std::uint32_t n) : predecessors(n), join(n) {}
  const std::uint32_t predecessors;
  atomic<std::uint32_t> join;
  il::shared<int> wrote[most];  // by each predecessor: the run
  int ready = 0;

  /// A predecessor ends in this run. True if it also ran the node.
  bool end(std::uint32_t i, int run) {
    wrote[i].write(run);
    if (!native::count_down(join, predecessors)) return false;
    il::check(++ready == run, "the node becomes ready once in each run");
    for (std::uint32_t p = 0; p < predecessors; ++p)
      il::check(wrote[p].read() == run, "every predecessor has ended before");
    return true;
  }
};

/// A predecessor ends in each thread. The thread that runs the node begins the second run, and ends all predecessors
/// in it.
std::function<void(il::program&)> two_runs(std::uint32_t predecessors) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>(predecessors);
    for (std::uint32_t i = 0; i < predecessors; ++i) {
      p.thread([=] {
        if (!s->end(i, 1)) return;
        for (std::uint32_t k = 0; k < predecessors; ++k) s->end(k, 2);
      });
    }
    p.after([=] { il::check(s->ready == 2, "the node ran in both runs"); });
  };
}

TEST(NodeArraysInterleaved, ANodeIsReadyOnceInEachRun) {
  for (std::uint32_t predecessors : {1u, 2u, 3u}) {
    const auto r = il::explore({.preemptions = 3}, two_runs(predecessors));
    EXPECT_TRUE(r.ok) << r.report;
  }
}

TEST(NodeArraysInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 2}, {two_runs(2), two_runs(3)}, "engine/native/node_arrays.hpp");
}

}  // namespace
}  // namespace kith
