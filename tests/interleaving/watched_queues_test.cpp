// The queues of `auto`: a task that waits at a node whose workers are blocked is run by a worker of another node,
// whether that sleeps, watches, or is about to do something else.
#include "policy/auto/watched_queues.hpp"
#include "interleave/expect.hpp"
#include "queue/native/world.hpp"
#include "quiet_worker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace kith {
namespace {

namespace il = kith::interleave;

constexpr int nodes = 3;  // with one worker each

struct small_world : native::world {
  using worker = il::quiet_worker;
};
using worker_view = small_world::worker;

machine one_worker_nodes() {
  machine m;
  for (int n = 0; n < nodes; ++n) {
    m.cores.push_back({.id = core_id(n), .node = node_id(n), .cpus = {n}});
    m.nodes.push_back({.id = node_id(n), .os_index = n, .memory_bytes = 1 << 20, .cores = {core_id(n)}});
  }
  m.distances = {{10, 20, 20}, {20, 10, 20}, {20, 20, 10}};
  return m;
}

/// Node 1 is the one whose worker is blocked while tasks wait.
struct state {
  static constexpr node_id blocked{1};

  machine on = one_worker_nodes();
  team workers{on, {node_id(0), node_id(1), node_id(2)}};
  region_table regions;
  watched_queues<small_world> queues{policy_context{.workers = workers, .regions = regions, .seed = 0},
                                     queue_order::fifo};
  sleepers parked{nodes};
  worker_view views[nodes] = {
      {worker_id(0), node_id(0), parked}, {worker_id(1), node_id(1), parked}, {worker_id(2), node_id(2), parked}};
  task waits;
  atomic<bool> ran{false};

  /// As `auto` queues a task.
  void push(worker_view& self) {
    if (!queues[blocked].push(waits, self)) queues.find_watcher(blocked, self);
  }
  /// As worker::search_or_park under `auto`: it robs the blocked node, watches, or sleeps.
  void search(worker_view& self) {
    while (!ran.load(acquire)) {
      if (queues[blocked].pop(self) != nullptr) {
        ran.store(true, release);
        parked.wake_all();
        break;
      }
      queues.stop_watching(self);
      parked.announce(self.id);
      if (queues.watch(self) || ran.load(acquire)) {
        if (!parked.retract(self.id)) parked.wake_all();
        continue;
      }
      parked.sleep(self.id);
    }
    queues.stop_watching(self);
  }
};

/// Worker 0 watches, for a task that another has taken meanwhile. Now it finds something else to do, or searches on.
/// Another task is pushed, for which a worker that searches is needed.
std::function<void(il::program&)> last_watcher(bool finds_something, bool another_searches) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>();
    s->queues[state::blocked].push(s->waits, s->views[1]);
    s->queues.watch(s->views[0]);
    il::check(s->queues[state::blocked].pop(s->views[1]) == &s->waits, "the watcher has seen a task");
    p.thread(
        [=] {
          if (finds_something) {
            s->queues.stop_watching(s->views[0]);
          } else {
            s->search(s->views[0]);
          }
        },
        "watcher");
    p.thread([=] { s->push(s->views[1]); }, "producer");
    if (another_searches) p.thread([=] { s->search(s->views[2]); }, "another");
    p.after([=] { il::check(s->ran.load(), "the task has run"); });
  };
}

TEST(WatchedQueuesInterleaved, TheLastWatcherFindsSomethingElse) { il::expect_passes(1, last_watcher(true, true)); }
TEST(WatchedQueuesInterleaved, TheLastWatcherSleeps) { il::expect_passes(2, last_watcher(false, false)); }
TEST(WatchedQueuesInterleaved, TheLastWatcherAndAnotherSleep) { il::expect_passes(1, last_watcher(false, true)); }

}  // namespace
}  // namespace kith
