// Waits when a worker has no stack left for them: each ends, perhaps with an error, and no task is lost.
#include "support/matrix.hpp"
#include "support/resident.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using kith::test::sanitized;

/// One queue, in the order of creation, and few stacks in addition to the threads' own.
kith::runtime_options in_order(int workers, int stacks) {
  kith::runtime_options o;
  o.policy = "fifo";
  o.workers = workers;
  o.oversubscribe = true;
  o.stacks = stacks;
  o.inline_limit = 0;
  return o;
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

/// A wait was refused and finds no work, when the end of a child makes two others ready: it claims one while it looks,
/// and then all that are left.
TEST(limits, a_refused_wait_loses_no_task_that_it_claimed) {
  kith::runtime rt(in_order(3, 1));
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

/// More waits than there are stacks, all refused. Each is for a task that its group's task has created, and that the
/// policy gives out after the tasks that have not begun.
TEST(limits, refused_waits_end_though_other_tasks_come_first) {
  const kith::runtime_options o = in_order(1, 1);
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
/// wait finds the task that lets the other runtime run the function.
TEST(limits, a_function_that_was_handed_over_is_awaited) {
  const kith::runtime_options o = in_order(1, 1);
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
