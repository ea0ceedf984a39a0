// Ends that are reported in batches. Nodes of keyed graphs: each computes once, after the nodes that it
// needs, whichever worker finds it; and the scope is seen empty only when nothing in it can continue. A
// scope that its owner leaves: exactly one party ends the task, and sees what all children wrote.
#include "task/unreported_ends.hpp"
#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"
#include "task/edges.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace kith {
namespace {

namespace il = kith::interleave;

/// Nodes 0..2: nodes 1 and 2 need node 0, which the first to name it creates. A small version of what the
/// engine does with a node.
struct graph {
  slot_space space{4096};
  std::vector<std::unique_ptr<slot_cache>> caches;
  struct node {
    reference task;
    il::shared<int> result{0};
    int computed = 0;
  } nodes[3];
  atomic<bool> known{false}, table{false};  // node 0 has a task; the table's lock
  atomic<std::uint64_t> created{0}, ended{0};

  explicit graph(std::uint16_t workers) {
    for (std::uint16_t w = 0; w < workers; ++w) caches.push_back(std::make_unique<slot_cache>(space, w));
  }

  task& make(int n, slot_cache& cache) {
    task& t = cache.take();
    t.flags = 0;
    edges::start_join(t);
    nodes[n].task = edges::reference_to(space, t);
    return t;
  }

  /// Computes the node, and the nodes that become ready by its end.
  void compute(task& t, unreported_ends& mine) {
    for (int n = 0; n < 3; ++n) {
      if (&space[nodes[n].task.index] != &t) continue;
      if (n > 0) il::check(nodes[0].result.read() == 1, "what a node needs has been computed");
      nodes[n].result.write(1);
      il::check(++nodes[n].computed == 1, "a node computes once");
    }
    std::vector<task*> ready;
    edges::release(space, edges::close(t), worker_id(0), [&](task& r) { ready.push_back(&r); });
    mine.begin(ready.size(), ended);
    if (mine.end()) mine.report(ended);
    for (task* r : ready) compute(*r, mine);
  }

  /// A worker that must explore node n (1 or 2), and runs everything that it can.
  void explore(int n, std::uint16_t worker) {
    unreported_ends mine;
    task& t = make(n, *caches[worker]);
    while (table.exchange(true, acquire)) pause();
    const bool found = !known.load(relaxed);
    if (found) {
      make(0, *caches[worker]);
      known.store(true, relaxed);
    }
    const reference before = nodes[0].task;
    table.store(false, release);
    std::size_t edges_made = 0;
    edges::add(t, nodes[n].task.index, before, edges_made, *caches[worker]);
    mine.begin(found ? 1 : 0, ended);
    const bool ready = edges::open_join(t, edges_made);
    if (!ready && mine.end()) mine.report(ended);
    if (found) compute(space[before.index], mine);
    if (ready) compute(t, mine);
    mine.report(ended);
  }

  std::uint64_t unfinished() { return created.load(relaxed) - ended.load(acquire); }
};

void two_explorers(il::program& p) {
  auto g = std::make_shared<graph>(2);
  g->created.store(2, relaxed);
  p.thread([=] { g->explore(1, 0); }, "one");
  p.thread([=] { g->explore(2, 1); }, "other");
  p.thread(
      [=] {
        if (g->unfinished() != 0) return;
        for (auto& n : g->nodes) il::check(n.result.read() == 1, "an empty scope has computed everything");
      },
      "waiter");
  p.after([=] {
    il::check(g->unfinished() == 0, "the scope is empty in the end");
    for (auto& n : g->nodes) il::check(n.computed == 1, "no node is forgotten");
  });
}

TEST(KeyedInterleaved, TwoExplorersOfOnePredecessor) {
  const auto r = il::explore({.preemptions = 2}, two_explorers);
  EXPECT_TRUE(r.ok) << r.report;
}

/// Two children end on other workers, a third on the owner's; then the owner leaves.
struct family {
  atomic<std::uint64_t> ended{0};
  il::shared<int> written[2]{il::shared<int>{0}, il::shared<int>{0}};
  il::shared<int> left_by{0};
  atomic<int> ends{0};

  void end_task() {
    il::check(left_by.read() == 1, "who ends the task knows which one");
    for (auto& w : written) il::check(w.read() == 1, "who ends the task sees what its children wrote");
    il::check(ends.fetch_add(1, relaxed) == 0, "a task ends once");
  }
  void child(int c) {
    unreported_ends mine;
    written[c].write(1);
    mine.end();
    if (mine.report(ended) == unreported_ends::left) end_task();
  }
  void leave() {
    left_by.write(1);
    if (unreported_ends::leave(2, ended)) end_task();
  }
};

void two_children(il::program& p) {
  auto f = std::make_shared<family>();
  p.thread([=] { f->leave(); }, "owner");
  p.thread([=] { f->child(0); }, "one");
  p.thread([=] { f->child(1); }, "other");
  p.after([=] { il::check(f->ends.load(relaxed) == 1, "the task ends"); });
}

TEST(LeaveInterleaved, TheLastOneEndsTheTask) {
  const auto r = il::explore({.preemptions = 3}, two_children);
  EXPECT_TRUE(r.ok) << r.report;
}

TEST(UnreportedEndsInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 2}, {two_explorers, two_children}, "task/unreported_ends.hpp");
}

}  // namespace
}  // namespace kith
