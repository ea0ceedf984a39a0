// The engine's parts for OpenMP: tasks that one worker runs, tasks that an event makes ready, calls that stand for
// tasks, and what a worker runs whose task holds a lock.
#include "engine/native/addressed.hpp"
#include "engine/native/held.hpp"

#include "api/implementation.hpp"
#include "engine/native/engine.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace kith {
namespace {

using native::worker;

runtime_options four_workers(int spin) {
  runtime_options o;
  o.workers = 4;
  o.oversubscribe = true;
  o.spin = spin;
  return o;
}

int this_worker() { return worker::current()->id.value; }

TEST(addressed_tasks, run_on_their_worker_awake_or_asleep) {
  for (const int spin : {0, 2000}) {
    runtime rt(four_workers(spin));
    for (int round = 0; round < 300; ++round) {
      std::array<int, 4> ran_on{-1, -1, -1, -1};
      rt.run([&] {
        for (int w = 1; w < 4; ++w)
          native::create_addressed(*worker::current(), worker_id(w), 0,
                                   [&ran_on, w] { ran_on[static_cast<std::size_t>(w)] = this_worker(); });
      });
      EXPECT_EQ(ran_on, (std::array<int, 4>{-1, 1, 2, 3}));
    }
  }
}

// All four wait for each other: none may be behind another one on its worker's stack.
TEST(addressed_tasks, meet_while_other_tasks_wait) {
  runtime rt(four_workers(0));
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> here{0};
    rt.run([&] {
      const auto meet = [&here] {
        group some;
        for (int i = 0; i < 20; ++i) some.spawn([] { spawn([] {}); });
        ++here;
        while (here != 4) std::this_thread::yield();
        some.wait();
      };
      for (int w = 1; w < 4; ++w) native::create_addressed(*worker::current(), worker_id(w), 0, meet);
      meet();
    });
    EXPECT_EQ(here, 4);
  }
}

// The worker waits inside a task when the addressed one arrives, and runs it on another stack: what it waits for needs
// that task to have begun.
TEST(addressed_tasks, begin_while_their_worker_waits) {
  runtime rt(four_workers(0));
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> waits{false}, may_end{false};
    rt.run([&] {
      worker& first = *worker::current();
      native::create_addressed(first, worker_id(2), 0, [&] {
        group inner;
        inner.spawn([&] {
          waits = true;
          while (!may_end) {
            worker::current()->work_until([&] { return may_end.load(); }, "a test", {}, detail::at_stack_limit::exceed);
          }
        });
        inner.wait();
      });
      while (!waits) std::this_thread::yield();
      for (int w = 1; w < 4; ++w)
        native::create_addressed(first, worker_id(w), 0, [&, w] {
          EXPECT_EQ(this_worker(), w);
          if (w == 2) may_end = true;
          runtime::implementation::engine_of(rt).parked.wake_all();
        });
    });
    EXPECT_TRUE(may_end);
  }
}

// ---- held tasks

TEST(held_tasks, keep_their_creator_from_ending) {
  runtime rt(four_workers(0));
  for (int round = 0; round < 100; ++round) {
    std::atomic<task*> held{nullptr};
    std::atomic<bool> opened{false};
    std::thread outside([&] {
      while (held == nullptr) std::this_thread::yield();
      if (round % 2 != 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
      opened = true;
      native::open_held(*held);
    });
    bool opened_before = false;
    rt.run([&] {
      int x = 0;
      spawn([&](int&) { held = &native::create_held(*worker::current()); }, inout(x));
      spawn([&](int&) { opened_before = opened; }, inout(x));
      wait();
    });
    outside.join();
    EXPECT_TRUE(opened_before);
  }
}

// ---- calls that stand for tasks

TEST(calls_as_children, do_not_wait_for_what_they_leave_but_their_creator_does) {
  runtime rt(four_workers(0));
  for (int round = 0; round < 50; ++round) {
    std::atomic<bool> returned{false}, seen{false}, ended{false};
    rt.run([&] {
      spawn([&] {
        while (!returned) std::this_thread::yield();
      });
      worker& here = *worker::current();
      detail::scope* const outer = here.enter_child();
      spawn([&] {
        while (!seen) std::this_thread::yield();
        ended = true;
      });
      here.leave_child(outer);
      returned = true;
      EXPECT_FALSE(ended);
      seen = true;
      wait();
      EXPECT_TRUE(ended);
    });
  }
}

TEST(calls_as_children, wait_for_their_own_alone) {
  runtime rt(four_workers(0));
  std::atomic<bool> may_end{false};
  rt.run([&] {
    spawn([&] {
      while (!may_end) std::this_thread::yield();
    });
    int ran = 0;
    worker& here = *worker::current();
    detail::scope* const outer = here.enter_child();
    spawn([&ran] { ran = 1; });
    wait();
    here.leave_child(outer);
    EXPECT_EQ(ran, 1);
    may_end = true;
  });
}

// ---- waits that stay on their stack

TEST(waits_on_one_stack, run_only_what_they_are_for) {
  runtime_options o = four_workers(0);
  o.workers = 1;
  o.policy = "fifo";
  runtime rt(o);
  bool unrelated = false, below = false;
  int deeper = 0;
  rt.run([&] {
    spawn([&] {
      spawn([&] { unrelated = true; });
      const auto only_below = worker::current()->stay_on_stack();
      group mine;
      for (int i = 0; i < 3; ++i) {
        mine.spawn([&] {
          for (int j = 0; j < 2; ++j) spawn([&] { spawn([&] { ++deeper; }); });
          wait();
          below = true;
        });
      }
      mine.wait();
      EXPECT_TRUE(below);
      EXPECT_EQ(deeper, 6);
      EXPECT_FALSE(unrelated);
    });
  });
  EXPECT_TRUE(unrelated);
}

/// The only task below the wait runs on another worker, and others are queued.
TEST(waits_on_one_stack, run_nothing_else_until_they_end) {
  runtime_options o = four_workers(0);
  o.workers = 3;
  o.policy = "fifo";
  runtime rt(o);
  std::atomic<bool> begun{false}, queued{false}, ended{false}, waits{false};
  std::atomic<int> waiter{-1}, on_top{0}, ran{0};
  const auto until = [](const std::atomic<bool>& flag) {
    while (!flag) std::this_thread::yield();
  };
  rt.run([&] {
    spawn([&] {
      spawn([&] {
        begun = true;
        until(queued);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ended = true;
      });
      until(queued);
      waiter = worker::current()->id.value;
      const auto only_below = worker::current()->stay_on_stack();
      waits = true;
      wait();
      waits = false;
    });
    until(begun);
    for (int i = 0; i < 4; ++i) {
      spawn([&] {
        ++ran;
        if (waits && waiter == worker::current()->id.value) ++on_top;
      });
    }
    queued = true;
    until(ended);
  });
  EXPECT_EQ(ran, 4);
  EXPECT_EQ(on_top, 0);
}

}  // namespace
}  // namespace kith
