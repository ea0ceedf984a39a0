// kith::join and kith::parallel_invoke: results, failures, where they may be called, and which worker runs what.
#include "support/meeting.hpp"
#include "support/resident.hpp"
#include "support/scale.hpp"
#include "support/scratch_file.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

/// A program's functions with the names of functions that join() calls.
namespace shop {
template <class... T>
void offer(T&&...) {}
template <class... T>
void await_half(T&&...) {}
template <class... T>
void join_as_tasks(T&&...) {}
struct count {
  int operator()() const { return 1; }
};
}  // namespace shop

namespace {

using kith::test::make_options;
using kith::test::meeting;
using kith::test::sanitized;
using kith::test::scaled;
using testing::ThrowsMessage;

std::int64_t fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = kith::join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  return a + b;
}

TEST(join, returns_what_the_halves_return) {
  kith::runtime rt(make_options(2));
  rt.run([] {
    int x = 3;
    EXPECT_EQ(kith::join([] { return 1; }, [] { return std::string("two"); }), std::pair(1, std::string("two")));
    auto [a, b] = kith::join([&]() -> int& { return x; }, [] { return std::make_unique<int>(4); });
    EXPECT_EQ(&a, &x);
    EXPECT_EQ(*b, 4);
    EXPECT_EQ(kith::join([] {}, [] { return 5; }), std::pair(std::monostate{}, 5));
    static_assert(std::is_void_v<decltype(kith::join([] {}, [] {}))>);
  });
}

TEST(join, runs_both_halves_in_order_on_a_thread_without_a_runtime) {
  std::vector<int> order;
  kith::join([&] { order.push_back(1); }, [&] { order.push_back(2); });
  EXPECT_THAT(order, testing::ElementsAre(1, 2));
  EXPECT_EQ(fib(15), 610);
}

TEST(join, runs_serially_on_a_foreign_thread_while_a_runtime_works) {
  kith::runtime rt(make_options(2));
  rt.run([] {
    std::thread([] {
      const auto here = std::this_thread::get_id();
      const auto [a, b] =
          kith::join([] { return std::this_thread::get_id(); }, [] { return std::this_thread::get_id(); });
      EXPECT_EQ(a, here);
      EXPECT_EQ(b, here);
    }).join();
  });
}

TEST(join, is_taken_by_a_sleeping_worker) {
  kith::runtime_options o = make_options(2);
  o.spin = 0;  // a worker that finds nothing sleeps at once
  kith::runtime rt(o);
  for (int round = 0; round < scaled(200); ++round) {
    meeting both;
    rt.run([&] {
      const auto [a, b] = kith::join(
          [&] {
            both.come();
            return kith::this_worker();
          },
          [&] {
            both.come();
            return kith::this_worker();
          });
      EXPECT_NE(a, b);
    });
  }
  EXPECT_EQ(rt.statistics().total.halves, static_cast<std::uint64_t>(scaled(200)));
}

TEST(join, wakes_all_workers_for_a_tree) {
  constexpr int workers = 8;
  kith::runtime_options o = make_options(workers);
  o.spin = 0;
  kith::runtime rt(o);
  for (int round = 0; round < scaled(20); ++round) {
    std::atomic<int> here{0};
    // Each of the eight needs a worker of its own. A join must not rely on that, but a stack always offers its oldest
    // halves, and no stack has more than three here.
    const auto all_come = [&] {
      here.fetch_add(1);
      while (here.load() < workers) std::this_thread::yield();
    };
    rt.run(
        [&] { kith::parallel_invoke(all_come, all_come, all_come, all_come, all_come, all_come, all_come, all_come); });
    EXPECT_EQ(here, workers);
  }
}

TEST(join, throws_the_first_halfs_exception_after_both_have_ended) {
  for (const int workers : {1, 2}) {
    kith::runtime rt(make_options(workers));
    for (int round = 0; round < scaled(200); ++round) {
      std::atomic<int> ended{0};
      const auto fails = [&](const char* what) {
        return [&ended, what] {
          ++ended;
          throw std::runtime_error(what);
        };
      };
      const auto ends = [&ended] { ++ended; };
      EXPECT_THAT([&] { rt.run([&] { kith::join(fails("f"), fails("g")); }); }, ThrowsMessage<std::runtime_error>("f"));
      EXPECT_EQ(ended, 2);
      EXPECT_THAT([&] { rt.run([&] { kith::join(ends, fails("g")); }); }, ThrowsMessage<std::runtime_error>("g"));
      EXPECT_EQ(ended, 4);
      EXPECT_THAT([&] { rt.run([&] { kith::join(fails("f"), ends); }); }, ThrowsMessage<std::runtime_error>("f"));
      EXPECT_EQ(ended, 6);
    }
  }
}

TEST(join, throws_from_a_half_that_another_worker_runs) {
  kith::runtime rt(make_options(2));
  for (int round = 0; round < scaled(50); ++round) {
    meeting both;
    EXPECT_THAT(
        [&] {
          rt.run([&] {
            kith::join(
                [&] {
                  both.come();
                  return std::make_unique<int>(1);
                },
                [&]() -> std::string {
                  both.come();
                  throw std::runtime_error("g");
                });
          });
        },
        ThrowsMessage<std::runtime_error>("g"));
    meeting again;
    EXPECT_THAT(
        [&] {
          rt.run([&] {
            kith::join(
                [&]() -> int {
                  again.come();
                  throw std::runtime_error("f");
                },
                [&] {
                  again.come();
                  return std::string(1000, 'x');  // is dropped
                });
          });
        },
        ThrowsMessage<std::runtime_error>("f"));
  }
}

TEST(join, calls_nothing_of_the_program_s_namespace) {
  kith::runtime rt(make_options(2));
  EXPECT_EQ(rt.run([] {
    const auto [a, b] = kith::join(shop::count{}, shop::count{});
    kith::parallel_invoke(shop::count{}, shop::count{}, shop::count{});
    return a + b;
  }),
            2);
}

TEST(join, goes_deeper_than_what_a_stack_offers) {
  kith::runtime rt(make_options(2));
  const auto depth = [](auto& self, int left) -> int {
    if (left == 0) return 0;
    const auto [below, one] = kith::join([&] { return self(self, left - 1); }, [] { return 1; });
    return below + one;
  };
  const int most = sanitized ? 2'000 : 20'000;
  EXPECT_EQ(rt.run([&] { return depth(depth, most); }), most);
}

TEST(join, runs_the_halves_of_a_cancelled_task) {
  kith::runtime rt(make_options(2));
  int ran = 0;
  rt.run([&] {
    kith::group g;
    g.spawn([&] {
      g.cancel();
      kith::join([&] { EXPECT_TRUE(kith::cancelled()); }, [&] { EXPECT_TRUE(kith::cancelled()); });
      const auto [a, b] = kith::join([] { return 1; }, [] { return 2; });
      ran = a + b;
    });
    g.wait();
  });
  EXPECT_EQ(ran, 3);
}

TEST(join, tells_a_half_that_another_worker_runs_of_a_cancellation) {
  kith::runtime rt(make_options(2));
  rt.run([&] {
    kith::group g;
    g.spawn([&] {
      meeting both;
      kith::join(
          [&] {
            both.come();
            g.cancel();
          },
          [&] {
            both.come();
            while (!kith::cancelled()) std::this_thread::yield();
          });
    });
    g.wait();
  });
}

TEST(join, works_in_two_runtimes_at_a_time) {
  kith::runtime outer(make_options(2)), inner(make_options(2));
  EXPECT_EQ(outer.run([&] {
    const auto [a, b] = kith::join([&] { return inner.run([] { return fib(15); }) + fib(10); },
                                   [&] { return inner.run([] { return fib(12); }) + fib(11); });
    return a + b;
  }),
            610 + 55 + 144 + 89);
}

TEST(join, becomes_tasks_where_a_run_is_recorded) {
  const kith::test::scratch_file file;
  kith::runtime_options o = make_options(2);
  o.record = file.path();
  kith::runtime rt(o);
  EXPECT_EQ(rt.run([] { return fib(5); }), 5);
  EXPECT_EQ(rt.statistics().total.tasks, 7u);  // one for each call that joins
  EXPECT_EQ(rt.statistics().total.halves, 0u);
  EXPECT_THAT([&] { rt.run([] { kith::join([] {}, [] { throw std::runtime_error("g"); }); }); },
              ThrowsMessage<std::runtime_error>("g"));
  int ran = 0;
  rt.run([&] {
    kith::spawn([&] {
      kith::cancel();
      kith::join([] {}, [&] { ++ran; });
    });
  });
  EXPECT_EQ(ran, 1);
}

/// Its move throws if it is armed.
struct fragile {
  explicit fragile(bool a) : armed(a) {}
  fragile(fragile&& other) : armed(other.armed) {
    if (armed) throw std::runtime_error("moved");
  }
  bool armed;
};

TEST(join, ends_the_second_half_if_the_result_of_the_first_cannot_be_kept) {
  kith::runtime rt(make_options(2));
  std::atomic<int> ran{0};
  const int rounds = scaled(200);
  for (int round = 0; round < rounds; ++round) {
    const auto joins = [&] {
      kith::join([] { return fragile(true); },
                 [&] {
                   ++ran;
                   return fragile(false);
                 });
    };
    EXPECT_THAT([&] { rt.run(joins); }, ThrowsMessage<std::runtime_error>("moved"));
    EXPECT_EQ(ran, round + 1);
  }
}

/// What belongs to the running task belongs to both halves, also where these are tasks of their own.
TEST(join, lets_halves_fill_a_group_and_cancel_siblings) {
  const kith::test::scratch_file file;
  for (const bool recorded : {false, true}) {
    kith::runtime_options o = make_options(2);
    if (recorded) o.record = file.path();
    kith::runtime rt(o);
    std::atomic<int> ran{0};
    rt.run([&] {
      kith::group g;
      kith::join([&] { g.spawn([&] { ++ran; }); },
                 [&] { kith::join([&] { g.spawn([&] { ++ran; }); }, [&] { g.spawn([&] { ++ran; }); }); });
      g.wait();
    });
    EXPECT_EQ(ran, 3);
    rt.run([&] {
      int gate = 0;
      kith::spawn([](int&) { kith::join([] {}, [] { kith::cancel(); }); }, kith::inout(gate));
      for (int i = 0; i < 10; ++i) kith::spawn([&](int&) { ++ran; }, kith::inout(gate));
    });
    EXPECT_EQ(ran, 3);
  }
}

TEST(join, wakes_nobody_when_nothing_is_left) {
  kith::runtime_options o = make_options(3);
  o.spin = 0;
  kith::runtime rt(o);
  EXPECT_EQ(rt.run([] { return fib(20); }), 6765);
  const auto parks = [&] { return rt.statistics().total.parks; };
  // Each worker falls asleep soon. Then none wakes, so none falls asleep again.
  std::uint64_t asleep = parks();
  for (int calm = 0; calm < 10; ++calm) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (const std::uint64_t now = parks(); now != asleep) asleep = now, calm = 0;
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(parks(), asleep);
}

TEST(parallel_invoke, calls_each_function_once) {
  kith::runtime rt(make_options(3));
  rt.run([] {
    std::array<std::atomic<int>, 5> calls{};
    kith::parallel_invoke([&] { ++calls[0]; }, [&] { return ++calls[1]; }, [&] { ++calls[2]; }, [&] { ++calls[3]; },
                          [&] { ++calls[4]; });
    for (const auto& c : calls) EXPECT_EQ(c, 1);
    kith::parallel_invoke();
    kith::parallel_invoke([&] { ++calls[0]; });
    EXPECT_EQ(calls[0], 2);
    EXPECT_THAT(
        [&] {
          kith::parallel_invoke([] {}, [] { throw std::runtime_error("2"); }, [] { throw std::runtime_error("3"); });
        },
        ThrowsMessage<std::runtime_error>("2"));
  });
}

}  // namespace
