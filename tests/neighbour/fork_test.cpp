// A runtime that is inherited across fork(). The child can end, gets an error for calls that it may not make, can make
// a runtime of its own, and does not touch the parent's.
#include "fresh_process.hpp"

#include "base/sanitizers.hpp"
#include "recording/parts.hpp"
#include "support/recordings.hpp"

#include <kith/kith.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <latch>
#include <optional>
#include <thread>

namespace {

using namespace kith;
using kith::test::in_child_of_this;
using kith::test::in_fresh_process;
using kith::test::scratch_file;
using testing::HasSubstr;

runtime_options two_workers() {
  runtime_options o;
  o.workers = 2;
  o.oversubscribe = true;
  o.machine = "node:2 core:1";
  return o;
}

void run_tasks(runtime& rt, int count) {
  std::atomic<int> ran{0};
  rt.run([&] {
    for (int i = 0; i < count; ++i) spawn([&] { ++ran; });
  });
  EXPECT_EQ(ran, count);
}

/// The number of tasks without the roots.
int tasks_of(const recording& r) {
  return static_cast<int>(
      std::ranges::count_if(r.tasks, [](const recorded_task& t) { return (t.flags & recorded_task::root) == 0; }));
}

TEST(Fork, AChildThatReturnsFromMainEnds) {
  const auto body = [] {
    runtime rt(two_workers());
    run_tasks(rt, 100);
    const pid_t child = fork();
    if (child == 0) {
      alarm(kith::test::hangs_after_seconds);
      return 7;  // the runtime is destroyed, too
    }
    EXPECT_EQ(kith::test::wait_for(child), 7);
    run_tasks(rt, 100);
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST(Fork, NorDoesItWaitForTheParentsTasks) {
  const auto body = [] {
    std::latch begun(1), go(1);
    std::optional<runtime> rt(two_workers());
    const future<int> f = rt->submit([&] {
      begun.count_down();
      go.wait();
      return 5;
    });
    begun.wait();
    const pid_t child = fork();
    if (child == 0) {
      alarm(kith::test::hangs_after_seconds);
      EXPECT_FALSE(f.ready());
      EXPECT_THAT([&] { f.get(); }, testing::ThrowsMessage<error>(HasSubstr("before fork()")));
      runtime own(two_workers());  // whose workers do not complete it either
      EXPECT_THAT([&] { f.get(); }, testing::ThrowsMessage<error>(HasSubstr("before fork()")));
      EXPECT_THAT([&] { own.run([&] { f.wait(); }); }, testing::ThrowsMessage<error>(HasSubstr("before fork()")));
      EXPECT_EQ(own.submit([] { return 6; }).get(), 6);
      rt.reset();
      return 7;
    }
    EXPECT_EQ(kith::test::wait_for(child), 7);
    go.count_down();
    EXPECT_EQ(f.get(), 5);
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST(Fork, OtherCallsAreRefusedInTheChild) {
  const auto body = [] {
    runtime rt(two_workers());
    run_tasks(rt, 10);
    void* const memory = allocate(rt, 100, distribution::fine);
    const int code = in_child_of_this([&] {
      const std::pair<const char*, std::function<void()>> calls[] = {
          {"runtime::run()", [&] { rt.run([] {}); }},
          {"runtime::submit()", [&] { static_cast<void>(rt.submit([] {})); }},
          {"runtime::wait()", [&] { rt.wait(); }},
          {"runtime::mark()", [&] { rt.mark("here"); }},
          {"runtime::statistics()", [&] { static_cast<void>(rt.statistics()); }},
          {"runtime::reset_statistics()", [&] { rt.reset_statistics(); }},
          {"kith::allocate()", [&] { std::ignore = allocate(rt, 100); }},
          {"kith::count_pages()", [&] { static_cast<void>(count_pages(rt, memory, 100)); }},
          {"kith::known_bytes_on_nodes()", [&] { static_cast<void>(known_bytes_on_nodes(rt, memory, 100)); }},
          {"kith::reset_distribution()", [&] { reset_distribution(rt); }},
      };
      for (const auto& [name, call] : calls) {
        const auto names_both = testing::AllOf(HasSubstr(name), HasSubstr("before fork()"), HasSubstr("in the child"));
        EXPECT_THAT(call, testing::ThrowsMessage<error>(names_both)) << name;
      }
      EXPECT_EQ(rt.workers(), 2);
      deallocate(memory);  // the child has its own copy of the memory
      return 7;
    });
    EXPECT_EQ(code, 7);
    deallocate(memory);
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST(Fork, AChildMakesARuntimeOfItsOwn) {
#if KITH_TSAN
  GTEST_SKIP() << "the thread sanitizer starts no threads in children";
#endif
  const auto body = [] {
    runtime rt(two_workers());
    run_tasks(rt, 100);
    const int code = in_child_of_this([] {
      runtime own(two_workers());
      run_tasks(own, 100);
      EXPECT_EQ(own.submit([] { return 4; }).get(), 4);
      // The same holds for a child of the child.
      return in_child_of_this([&] {
        EXPECT_THROW(own.run([] {}), error);
        runtime third(two_workers());
        run_tasks(third, 10);
        return 9;
      });
    });
    EXPECT_EQ(code, 9);
    run_tasks(rt, 100);
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST(Fork, InsideATaskTheChildIsNoWorker) {
  const auto body = [] {
    runtime rt(two_workers());
    rt.run([&] {
      async([&] {
        const int code = in_child_of_this([&] {
          EXPECT_EQ(this_worker(), -1);
          EXPECT_THAT([] { spawn([] {}); }, testing::ThrowsMessage<error>(HasSubstr("no task runs on this thread")));
          EXPECT_THROW(kith::wait(), error);
          EXPECT_THROW(rt.run([] {}), error);
          return 7;
        });
        EXPECT_EQ(code, 7);
      }).get();
    });
    run_tasks(rt, 100);
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST(Fork, AChildThatReturnsIntoItsTaskIsEndedWithASentence) {
  const auto body = [] {
    runtime rt(two_workers());
    const auto fork_here = [] {
      std::fflush(nullptr);
      const pid_t child = fork();
      if (child == 0) alarm(kith::test::hangs_after_seconds);
      return child;
    };
    // On the stand-in, or another worker.
    EXPECT_EQ(kith::test::wait_for(rt.submit(fork_here).get()), 70);
    // On another worker: the caller of run is in its function, and does not wait.
    std::atomic<pid_t> child{-1};
    rt.run([&] {
      spawn([&] { child = fork_here(); });
      while (child == -1) std::this_thread::yield();
    });
    EXPECT_EQ(kith::test::wait_for(child), 70);
    // On top of a wait that is over when the task has returned.
    runtime_options one;
    one.workers = 1;
    runtime alone(one);
    alone.run([&] {
      spawn([&] { child = fork_here(); });
      kith::wait();
      EXPECT_EQ(kith::test::wait_for(child), 70);
      spawn([&] { child = fork_here(); });
    });
    EXPECT_EQ(kith::test::wait_for(child), 70);
    run_tasks(rt, 100);
    return 3;
  };
  const auto o = in_fresh_process(body);
  EXPECT_EQ(o.code, 3);
  EXPECT_THAT(o.said, HasSubstr("has returned into the task it was made in"));
}

TEST(Fork, AChildThatReturnsFromTheFunctionOfRunGetsAnError) {
  const auto body = [] {
    runtime rt(two_workers());
    pid_t child = -1;
    try {
      rt.run([&] {
        std::fflush(nullptr);
        spawn([] {});
        child = fork();
        if (child == 0) alarm(kith::test::hangs_after_seconds);
      });
    } catch (const error& e) {
      EXPECT_EQ(child, 0);
      EXPECT_THAT(e.what(), HasSubstr("runtime::run(): this runtime was made before fork()"));
      return 7;
    }
    EXPECT_EQ(kith::test::wait_for(child), 7);
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST(Fork, TheParentsRecordingStaysUntouched) {
  const scratch_file file;  // removed only by this process
  const auto body = [&] {
    std::string made;
    int until[2] = {-1, -1};
    pid_t lives_on = -1;
    {
      runtime_options o = two_workers();
      o.record = file.path();
      runtime rt(o);
      run_tasks(rt, 100);
      rt.run([&] { spawn([&] { in_child_of_this([] { return 0; }); }); });
      const pid_t child = fork();
      if (child == 0) {
        alarm(kith::test::hangs_after_seconds);
        EXPECT_THROW(rt.run([] {}), error);
        return 7;
      }
      EXPECT_EQ(kith::test::wait_for(child), 7);
      EXPECT_TRUE(parts_in_use(parts_of(file.path())));
      // A child that lives on holds none of its locks.
      EXPECT_EQ(pipe(until), 0);
      lives_on = fork();
      if (lives_on == 0) {
        alarm(kith::test::hangs_after_seconds);
        close(until[1]);
        char c = 0;
        static_cast<void>(read(until[0], &c, 1));
        _exit(0);
      }
      close(until[0]);
      run_tasks(rt, 100);
      made = rt.recorded_in();
    }
    EXPECT_FALSE(std::filesystem::exists(parts_of(file.path())));
    const recording r = read_recording(made);
    close(until[1]);
    EXPECT_EQ(kith::test::wait_for(lives_on), 0);
    EXPECT_EQ(tasks_of(r), 201);
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST(Fork, AGroupOfTheParentIsLeftAlone) {
  const auto body = [] {
    runtime rt(two_workers());
    pid_t child = -1;
    std::atomic<int> ran{0};
    rt.run([&] {
      spawn([&] {
        group g;
        g.spawn([&] { ++ran; });
        child = fork();
        if (child == 0) {
          alarm(kith::test::hangs_after_seconds);
          EXPECT_THAT([&] { g.wait(); }, testing::ThrowsMessage<error>(HasSubstr("before fork()")));
          EXPECT_THAT([&] { g.spawn([] {}); }, testing::ThrowsMessage<error>(HasSubstr("before fork()")));
          if (testing::Test::HasFailure()) _exit(1);
          return;  // and out of the task
        }
        EXPECT_EQ(kith::test::wait_for(child), 70);
        g.wait();
      });
    });
    EXPECT_EQ(ran, 1);
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST(Fork, LocksOfTheProcessAreFreeInTheChild) {
  const auto body = [] {
    runtime rt(two_workers());
    std::atomic<bool> enough{false};
    const future<void> noise = rt.submit([&] {
      while (!enough) {
        deallocate(allocate(4096));
        static_cast<void>(name("a name"));
      }
    });
    for (int i = 0; i < 200; ++i) {
      const int code = in_child_of_this([] {
        deallocate(allocate(4096));
        static_cast<void>(name("another name"));
        return 7;
      });
      EXPECT_EQ(code, 7);
    }
    enough = true;
    noise.get();
    return 3;
  };
  EXPECT_EQ(in_fresh_process(body).code, 3);
}

TEST(Fork, WhileAThreadMakesTheFirstRuntime) {
  for (int delay = 0; delay < 30; ++delay) {
    const auto body = [delay] {
      std::thread other([] { runtime(two_workers()).run([] {}); });
      std::this_thread::sleep_for(std::chrono::milliseconds(delay));
      const int code = in_child_of_this([] {
        int ran = 0;
        runtime(two_workers()).run([&] { ran = 7; });
        return ran;
      });
      other.join();
      return code;
    };
    EXPECT_EQ(in_fresh_process(body).code, 7) << delay << " ms after the thread was started";
  }
}

}  // namespace
