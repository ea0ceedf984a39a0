// When a task ends, and what a wait may hold up, under every policy.
#include "support/matrix.hpp"
#include "support/resident.hpp"
#include "support/scale.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using kith::test::resident_bytes;
using kith::test::sanitized;
using kith::test::scaled;

constexpr long megabyte = 1 << 20;

class ends : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};
};
KITH_FOR_ALL_POLICIES(ends);

void step(int k, std::atomic<int>& ran) {
  ++ran;
  if (k > 0) kith::spawn([k, &ran] { step(k - 1, ran); });
}

TEST_P(ends, a_chain_of_last_acts_takes_no_memory) {
  // Under these policies every link closes a window, and a task that was taken past it lives until the
  // window is partitioned.
  const bool windows = GetParam().policy.starts_with("rip-mw") && !GetParam().machine.empty();
  const int length = sanitized || windows ? 2000 : scaled(20000);
  std::atomic<int> ran{0};
  rt.run([&] { step(length, ran); });
  const long before = resident_bytes();
  rt.run([&] { step(5 * length, ran); });
  EXPECT_EQ(ran, 6 * length + 2);
  if (!sanitized && !windows) {
    EXPECT_LT(resident_bytes() - before, 10 * megabyte);
  }
}

/// The same where each link has a capture to destroy at its end. The link is kept until then, and so is the chain.
TEST_P(ends, captures_are_destroyed_after_the_children_ran) {
  std::atomic<int> late{0}, destroyed{0};
  struct mark {
    std::atomic<int>* count;
    explicit mark(std::atomic<int>& c) : count(&c) {}
    mark(mark&& other) noexcept : count(std::exchange(other.count, nullptr)) {}
    mark(const mark& other) = default;
    ~mark() {
      if (count != nullptr) ++*count;
    }
  };
  rt.run([&] {
    for (int i = 0; i < 20; ++i) {
      kith::spawn([&, m = std::make_shared<mark>(destroyed)] {
        kith::spawn([&late, weak = std::weak_ptr<mark>(m)] {
          for (int c = 0; c < 3; ++c) kith::spawn([&late, weak] { late += weak.expired() ? 1 : 0; });
        });
      });
    }
  });
  EXPECT_EQ(late, 0);
  EXPECT_EQ(destroyed, 20);
}

TEST_P(ends, a_future_is_ready_when_the_captures_are_gone) {
  struct mark {
    const kith::future<void>* future;
    int* early;
    mark(const kith::future<void>& f, int& count) : future(&f), early(&count) {}
    mark(mark&& other) noexcept : future(std::exchange(other.future, nullptr)), early(other.early) {}
    ~mark() {
      if (future != nullptr && future->ready()) ++*early;
    }
  };
  std::atomic<bool> named{false};
  int early = 0;
  kith::future<void> f;
  f = rt.submit([&named, m = mark(f, early)] {
    while (!named) std::this_thread::yield();
  });
  named = true;
  f.wait();
  EXPECT_EQ(early, 0);
}

TEST_P(ends, a_future_is_ready_after_the_children_of_its_task) {
  rt.run([&] {
    for (int i = 0; i < 20; ++i) {
      std::atomic<int> ended{0};
      kith::future<int> f = kith::async([&ended] {
        for (int c = 0; c < 4; ++c) kith::spawn([&ended] { kith::spawn([&ended] { ++ended; }); });
        return 7;
      });
      EXPECT_EQ(f.get(), 7);
      EXPECT_EQ(ended, 4);
    }
  });
}

TEST_P(ends, a_late_failure_of_a_child_is_the_task_s) {
  rt.run([&] {
    kith::future<int> f = kith::async([] {
      kith::spawn([] { kith::spawn([] { throw std::runtime_error("late"); }); });
      return 1;
    });
    EXPECT_THAT([&] { f.get(); }, testing::ThrowsMessage<std::runtime_error>("late"));
    kith::spawn([] { kith::spawn([] { throw std::runtime_error("late as well"); }); });
    EXPECT_THAT([] { kith::wait(); }, testing::ThrowsMessage<std::runtime_error>("late as well"));
  });
}

TEST_P(ends, successors_wait_for_the_children) {
  int token = 0;
  std::atomic<int> ended{0};
  const auto family = [&ended](int&) {
    for (int c = 0; c < 3; ++c) kith::spawn([&ended] { kith::spawn([&ended] { ++ended; }); });
  };
  rt.run([&] {
    for (int i = 1; i <= 20; ++i) {
      kith::spawn(family, kith::inout(token));
      kith::spawn([&ended, i](const int&) { EXPECT_EQ(ended, 3 * i); }, kith::in(token));
    }
  });
}

/// D writes what X reads; A waits for X, and B waits for A. No task may run on top of one that it needs.
TEST_P(ends, a_wait_goes_on_whatever_waits_beside_it) {
  for (int i = 0; i < scaled(20); ++i) {
    std::atomic<int> got{0};
    rt.run([&] {
      int x = 0;
      kith::spawn([](int& v) { v = 7; }, kith::out(x));
      const kith::future<int> fx = kith::async([](const int& v) { return v; }, kith::in(x));
      const kith::future<int> fa = kith::async([&] {
        got += fx.get();
        return 1;
      });
      for (int b = 0; b < 3; ++b) kith::spawn([&] { got += fa.get(); });
      kith::wait();
    });
    EXPECT_EQ(got, 10);
  }
}

int down(int depth) {
  volatile char frame[256];
  frame[0] = 1;
  return depth == 0 ? 0 : frame[0] + kith::async([depth] { return down(depth - 1); }).get();
}

TEST_P(ends, recursion_by_futures_is_deep) {
  const int depth = sanitized ? 500 : scaled(5000);
  EXPECT_EQ(rt.run([&] { return down(depth); }), depth);
}

void down_by_waits(int depth) {
  if (depth == 0) return;
  kith::spawn([depth] { down_by_waits(depth - 1); });
  kith::wait();
}

TEST_P(ends, recursion_by_waits_is_deep) {
  rt.run([] { down_by_waits(sanitized ? 500 : scaled(5000)); });
}

/// Tasks that check for cancellation see one that came after they were made.
TEST_P(ends, cancellation_reaches_scopes_that_were_made_before) {
  std::atomic<int> inside{0}, late{0};
  rt.run([&] {
    kith::group all;
    for (int i = 0; i < 4; ++i) {
      all.spawn([&] {
        kith::group mine;
        mine.spawn([] {});
        mine.wait();  // cancellation was checked here, and there was none
        if (++inside == 1) all.cancel();
        while (!kith::cancelled()) std::this_thread::yield();
        mine.spawn([&] { ++late; });
        kith::spawn([&] { ++late; });
      });
    }
    all.wait();
  });
  EXPECT_EQ(late, 0);
}

/// Slots, closures and queue entries of children that their waiting parent took past the queue are released.
TEST_P(ends, rounds_of_nested_tasks_take_no_memory) {
  std::atomic<int> ran{0};
  const auto rounds = [&](int n) {
    rt.run([&] {
      for (int i = 0; i < n; ++i) {
        kith::spawn([&] {
          for (int c = 0; c < 20; ++c) kith::spawn([&ran, fat = std::array<char, 4096>{}] { ran += 1 + fat[0]; });
          kith::wait();
        });
        kith::wait();
      }
    });
  };
  const int few = sanitized ? 20 : 300;
  rounds(few);
  const long before = resident_bytes();
  rounds(10 * few);
  EXPECT_EQ(ran, 20 * 11 * few);
  // A worker keeps up to 512 dead entries (queue/dead_entries.hpp), each with a closure of 4 KiB: 2 MiB. All closures
  // of the rounds are 234 MiB.
  if (!sanitized) {
    EXPECT_LT(resident_bytes() - before, (4 + 3 * rt.workers()) * megabyte);
  }
}

/// All tasks wait for the one that is last in the queue.
TEST(limits, a_wait_without_a_stack_says_so) {
  kith::runtime_options o;
  o.policy = "fifo";
  o.workers = 1;
  o.stacks = 3;
  kith::runtime rt(o);
  std::atomic<int> refused{0}, got{0};
  rt.run([&] {
    kith::future<int> last;
    for (int i = 0; i < 10; ++i) {
      kith::spawn([&] {
        try {
          got += last.get();
        } catch (const kith::error& e) {
          EXPECT_THAT(e.what(), testing::HasSubstr("KITH_STACKS"));
          EXPECT_THAT(e.what(), testing::HasSubstr("kith::future::wait()"));
          EXPECT_EQ(e.kind(), kith::error_kind::resources);
          ++refused;
        }
      });
    }
    last = kith::async([] { return 1; });
    kith::wait();
  });
  EXPECT_EQ(got + refused, 10);
  EXPECT_GE(got, 3);  // these have a stack
  EXPECT_GT(refused, 0);
}

/// Two workers on different nodes, which take no work from each other, with one stack in addition to the thread's own.
kith::runtime_options one_stack() {
  kith::runtime_options o;
  o.policy = "socket";
  o.machine = "node:2 core:1";
  o.workers = 2;
  o.oversubscribe = true;
  o.stacks = 1;
  return o;
}
/// Sleeps between its looks: only if cores are idle, more workers may be awake than there are cores (KITH_AWAKE).
void until(const std::atomic<int>& count, int least) {
  while (count < least) std::this_thread::sleep_for(std::chrono::microseconds(50));
}
constexpr kith::node here{0}, there{1};

/// The task that worker 0 finds at the limit waits for the very task that can get no stack.
TEST(limits, a_refused_wait_holds_up_nobody) {
  kith::runtime rt(one_stack());
  std::atomic<int> made{0}, started{0}, entered{0};
  rt.run([&] {
    kith::spawn([&] { until(made, 1); }, there);  // what the root waits for is queued after the child
    const kith::future<void> refused = kith::async(
        [&] {
          kith::spawn(
              [&] {
                ++started;
                until(entered, 1);
              },
              there, kith::priority::high);
          ++made;
          until(started, 1);
          kith::wait();
        },
        here);
    const kith::future<void> waits_for_it = kith::async(
        [&, refused] {
          ++entered;
          refused.get();
        },
        here);
    kith::async([] {}, there).get();  // takes the stack
    for (const kith::future<void>& f : {refused, waits_for_it}) {
      EXPECT_THAT([&] { f.get(); }, testing::ThrowsMessage<kith::error>(testing::HasSubstr("kith::wait(): no stack")));
    }
  });
}

/// A wait at the limit finds a child that another stack has left behind, which may not run on top of the wait. The
/// queue holds first_waiter, then second_waiter, then leaves_one.
TEST(limits, a_wait_without_a_stack_loses_no_task) {
  kith::runtime_options o;
  o.workers = 1;
  kith::runtime elsewhere(o);
  std::atomic<int> go_on{0};
  const kith::future<void> signal = elsewhere.submit([&] { until(go_on, 1); });
  o.policy = "fifo";
  o.stacks = 2;
  o.inline_limit = 0;
  kith::runtime rt(o);
  int left_behind = 0;
  const auto wait_or_be_refused = [] {
    try {
      kith::wait();
    } catch (const kith::error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("KITH_STACKS"));
    }
  };
  rt.run([&] {
    const kith::future<void> first_waiter = kith::async([&] {
      kith::spawn([] {});  // claimed by the wait, when it is refused
      kith::spawn([&] { signal.get(); });
      wait_or_be_refused();
    });
    kith::spawn([&] {  // second_waiter: has a child that has started and not ended
      kith::spawn([] { kith::spawn([] {}, kith::priority::low); });
      wait_or_be_refused();
    });
    kith::spawn([&] {  // leaves_one
      kith::spawn([&] { ++left_behind; });
      ++go_on;
      while (!signal.ready()) std::this_thread::yield();
    });
    kith::async([] {}, kith::after{first_waiter}).get();  // on a stack of its own
  });
  EXPECT_EQ(left_behind, 1);
}

struct at_end {
  std::function<void()> act;
  explicit at_end(std::function<void()> a) : act(std::move(a)) {}
  at_end(const at_end&) = delete;
  at_end& operator=(const at_end&) = delete;
  ~at_end() { act(); }
};

/// A wait was refused and looks for work in vain, when the end of a child makes two others ready: it claims the one
/// while it looks, and then all that are left.
TEST(limits, a_refused_wait_loses_no_task_that_it_claimed) {
  kith::runtime_options o;
  o.policy = "fifo";
  o.workers = 3;
  o.oversubscribe = true;
  o.stacks = 1;
  o.inline_limit = 0;
  kith::runtime rt(o);
  std::atomic<int> busy{0}, first_made{0}, first_started{0}, other_made{0}, refused{0}, other_ran{0}, claimed{0};
  std::atomic<int> destroyed{0}, over{0};
  rt.run([&] {
    kith::spawn([&] {  // its worker then takes the waiter's first child
      ++busy;
      until(first_made, 1);
    });
    kith::spawn([&] {
      ++busy;
      until(first_started, 1);
      kith::spawn([&] { ++other_ran; });  // the wait finds it, and has no stack for it
      ++other_made;
      until(refused, 1);
      kith::wait();  // takes it, so that the refused wait finds nothing
      until(over, 1);
    });
    until(busy, 2);
    const std::thread::id root = std::this_thread::get_id();
    const kith::future<void> waiter = kith::async([&] {
      int data = 0;
      kith::spawn(
          [&] {
            ++first_started;
            until(other_ran, 1);
            std::this_thread::sleep_for(std::chrono::milliseconds(20));  // the refused wait begins to look meanwhile
          },
          kith::out(data));
      ++first_made;
      until(other_made, 1);
      kith::spawn([held = std::make_shared<at_end>([&] {  // the wait claims it when it is refused
                     ++refused;
                     until(other_ran, 1);
                   })] {});
      for (int i = 0; i < 3; ++i) {
        kith::spawn([held = std::make_shared<at_end>([&] {
                       ++destroyed;
                       ++(std::this_thread::get_id() == root ? claimed : busy);
                       until(claimed, 1);  // leaves the others to the wait
                     })] {},
                    kith::in(data));
      }
      kith::wait();
    });
    const kith::future<void> after = kith::async([] {}, kith::after{waiter});
    after.get();  // takes the stack
    EXPECT_THAT([&] { waiter.get(); }, testing::ThrowsMessage<kith::error>(testing::HasSubstr("KITH_STACKS")));
    ++over;
  });
  EXPECT_EQ(destroyed, 3);
}

/// More waits than have a stack, all refused. Each is for a task that its own group's task has created, which the
/// policy gives out only after those that have not begun.
TEST(limits, refused_waits_end_though_other_tasks_come_first) {
  kith::runtime_options o;
  o.policy = "fifo";
  o.workers = 1;
  o.stacks = 1;
  o.inline_limit = 0;
  kith::runtime rt(o);
  constexpr int waits = 60;
  int refused = 0, ran = 0;
  rt.run([&] {
    for (int i = 0; i < waits; ++i) {
      kith::spawn(
          [&] {
            kith::group g;
            g.spawn([&] { g.spawn([&] { ++ran; }, kith::priority::low); });
            try {
              g.wait();
            } catch (const kith::error& e) {
              EXPECT_THAT(e.what(), testing::HasSubstr("KITH_STACKS"));
              ++refused;
            }
          },
          kith::priority::high);
    }
  });
  EXPECT_EQ(refused + ran, waits);
  EXPECT_GT(refused, 2 + 16);  // the stacks that refused waits may use are used up
}

/// At the limit a join waits for a half on another worker, and that half for a creator that helps at the throttle.
TEST(limits, a_creator_at_the_throttle_goes_on_if_nothing_can_run) {
  kith::runtime_options o = one_stack();
  o.inline_limit = 0;
  o.throttle = 4;
  kith::runtime rt(o);
  std::atomic<int> taken{0}, ran{0};
  rt.run([&] {
    kith::group g;
    kith::future<void> creator;
    auto join_first = [&, first = true]() mutable {
      if (!std::exchange(first, false)) return;
      kith::join([&] { until(taken, 1); },
                 [&] {
                   ++taken;
                   creator.get();
                 });
    };
    g.spawn(
        [&] {
          creator = kith::async(
              [&] {
                for (int i = 0; i < 8; ++i) {
                  g.spawn(  // it helps here, and takes the stack
                      [&] {
                        join_first();
                        ++ran;
                      },
                      here);
                }
              },
              here);
        },
        here);
    g.wait();
  });
  EXPECT_EQ(ran, 8);
}

/// A function that was handed over to another runtime uses the stack of the task that waits for it. At the limit, that
/// wait finds the task that makes the other runtime run it.
TEST(limits, a_function_that_was_handed_over_is_awaited) {
  kith::runtime_options o;
  o.policy = "fifo";
  o.workers = 1;
  o.stacks = 1;
  o.inline_limit = 0;
  kith::runtime rt(o), elsewhere(o);
  std::atomic<int> occupied{0}, free{0};
  const std::jthread occupant([&] {
    elsewhere.run([&] {
      ++occupied;
      until(free, 1);
    });
  });
  until(occupied, 1);
  rt.run([&] {
    const kith::future<int> handed_over = kith::async([&] { return elsewhere.run([] { return 42; }); });
    kith::spawn([&] { ++free; });
    kith::async([] {}, kith::after{handed_over}).get();  // takes the stack
    EXPECT_EQ(handed_over.get(), 42);
  });
}

/// A run comes back through another runtime, on a stack of that one: afterwards the task goes on on its own stack, and
/// still knows how much of it is left.
TEST(limits, recursion_is_deep_after_a_run_on_another_stack) {
  kith::runtime_options o;
  o.policy = "fifo";
  o.workers = 1;
  o.inline_limit = 0;
  kith::runtime outer(o), inner(o);
  const int depth = sanitized ? 500 : 50000;
  const int levels = outer.run([&] {
    inner.run([&] {
      kith::spawn([&] { outer.run([] {}); });  // comes first, and may not run on top of the wait
      kith::async([] {}).get();
    });
    return down(depth);
  });
  EXPECT_EQ(levels, depth);
}

/// Each wait needs the tasks that the others hold up, under every policy. No stack may overflow, and no
/// wait may remain.
class few_stacks : public testing::TestWithParam<kith::test::setup> {
 protected:
  static kith::runtime_options options() {
    kith::runtime_options o = GetParam().options();
    o.stacks = 3;
    o.stack_bytes = 1 << 20;
    o.throttle = 0;
    return o;
  }
  static constexpr int count = sanitized ? 500 : 3000;
  kith::runtime rt{options()};
  std::atomic<int> went_on{0}, refused{0};

  template <class Wait>
  void attempt(const Wait& wait) {
    try {
      wait();
      ++went_on;
    } catch (const kith::error& e) {
      EXPECT_THAT(e.what(), testing::HasSubstr("KITH_STACKS"));
      ++refused;
    }
  }
};
KITH_FOR_ALL_POLICIES(few_stacks);

TEST_P(few_stacks, waits_for_children_that_cannot_start) {
  std::atomic<int> children{0}, later{0};
  for (int round = 1; round <= 2; ++round) {
    rt.run([&] {
      const kith::task_ref gate = kith::spawn([] {});
      for (int i = 0; i < count; ++i) {
        kith::spawn([&, gate] {
          kith::spawn([&] { ++children; }, kith::after{gate});
          attempt([] { kith::wait(); });
          kith::spawn([&] { ++later; });  // tasks created after the error are not cancelled
        });
      }
    });
    EXPECT_EQ(went_on + refused, round * count);
    EXPECT_GE(children, went_on);
    EXPECT_EQ(later, round * count);
  }
}

TEST_P(few_stacks, groups_of_tasks_that_cannot_start) {
  const auto run = [&] {
    const kith::task_ref gate = kith::spawn([] {});
    for (int i = 0; i < count; ++i) {
      kith::spawn([&, gate] {
        kith::group g;
        g.spawn([] {}, kith::after{gate});
        attempt([&] { g.wait(); });
      });
    }
  };
  rt.run(run);
  EXPECT_EQ(went_on + refused, count);
}

TEST_P(few_stacks, waits_inside_waits) {
  std::atomic<int> ended{0};
  rt.run([&] {
    const kith::future<int> last = kith::async([] { return 1; });
    for (int i = 0; i < count; ++i) {
      kith::spawn([&, i] {
        for (int c = 0; c < 3; ++c) {
          kith::spawn([&, i, c] {
            if ((i + c) % 4 == 0) attempt([&] { static_cast<void>(last.get()); });
          });
        }
        attempt([] { kith::wait(); });
        ++ended;
      });
    }
    kith::wait();
  });
  EXPECT_EQ(ended, count);
}

}  // namespace
