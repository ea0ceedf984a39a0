// Parking and waking: no wake-up is lost, and a woken worker sees the data that it is woken for.
#include "base/sleepers.hpp"

#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace kith {
namespace {

namespace il = kith::interleave;
constexpr int most_items = 3;

/// Items are made visible by plain stores, as a deque's owner does, and taken by compare-exchange.
struct state {
  state(int workers, int items) : total(items), everybody(worker_set::all(workers)), parked(workers) {}

  const int total;
  const worker_set everybody;
  sleepers parked;
  atomic<int> posted{0};
  atomic<int> taken{0};
  atomic<int> done{0};
  atomic<bool> stopping{false};
  il::shared<int> content[most_items];

  void post(int i) {
    content[i].write(i);
    posted.store(i + 1, release);
    parked.wake_one(everybody);
  }
  bool take_one() {
    int i = taken.load(relaxed);
    do {
      if (i == posted.load(acquire)) return false;
    } while (!taken.compare_exchange_weak(i, i + 1, relaxed, relaxed));
    il::check(content[i].read() == i, "an item arrives with its content");
    if (done.fetch_add(1, relaxed) + 1 == total) {
      stopping.store(true, release);
      parked.wake_all();
    }
    return true;
  }
  bool work_is_visible() { return taken.load(relaxed) != posted.load(acquire) || stopping.load(acquire); }

  /// The protocol that every worker follows.
  void work(worker_id self) {
    while (!stopping.load(acquire)) {
      if (take_one()) continue;
      parked.announce(self);
      if (work_is_visible()) {
        if (!parked.retract(self)) parked.wake_one(everybody);
        continue;
      }
      parked.sleep(self);
    }
  }
};

/// A producer that is no worker.
std::function<void(il::program&)> team(int workers, int items) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>(workers, items);
    for (int w = 0; w < workers; ++w) {
      p.thread([=] { s->work(worker_id(w)); }, "worker");
    }
    p.thread(
        [=] {
          for (int i = 0; i < items; ++i) s->post(i);
        },
        "producer");
    p.after([=] { il::check(s->done.load() == s->total, "all items are done"); });
  };
}

/// Worker 0 produces and then works like the others.
std::function<void(il::program&)> producing_worker(int items) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>(2, items);
    p.thread(
        [=] {
          for (int i = 0; i < items; ++i) s->post(i);
          s->work(worker_id(0));
        },
        "worker 0");
    p.thread([=] { s->work(worker_id(1)); }, "worker 1");
    p.after([=] { il::check(s->done.load() == s->total, "all items are done"); });
  };
}

/// One worker waits for one condition; another worker wakes only this one. Three times, so that a late wake
/// of one wait meets the next wait.
std::function<void(il::program&)> wait_for_one(int rounds) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>(1, most_items + 1);
    p.thread(
        [=] {
          for (int i = 0; i < rounds; ++i) {
            while (s->posted.load(acquire) <= i) {
              s->parked.announce(worker_id(0));
              if (s->posted.load(acquire) > i) {
                s->parked.retract(worker_id(0));
              } else {
                s->parked.sleep(worker_id(0));
              }
            }
            il::check(s->content[i].read() == i, "the sleeper sees what it waited for");
          }
        },
        "waiter");
    p.thread(
        [=] {
          for (int i = 0; i < rounds; ++i) {
            s->content[i].write(i);
            s->posted.store(i + 1, release);
            s->parked.wake(worker_id(0));
          }
        },
        "waker");
  };
}

/// A worker is woken for data that only the wake-up publishes.
void hand_over(il::program& p) {
  auto s = std::make_shared<state>(1, 1);
  p.thread([=] {
    s->parked.announce(worker_id(0));
    s->parked.sleep(worker_id(0));
    il::check(s->content[0].read() == 5, "what the waker did before is seen by the woken");
  });
  p.thread([=] {
    s->content[0].write(5);
    while (!s->parked.wake(worker_id(0))) pause();
  });
}

/// Worker 0 sleeps until something is posted only for it; worker 1 comes and goes, and is woken meanwhile.
void one_comes_and_goes(il::program& p) {
  auto s = std::make_shared<state>(2, most_items + 1);
  p.thread(
      [=] {
        while (s->posted.load(acquire) == 0) {
          s->parked.announce(worker_id(0));
          if (s->posted.load(acquire) != 0) {
            s->parked.retract(worker_id(0));
          } else {
            s->parked.sleep(worker_id(0));
          }
        }
      },
      "sleeper");
  p.thread(
      [=] {
        s->parked.announce(worker_id(1));
        s->parked.retract(worker_id(1));
      },
      "passer-by");
  p.thread([=] { s->parked.wake_one(worker_set::only(worker_id(1))); }, "waker of the passer-by");
  p.thread(
      [=] {
        s->posted.store(1, release);
        s->parked.wake_one(worker_set::only(worker_id(0)));
      },
      "waker of the sleeper");
}

/// At most `most` workers are to be awake. The item `blocks` ends only when all others have been taken, so another
/// worker must be woken although the bound is reached.
struct bounded_state : state {
  bounded_state(int workers, int items, int most, int blocking) : state(workers, items), blocks(blocking) {
    parked.bound(most);
  }
  const int blocks;

  bool take(int& i) {
    i = taken.load(relaxed);
    do {
      if (i == posted.load(acquire)) return false;
    } while (!taken.compare_exchange_weak(i, i + 1, relaxed, relaxed));
    il::check(content[i].read() == i, "an item arrives with its content");
    return true;
  }
  void end(int i) {
    while (i == blocks && taken.load(relaxed) != total) pause();
    if (done.fetch_add(1, relaxed) + 1 == total) {
      stopping.store(true, release);
      parked.wake_all();
    }
  }
  /// As worker::search_or_park.
  void work_bounded(worker_id self) {
    wake_reason woken = wake_reason::none;
    while (!stopping.load(acquire)) {
      if (int i = 0; take(i)) {
        if (std::exchange(woken, wake_reason::none) == wake_reason::work) parked.found_work();
        end(i);
        continue;
      }
      parked.announce(self);
      if (work_is_visible()) {
        if (!parked.retract(self)) parked.wake_all();
        continue;
      }
      woken = parked.sleep(self, false, [] { return true; });
    }
  }
};

/// Worker 0 posts all items, then works like the others. `named`: each item is for one worker, to be woken by name;
/// any may take it.
std::function<void(il::program&)> bounded(int workers, int items, int blocks, bool named) {
  return [=](il::program& p) {
    auto s = std::make_shared<bounded_state>(workers, items, 1, blocks);
    p.thread(
        [=] {
          for (int i = 0; i < items; ++i) {
            s->content[i].write(i);
            s->posted.store(i + 1, release);
            s->parked.wake_one(named ? worker_set::only(worker_id(1 + i % (workers - 1))) : s->everybody);
          }
          s->work_bounded(worker_id(0));
        },
        "worker 0");
    for (int w = 1; w < workers; ++w) p.thread([=] { s->work_bounded(worker_id(w)); }, "worker");
    p.after([=] { il::check(s->done.load() == s->total, "all items are done"); });
  };
}

/// All items come at once, from a thread that is no worker.
std::function<void(il::program&)> bounded_from_outside(int workers, int items, int blocks) {
  return [=](il::program& p) {
    auto s = std::make_shared<bounded_state>(workers, items, 1, blocks);
    for (int w = 0; w < workers; ++w) p.thread([=] { s->work_bounded(worker_id(w)); }, "worker");
    p.thread(
        [=] {
          for (int i = 0; i < items; ++i) s->content[i].write(i);
          s->posted.store(items, release);
          s->parked.wake_one(s->everybody);
        },
        "producer");
    p.after([=] { il::check(s->done.load() == s->total, "all items are done"); });
  };
}

void expect_passes_with_spurious_wakes(int preemptions, const std::function<void(il::program&)>& program) {
  il::expect_passes({.preemptions = preemptions, .spurious_wakes = true}, program);
}

TEST(SleepersInterleaved, OneWorker) { expect_passes_with_spurious_wakes(4, team(1, 2)); }
TEST(SleepersInterleaved, TwoWorkers) { expect_passes_with_spurious_wakes(2, team(2, 2)); }
TEST(SleepersInterleaved, AProducingWorker) { expect_passes_with_spurious_wakes(3, producing_worker(2)); }
TEST(SleepersInterleaved, AWaitForOneCondition) { expect_passes_with_spurious_wakes(4, wait_for_one(3)); }
TEST(SleepersInterleaved, AWakeUpHandsOver) { expect_passes_with_spurious_wakes(4, hand_over); }

TEST(SleepersInterleaved, OneComesAndGoes) { expect_passes_with_spurious_wakes(3, one_comes_and_goes); }

TEST(SleepersInterleaved, ABound) { expect_passes_with_spurious_wakes(2, bounded(2, 2, -1, false)); }
TEST(SleepersInterleaved, ABoundAndATaskThatBlocks) { expect_passes_with_spurious_wakes(2, bounded(2, 2, 0, false)); }
TEST(SleepersInterleaved, ABoundAndNamedWorkers) { expect_passes_with_spurious_wakes(2, bounded(2, 2, 0, true)); }
TEST(SleepersInterleaved, ABoundAndWorkFromOutside) {
  expect_passes_with_spurious_wakes(2, bounded_from_outside(2, 2, 0));
}

TEST(SleepersInterleaved, EachOrderingIsNeeded) {
  const char* const store_store = "keeps a store before a later one of another thread that saw it: TSO always does";
  il::expect_needed({.preemptions = 3}, {team(1, 2), hand_over}, "base/sleepers.hpp",
                    {{"fetch_or(bit_of(w), release)", il::side::release, store_store},
                     {"fetch_and(~bit_of(w), acquire)", il::side::acquire, store_store}});
}

}  // namespace
}  // namespace kith
