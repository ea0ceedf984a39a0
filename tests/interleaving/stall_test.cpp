// All workers sleep while tasks are held back: this must be detected, but never while one of them still has
// something to do. The queues, the bell, the count of sleepers and the refusal are Kith's own; the code
// around them follows worker::search_or_park().
#include "base/stall_check.hpp"
#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"
#include "queue/native/world.hpp"
#include "replay/ordered_queue.hpp"
#include "replay/turn_order.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace kith {
namespace {

namespace il = kith::interleave;
using il::expect_passes;

constexpr int most_workers = 3;

struct small_world : native::world {
  struct worker {
    worker(worker_id self, sleepers& p, stall_check& t) : id(self), parked(p), together(t) {}
    const worker_id id;
    sleepers& parked;
    stall_check& together;
    stall_check::sleep_epoch all_slept = 0;
    void at(const void*) noexcept {}
    void meter(event, worker_id) {}
    bool ring(const worker_set& audience) { return parked.wake_one(audience); }
    bool all_sleep() const { return together.lasts(all_slept); }
  };
};
using worker_view = small_world::worker;

/// A task of a schedule: its worker, its position in that worker's order, and the tasks that it makes ready
/// when it ends.
struct step {
  int worker;
  int position;
  std::vector<int> makes_ready;
};

/// Steps that each worker runs in order. The root, on worker 0, makes some of them ready, and waits until
/// `count` have ended.
struct schedule {
  int workers;
  std::vector<step> steps;
  std::vector<int> from_root;
  std::size_t count;
};

struct state {
  explicit state(const schedule& s) : plan(s), objects(s.steps.size()), runs(s.steps.size()) {
    for (int w = 0; w < s.workers; ++w) {
      views.emplace_back(worker_id(w), parked, together);
      queues.emplace_back(worker_id(w), std::pmr::polymorphic_allocator<>());
    }
  }

  const schedule& plan;
  sleepers parked{plan.workers};
  stall_check together{plan.workers};
  std::vector<worker_view> views;
  std::deque<ordered_queue<small_world>> queues;
  std::vector<task> objects;
  std::vector<int> runs;
  int next[most_workers] = {};
  bool looks_back = true;               // the refusing worker reads what the others wrote, if nothing else wakes them
  il::shared<int> slept[most_workers];  // what a worker did before it slept
  atomic<bool> free{false};
  atomic<int> refusals{0};
  atomic<std::uint64_t> ended{0};
  atomic<std::uint32_t> waiting{0};
  atomic<bool> stopping{false};
  std::uint64_t unreported[most_workers] = {};

  void make_ready(const std::vector<int>& which, worker_view& by) {
    for (const int n : which) {
      const step& s = plan.steps[static_cast<std::size_t>(n)];
      queues[s.worker].push(objects[static_cast<std::size_t>(n)], s.position, by);
    }
  }
  task* find(worker_view& by) {
    const std::size_t w = by.id.index();
    const auto [t, at] = queues[w].pop(free.load(relaxed) ? 1000 : next[w], by);
    if (t != nullptr && at == next[w]) ++next[w];
    return t;
  }
  void run(task& t, worker_view& by) {
    const auto n = static_cast<std::size_t>(&t - objects.data());
    il::check(++runs[n] == 1, "a task is run once");
    make_ready(plan.steps[n].makes_ready, by);
    ++unreported[by.id.index()];
  }
  void report(worker_view& by) {
    std::uint64_t& ends = unreported[by.id.index()];
    if (ends == 0) return;
    ended.fetch_add(std::exchange(ends, 0), release);
    frequent_fence();
    const std::uint32_t waiter = waiting.load(relaxed);
    if (waiter != 0) parked.wake(worker_id(static_cast<int>(waiter) - 1));
  }
  /// As in `replay`.
  bool stalled(worker_view& by) {
    if (free.load(relaxed)) return false;
    for (auto& q : queues) {
      const held_task found = q.refuse_first(by, [&](task&, std::int64_t) {
        for (int w = 0; looks_back && w < plan.workers; ++w) slept[w].read();
        refusals.fetch_add(1, relaxed);
        free.store(true, relaxed);
      });
      if (found != held_task::none) return found == held_task::refused;
    }
    return false;
  }
  bool done(const worker_view& by) const {
    return by.id.index() == 0 ? ended.load(acquire) == plan.count : stopping.load(acquire);
  }
  wake_reason sleep(worker_view& by) {
    slept[by.id.index()].write(1);
    return together.sleep(by.id, parked, [&](stall_check::sleep_epoch now) {
      by.all_slept = now;
      return stalled(by);
    });
  }
  task* rest(worker_view& by) {
    report(by);
    task* t = nullptr;
    wake_reason woken = wake_reason::none;
    while (!done(by) && (t = find(by)) == nullptr) {
      if (by.id.index() == 0) waiting.store(1, relaxed);
      parked.announce(by.id);
      if (!done(by)) t = find(by);
      if (t != nullptr || done(by)) {
        if (!parked.retract(by.id)) parked.wake_all();
        break;
      }
      woken = sleep(by);
    }
    if (woken == wake_reason::work && t == nullptr) parked.wake_all();
    if (by.id.index() == 0) waiting.store(0, relaxed);
    return t;
  }
  void work(worker_view& by) {
    task* t = nullptr;
    while (!done(by)) {
      if (t == nullptr) t = rest(by);
      if (t != nullptr) run(*std::exchange(t, nullptr), by);
    }
    il::check(t == nullptr, "nothing is left over");
  }
};

/// The root makes its tasks ready, waits, and stops the other workers. `refusals`: of tasks behind one that
/// never comes.
std::function<void(il::program&)> follows(const schedule& plan, int refusals, bool woken_from_elsewhere = false) {
  return [=, &plan](il::program& p) {
    auto s = std::make_shared<state>(plan);
    s->looks_back = !woken_from_elsewhere;
    p.thread(
        [=] {
          worker_view& by = s->views[0];
          s->make_ready(s->plan.from_root, by);
          s->work(by);
          s->stopping.store(true, release);
          s->parked.wake_all();
        },
        "root");
    for (int w = 1; w < plan.workers; ++w) {
      p.thread([=] { s->work(s->views[static_cast<std::size_t>(w)]); }, "worker " + std::to_string(w));
    }
    if (woken_from_elsewhere) p.thread([=] { s->parked.wake_all(); }, "another engine");
    p.after([=] {
      il::check(s->ended.load() == s->plan.count, "no task is lost");
      il::check(s->refusals.load() == refusals,
                refusals == 0 ? "nothing is refused that has its turn" : "one is refused");
    });
  };
}

/// The same, from a state in which all workers have announced themselves and looked, and then the root's tasks come.
/// A worker that is still about to sleep might refuse a task while others were woken, and are about to sleep again.
std::function<void(il::program&)> rung_at_the_brink(const schedule& plan) {
  return [&plan](il::program& p) {
    auto s = std::make_shared<state>(plan);
    s->looks_back = false;
    s->waiting.store(1, relaxed);
    for (worker_view& by : s->views) s->parked.announce(by.id);
    s->make_ready(plan.from_root, s->views[0]);
    for (worker_view& by : s->views) {
      p.thread(
          [s, &by] {
            s->sleep(by);
            s->work(by);
            if (by.id.index() != 0) return;
            s->stopping.store(true, release);
            s->parked.wake_all();
          },
          "worker " + std::to_string(by.id.value));
    }
    p.after([=] {
      il::check(s->ended.load() == s->plan.count, "no task is lost");
      il::check(s->refusals.load() == 0, "nothing is refused that has its turn");
    });
  };
}

/// Task 2 waits for its turn behind task 1, which another worker makes ready.
const schedule turns = {3, {{1, 0, {1}}, {2, 0, {}}, {2, 1, {}}}, {2, 0}, 3};
/// Task 1 never comes.
const schedule never = {3, {{1, 0, {}}, {2, 0, {}}, {2, 1, {}}}, {2, 0}, 2};
/// Two workers: the root's task waits for its turn behind a task that the other worker makes ready.
const schedule to_root = {2, {{1, 0, {1}}, {0, 0, {}}, {0, 1, {}}}, {2, 0}, 3};
/// All tasks are held back.
const schedule one_held = {2, {{1, 1, {}}}, {0}, 1};
const schedule one_of_three = {3, {{1, 1, {}}}, {0}, 1};

TEST(StallInterleaved, WhatHasItsTurnIsNotRefused) {
  expect_passes(1, follows(turns, 0));
  expect_passes(2, follows(to_root, 0));
  expect_passes(1, rung_at_the_brink(turns));
}
TEST(StallInterleaved, WhatNeverComesIsNoticed) {
  expect_passes(1, follows(never, 1));
  expect_passes(1, follows(one_of_three, 1));
  expect_passes(2, follows(one_held, 1));
}
TEST(StallInterleaved, BesideAWakeFromElsewhere) {
  expect_passes(1, follows(to_root, 0, true));
  expect_passes(1, follows(one_held, 1, true));
}

/// A task becomes ready while the task whose turn is before it ends.
void turn_comes(il::program& p) {
  struct both {
    turn_order<small_world> turns{std::vector<std::pair<std::int32_t, std::int32_t>>{{0, 1}}};
    task second;
    int given = 0;
  };
  auto s = std::make_shared<both>();
  p.thread([=] { s->given += static_cast<int>(s->turns.ended(0).size()); }, "ends");
  p.thread([=] { s->given += s->turns.has_come(1, s->second) ? 1 : 0; }, "becomes ready");
  p.after([=] { il::check(s->given == 1 && !s->turns.holds_any(), "who had to wait for its turn is given out once"); });
}
TEST(StallInterleaved, ATurnComes) { expect_passes(4, turn_comes); }

TEST(StallInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 1}, {follows(one_held, 1)}, "base/stall_check.hpp");
}

}  // namespace
}  // namespace kith
