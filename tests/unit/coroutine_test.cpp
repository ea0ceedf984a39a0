// kith::coroutine, both() and sync_wait(): results, failures, which worker runs what, and the memory of frames.
#include "support/meeting.hpp"
#include "support/resident.hpp"
#include "support/scale.hpp"
#include "support/scratch_file.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace {

using kith::both;
using kith::coroutine;
using kith::sync_wait;
using kith::test::make_options;
using kith::test::meeting;
using kith::test::sanitized;
using kith::test::scaled;
using testing::ThrowsMessage;

coroutine<std::int64_t> fib(int n) {
  if (n < 2) co_return n;
  const auto [a, b] = co_await both([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  co_return a + b;
}

/// The same, but leaves come in another order on each run, and each is long enough to be stolen from.
coroutine<std::int64_t> slow_fib(int n) {
  if (n < 2) {
    if (n == 1) std::this_thread::yield();
    co_return n;
  }
  const auto [a, b] = co_await both([n] { return slow_fib(n - 1); }, [n] { return slow_fib(n - 2); });
  co_return a + b;
}

coroutine<int> number(int n) { co_return n; }
coroutine<> nothing() { co_return; }
coroutine<int> throws(const char* what) {
  throw std::runtime_error(what);
  co_return 0;
}

TEST(coroutine, returns_what_it_returns) {
  static_assert(std::is_void_v<decltype(sync_wait(nothing()))>);
  for (const int workers : {0, 1, 2, 5}) {
    const auto all = []() -> coroutine<std::string> {
      const int one = co_await number(1);
      co_await nothing();
      co_await both([] { return nothing(); }, [] { return nothing(); });
      const auto [none, two] = co_await both([] { return nothing(); }, [] { return number(2); });
      static_assert(std::is_same_v<decltype(none), const std::monostate>);
      auto text = []() -> coroutine<std::string> { co_return std::string(100, 'x'); };
      auto unique = [](int n) -> coroutine<std::unique_ptr<int>> { co_return std::make_unique<int>(n); };
      auto [x, p] = co_await both(text, [&] { return unique(3); });
      int here = 4;
      auto reference = [](int& to) -> coroutine<int&> { co_return to; };
      int& there = co_await reference(here);
      EXPECT_EQ(&there, &here);
      co_return std::to_string(one) + std::to_string(two) + std::to_string(*p) + std::to_string(x.size());
    };
    if (workers == 0) {
      EXPECT_EQ(sync_wait(all()), "123100");
      EXPECT_EQ(sync_wait(fib(15)), 610);
    } else {
      kith::runtime rt(make_options(workers));
      EXPECT_EQ(rt.run([&] { return sync_wait(all()); }), "123100");
      EXPECT_EQ(rt.run([] { return sync_wait(fib(20)); }), 6765);
    }
  }
}

TEST(coroutine, runs_once) {
  coroutine<int> a = number(1);
  EXPECT_EQ(sync_wait(std::move(a)), 1);
  EXPECT_THAT([&] { sync_wait(std::move(a)); }, testing::Throws<kith::error>());  // NOLINT(bugprone-use-after-move)
}

TEST(coroutine, goes_on_where_it_is_stolen_to) {
  kith::runtime_options o = make_options(2);
  o.spin = 0;  // a worker that finds nothing sleeps at once
  kith::runtime rt(o);
  for (int round = 0; round < scaled(200); ++round) {
    meeting both_there;
    const auto where = [&]() -> coroutine<int> {
      both_there.come();
      co_return kith::this_worker();
    };
    const auto outer = [&]() -> coroutine<> {
      const auto [a, b] = co_await both(where, where);
      EXPECT_NE(a, b);
      EXPECT_EQ(co_await fib(5), 5);
    };
    rt.run([&] { sync_wait(outer()); });
  }
  EXPECT_GE(rt.statistics().total.halves, static_cast<std::uint64_t>(scaled(200)));
}

TEST(coroutine, is_right_after_many_steals) {
  for (const int workers : {2, 5}) {
    kith::runtime rt(make_options(workers));
    // On a busy machine a thief may come late.
    for (int round = 0; round < scaled(20) || rt.statistics().total.halves == 0; ++round) {
      ASSERT_LT(round, 10000) << "nothing was stolen";
      ASSERT_EQ(rt.run([] { return sync_wait(slow_fib(16)); }), 987);
    }
  }
}

TEST(coroutine, throws_the_first_ones_exception_after_both_have_ended) {
  for (const int workers : {1, 2, 5}) {
    kith::runtime rt(make_options(workers));
    for (int round = 0; round < scaled(100); ++round) {
      std::atomic<int> ended{0};
      const auto run = [&](const char* f, const char* g) {
        ended = 0;
        const auto half = [&](const char* what) -> coroutine<std::string> {
          std::this_thread::yield();
          ++ended;
          if (what != nullptr) throw std::runtime_error(what);
          co_return std::string(50, 'x');
        };
        const auto outer = [&]() -> coroutine<> { co_await both([&] { return half(f); }, [&] { return half(g); }); };
        rt.run([&] { sync_wait(outer()); });
      };
      EXPECT_THAT([&] { run("f", "g"); }, ThrowsMessage<std::runtime_error>("f"));
      EXPECT_EQ(ended, 2);
      EXPECT_THAT([&] { run("f", nullptr); }, ThrowsMessage<std::runtime_error>("f"));
      EXPECT_EQ(ended, 2);
      EXPECT_THAT([&] { run(nullptr, "g"); }, ThrowsMessage<std::runtime_error>("g"));
      EXPECT_EQ(ended, 2);
    }
  }
}

TEST(coroutine, passes_on_an_exception_of_one_that_it_awaits) {
  const auto outer = []() -> coroutine<int> {
    try {
      co_return co_await throws("inner");
    } catch (const std::runtime_error&) {
    }
    co_return co_await throws("outer");
  };
  EXPECT_THAT([&] { sync_wait(outer()); }, ThrowsMessage<std::runtime_error>("outer"));
  const auto fails = []() -> coroutine<int> { throw std::runtime_error("no coroutine was made"); };
  const auto pair = [&]() -> coroutine<> {
    const auto before = [&]() -> coroutine<int> { return fails(); };
    co_await both(before, [] { return number(1); });
  };
  kith::runtime rt(make_options(2));
  EXPECT_THAT([&] { rt.run([&] { sync_wait(pair()); }); }, ThrowsMessage<std::runtime_error>("no coroutine was made"));
}

TEST(coroutine, goes_deep) {
  struct chain {
    static coroutine<int> awaits(int left) {
      if (left == 0) co_return 0;  // not ?:, of which GCC 12 calls both sides
      co_return 1 + co_await awaits(left - 1);
    }
    static coroutine<int> forks(int left) {
      if (left == 0) co_return 0;
      const auto [below, one] = co_await both([left] { return forks(left - 1); }, [] { return number(1); });
      co_return below + one;
    }
  };
  const int most = sanitized ? 1'000 : 20'000;  // more than a lane has places for, and many segments of frames
  kith::runtime rt(make_options(2));            // its workers' own stacks are larger than that of this thread
  EXPECT_EQ(rt.submit([&] { return sync_wait(chain::awaits(most)); }).get(), most);
  EXPECT_EQ(rt.submit([&] { return sync_wait(chain::forks(most)); }).get(), most);
}

TEST(coroutine, needs_no_more_stack_for_a_long_loop) {
  const auto loop = []() -> coroutine<int> {
    int sum = 0;
    for (int i = 0; i < 300'000; ++i) sum += co_await number(1);
    for (int i = 0; i < 100'000; ++i) {
      const auto [a, b] = co_await both([] { return number(1); }, [] { return number(1); });
      sum += a + b;
    }
    co_return sum;
  };
  kith::runtime rt(make_options(1));
  EXPECT_EQ(rt.run([&] { return sync_wait(loop()); }), 500'000);
  EXPECT_EQ(sync_wait(loop()), 500'000);
}

/// A value that detects if its frame was reused too early.
struct canary {
  explicit canary(int n) : all(200, n) {}
  bool lives(int n) const { return all == std::vector<int>(200, n); }
  std::vector<int> all;
};

TEST(coroutine, keeps_its_frame_while_it_is_elsewhere) {
  struct tree {
    static coroutine<int> visit(int depth, std::string name) {
      const canary mine(depth);
      if (depth == 0) {
        std::this_thread::yield();
        co_return name.size() > 20 ? 1 : 0;
      }
      const auto [a, b] =
          co_await both([&] { return visit(depth - 1, name + "a"); }, [&] { return visit(depth - 1, name + "b"); });
      EXPECT_TRUE(mine.lives(depth));
      const int c = co_await visit(depth - 1, name);
      EXPECT_TRUE(mine.lives(depth));
      co_return a + b + c;
    }
  };
  for (const int workers : {2, 5}) {
    kith::runtime rt(make_options(workers));
    for (int round = 0; round < scaled(5); ++round)
      EXPECT_EQ(rt.run([] { return sync_wait(tree::visit(6, std::string(30, 'x'))); }), 729);
  }
}

TEST(coroutine, may_end_in_any_order_and_after_its_runtime) {
  std::vector<coroutine<int>> kept;
  {
    kith::runtime rt(make_options(3));
    rt.run([&] {
      const auto makes = [&]() -> coroutine<int> {
        std::vector<coroutine<int>> here;
        for (int i = 0; i < 2000; ++i) here.push_back(number(i));
        for (int i = 0; i < 2000; i += 3) kept.push_back(std::move(here[static_cast<std::size_t>(i)]));
        int sum = 0;
        for (std::size_t i = 1; i < 2000; i += 3) sum += co_await std::move(here[i]);
        EXPECT_EQ(co_await slow_fib(12), 144);
        co_return sum;
      };
      EXPECT_EQ(sync_wait(makes()), 667 * (1 + 1999) / 2);
      std::optional<coroutine<std::int64_t>> first = fib(10), second = fib(11);
      first.reset();
      EXPECT_EQ(sync_wait(std::move(*second)), 89);
    });
  }
  EXPECT_EQ(sync_wait(std::move(kept[5])), 15);
}

TEST(coroutine, may_block_and_create_tasks) {
  for (const int workers : {1, 2, 5}) {
    kith::runtime rt(make_options(workers));
    std::atomic<int> tasks{0};
    struct tree {
      static coroutine<int> visit(int depth, std::atomic<int>& tasks) {
        kith::spawn([&] { ++tasks; });
        if (depth == 0) co_return kith::async([] { return 1; }).get();
        const auto [a, b] = co_await both([&, depth] { return visit(depth - 1, tasks); },
                                          [&, depth] { return visit(depth - 1, tasks); });
        const auto [c, d] = kith::join([] { return sync_wait(fib(6)); }, [] { return sync_wait(fib(5)); });
        co_return a + b + c - d - 3;
      }
    };
    rt.run([&] {
      EXPECT_EQ(sync_wait(tree::visit(7, tasks)), 128);
      kith::wait();
      EXPECT_EQ(tasks, 255);
    });
  }
}

TEST(coroutine, reports_a_task_that_fails_in_a_part_that_was_stolen) {
  kith::runtime rt(make_options(2));
  for (int round = 0; round < scaled(50); ++round) {
    EXPECT_THAT(
        [&] {
          rt.run([&] {
            meeting there;
            const auto half = [&](bool fails) -> coroutine<> {
              there.come();
              if (fails) kith::spawn([] { throw std::runtime_error("task"); });
              co_return;
            };
            const auto outer = [&]() -> coroutine<> {
              co_await both([&] { return half(false); }, [&] { return half(true); });
            };
            sync_wait(outer());
            kith::wait();
          });
        },
        ThrowsMessage<std::runtime_error>("task"));
  }
}

TEST(coroutine, runs_though_its_task_is_cancelled_and_is_told) {
  kith::runtime rt(make_options(2));
  int ran = 0;
  rt.run([&] {
    kith::group g;
    g.spawn([&] {
      meeting there;
      const auto cancels = [&]() -> coroutine<int> {
        there.come();
        g.cancel();
        co_return 1;
      };
      const auto is_told = [&]() -> coroutine<int> {
        there.come();
        while (!kith::cancelled()) std::this_thread::yield();
        co_return 2;
      };
      const auto outer = [&]() -> coroutine<int> {
        const auto [a, b] = co_await both(cancels, is_told);
        co_return a + b + co_await number(3);
      };
      ran = sync_wait(outer());
    });
    g.wait();
  });
  EXPECT_EQ(ran, 6);
}

TEST(coroutine, works_in_two_runtimes_at_a_time) {
  kith::runtime outer(make_options(2)), inner(make_options(2));
  const auto nested = [&](int n) -> coroutine<std::int64_t> {
    const std::int64_t there = inner.run([&] { return sync_wait(fib(n)); });
    co_return there + co_await fib(n - 1);
  };
  const auto root = [&]() -> coroutine<std::int64_t> {
    const auto [a, b] = co_await both([&] { return nested(15); }, [&] { return nested(12); });
    co_return a + b;
  };
  EXPECT_EQ(outer.run([&] { return sync_wait(root()); }), 610 + 377 + 144 + 89);
}

/// Creates a task for each number, each of which adds what an earlier task has written.
coroutine<> add(int from, int to, const int& written, std::array<int, 64>& sums) {
  if (to - from == 1) {
    int& sum = sums[static_cast<std::size_t>(from)];
    kith::spawn([](const int& w, int& s) { s += w; }, kith::in(written), kith::inout(sum));
    co_return;
  }
  const int middle = (from + to) / 2;
  co_await both([=, &written, &sums] { return add(from, middle, written, sums); },
                [=, &written, &sums] { return add(middle, to, written, sums); });
}

/// Captures the tasks of a coroutine that forks, and runs them twice.
void capture_a_coroutine(kith::runtime& rt) {
  int written = 0;
  std::array<int, 64> sums{};
  rt.run([&] {
    kith::captured_graph g;
    g.capture([&] {
      kith::spawn([](int& w) { w = 1; }, kith::out(written));
      sync_wait(add(0, 64, written, sums));
    });
    EXPECT_EQ(g.nodes(), 65u);
    g.run();
    g.run();
  });
  EXPECT_THAT(sums, testing::Each(2));
}

TEST(coroutine, may_fill_a_graph_that_is_captured) {
  kith::runtime rt(make_options(2));
  for (int round = 0; round < scaled(50); ++round) capture_a_coroutine(rt);
}

// Where a run is recorded, forks of coroutines are tasks; not in the body of a graph.
TEST(coroutine, may_fill_a_graph_that_is_captured_and_recorded) {
  const kith::test::scratch_file file;
  kith::runtime_options o = make_options(2);
  o.record = file.path();
  kith::runtime rt(o);
  capture_a_coroutine(rt);
}

/// Counts its objects.
struct counted_value {
  explicit counted_value(int& live) : live_(&live) { ++*live_; }
  counted_value(counted_value&& other) noexcept : live_(other.live_) { ++*live_; }
  ~counted_value() { --*live_; }

 private:
  int* live_;
};
struct throws_at_end {
  ~throws_at_end() noexcept(false) { throw std::runtime_error("at the end"); }
};
coroutine<counted_value> fails_after_its_result(int& live) {
  const throws_at_end last;
  co_return counted_value(live);
}

TEST(coroutine, drops_its_result_if_a_local_variable_s_destructor_throws) {
  int live = 0;
  EXPECT_THAT([&] { sync_wait(fails_after_its_result(live)); }, ThrowsMessage<std::runtime_error>("at the end"));
  EXPECT_EQ(live, 0);
}

TEST(coroutine, becomes_tasks_where_a_run_is_recorded) {
  const kith::test::scratch_file file;
  kith::runtime_options o = make_options(2);
  o.record = file.path();
  kith::runtime rt(o);
  EXPECT_EQ(rt.run([] { return sync_wait(fib(5)); }), 5);
  EXPECT_EQ(rt.statistics().total.tasks, 7u);  // one for each call that forks
  EXPECT_EQ(rt.statistics().total.halves, 0u);
  const auto fails = []() -> coroutine<> { co_await both([] { return number(1); }, [] { return throws("g"); }); };
  EXPECT_THAT([&] { rt.run([&] { sync_wait(fails()); }); }, ThrowsMessage<std::runtime_error>("g"));
}

}  // namespace
