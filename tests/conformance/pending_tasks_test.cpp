// Tasks that wait for arguments, under every policy, and the errors of wrong deliveries.
#include "support/matrix.hpp"
#include "support/scale.hpp"

#include <kith/pending_tasks.hpp>

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using kith::test::scaled;
using testing::HasSubstr;
using testing::ThrowsMessage;

class pending : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};
};
KITH_FOR_ALL_POLICIES(pending);

// A graph without order of creation: tasks are scheduled before those that deliver to them, or after.
TEST_P(pending, tasks_of_a_random_graph_get_the_arguments_of_their_predecessors) {
  std::mt19937 random(7);
  for (int round = 0; round < scaled(5); ++round) {
    const std::size_t n = 1 + random() % 200;
    std::vector<std::vector<std::size_t>> before(n), after(n);
    for (std::size_t i = 1; i < n; ++i) {
      for (std::size_t d = random() % 4; d > 0; --d) before[i].push_back(random() % i);
      for (std::size_t b : before[i]) after[b].push_back(i);
    }
    std::vector<std::uint64_t> expected(n);
    for (std::size_t i = 0; i < n; ++i) {
      expected[i] = i + 1;
      for (std::size_t b : before[i]) expected[i] += 3 * expected[b];
    }
    std::vector<std::uint64_t> data(n);
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::shuffle(order.begin(), order.end(), random);
    rt.run([&] {
      kith::pending_tasks tasks;
      std::vector<kith::pending_task> of(n);
      std::vector<std::atomic<std::size_t>> next(n);  // the argument that the next predecessor delivers
      for (std::size_t i : order) {
        const auto body = [&, i](const kith::arguments& all) {
          std::uint64_t sum = i + 1;
          for (std::size_t a = 1; a < all.size(); ++a) sum += 3 * all.object<const std::uint64_t>(a);
          all.object<std::uint64_t>(0) = sum;
          for (std::size_t s : after[i]) of[s].deliver(1 + next[s]++, kith::in(data[i]));
        };
        of[i] = tasks.schedule(body, before[i].size() + 1, kith::name("node"));
      }
      std::shuffle(order.begin(), order.end(), random);
      for (std::size_t i : order) of[i].deliver(0, kith::inout(data[i]));
      tasks.wait();
    });
    EXPECT_EQ(data, expected);
  }
}

TEST_P(pending, tasks_schedule_others_and_pass_them_on) {
  std::atomic<std::uint64_t> sum{0};
  struct chain {
    kith::pending_tasks& tasks;
    std::atomic<std::uint64_t>& sum;
    void operator()(int left, double weight, kith::pending_task last) const {
      sum += static_cast<std::uint64_t>(weight);
      if (left == 0) return last.deliver(0, std::array<int, 2>{3, 4});
      const kith::pending_task next = tasks.schedule(*this);
      next.deliver(2, last);
      next.deliver(0, left - 1);
      next.deliver(1, weight + 1);
    }
  };
  int seen = 0;
  rt.run([&] {
    kith::pending_tasks tasks;
    for (int round = 0; round < 2; ++round) {
      const kith::pending_task last = tasks.schedule([&](std::array<int, 2> both) { seen += both[0] * both[1]; });
      tasks.schedule([&, last] { chain{tasks, sum}(50, 1, last); });
      tasks.wait();
    }
  });
  EXPECT_EQ(seen, 24);
  EXPECT_EQ(sum, 2 * 51 * 52 / 2);
}

TEST_P(pending, tasks_with_commutative_references_exclude_each_other) {
  std::uint64_t sum = 0;
  rt.run([&] {
    kith::pending_tasks tasks;
    for (int t = 0; t < 200; ++t) tasks.schedule([](std::uint64_t& x) { ++x; }).deliver(0, kith::commutative(sum));
    tasks.wait();
  });
  EXPECT_EQ(sum, 200U);
}

// The task may run, and its record be reused, while other deliverers learn that they are too late.
TEST_P(pending, of_several_deliveries_of_an_argument_one_is_taken) {
  constexpr int deliverers = 6, victims = 20;
  const int rounds = scaled(20);
  std::atomic<int> ran{0}, taken{0}, refused{0};
  rt.run([&] {
    for (int round = 0; round < rounds; ++round) {
      kith::pending_tasks tasks;
      std::vector<kith::pending_task> of(victims);
      for (kith::pending_task& t : of) t = tasks.schedule([&](int) { ++ran; });
      for (int d = 0; d < deliverers; ++d) {
        tasks.schedule([&] {
          for (const kith::pending_task& t : of) {
            try {
              t.deliver(0, 1);
              ++taken;
              tasks.schedule([](int) {}).deliver(0, 1);
            } catch (const kith::error&) {
              ++refused;
            }
          }
        });
      }
      tasks.wait();
    }
  });
  EXPECT_EQ(ran, rounds * victims);
  EXPECT_EQ(taken, rounds * victims);
  EXPECT_EQ(refused, rounds * victims * (deliverers - 1));
}

TEST_P(pending, tasks_are_cancelled_with_those_that_they_wait_for) {
  std::atomic<int> ran{0};
  rt.run([&] {
    kith::pending_tasks tasks;
    const kith::pending_task never = tasks.schedule([&](int) { ++ran; });
    tasks.schedule([] { kith::cancel(); });
    tasks.wait();  // no error: the delivery may be among what was skipped
    tasks.cancel();
    tasks.schedule([&](int) { ++ran; });
    tasks.wait();
    EXPECT_THAT([&] { never.deliver(0, 1); }, ThrowsMessage<kith::error>(HasSubstr("has ended, or was dropped")));
    tasks.schedule([&] { ++ran; });  // the store can be used again
    tasks.wait();
  });
  EXPECT_EQ(ran, 1);
}

TEST_P(pending, failures_come_before_missing_arguments) {
  rt.run([&] {
    kith::pending_tasks tasks;
    const auto held = std::make_shared<int>(1);
    const kith::pending_task never = tasks.schedule([held](int) {});
    tasks
        .schedule([never](int x) {
          if (x == 1) throw std::runtime_error("no number");
          never.deliver(0, x);
        })
        .deliver(0, 1);
    EXPECT_THAT([&] { tasks.wait(); }, ThrowsMessage<std::runtime_error>("no number"));
    EXPECT_EQ(held.use_count(), 1);  // the closure is destroyed
  });
}

TEST_P(pending, what_nobody_delivers_is_an_error_of_the_wait) {
  rt.run([&] {
    kith::pending_tasks tasks;
    for (int t = 0; t < 5; ++t) tasks.schedule([](int, double) {}, kith::name("axpy")).deliver(0, t);
    EXPECT_THAT([&] { tasks.wait(); },
                ThrowsMessage<kith::error>(testing::AllOf(HasSubstr("5 tasks miss arguments that no task is left to"),
                                                          HasSubstr("argument 1 of 'axpy', argument 1 of 'axpy'"))));
    tasks.wait();
  });
  EXPECT_THAT(
      [&] {
        rt.run([] {
          kith::pending_tasks tasks;
          static_cast<void>(tasks.schedule([](int) {}, kith::name("alone")));
        });
      },
      ThrowsMessage<kith::error>(
          HasSubstr("1 task misses arguments that no task is left to deliver: argument 0 of 'alone'")));
}

// Other tasks depend on the body's delivery, so it runs although its cost is known.
TEST(dry_pending_tasks, run) {
  kith::runtime_options o;
  o.dry = true;
  kith::runtime rt(o);
  int sum = 0;
  rt.run([&] {
    kith::pending_tasks tasks;
    const kith::pending_task add = tasks.schedule([&](int a, int b) { sum = a + b; }, kith::work{100});
    for (int n : {0, 1}) tasks.schedule([=] { add.deliver(static_cast<std::size_t>(n), 3 + n); }, kith::work{100});
    tasks.wait();
  });
  EXPECT_EQ(sum, 7);
}

TEST(wrong_deliveries, are_refused) {
  kith::runtime rt;
  rt.run([] {
    kith::pending_tasks tasks;
    const auto refused = [](const char* why, auto&& call) {
      EXPECT_THAT(call, ThrowsMessage<kith::error>(HasSubstr(why)));
    };
    const int fixed = 2;
    int free = 3;
    const kith::pending_task typed = tasks.schedule([](double, int& x, const int& y) { x += y; }, kith::name("typed"));
    refused("argument 0 of 'typed' is int, and its function takes double", [&] { typed.deliver(0, 1); });
    refused("argument 1 of 'typed' is int const*, and its function takes int*",
            [&] { typed.deliver(1, kith::in(free)); });
    refused("'typed' has no argument 3; expected one below 3", [&] { typed.deliver(3, 1); });
    refused("names no task", [] { kith::pending_task().deliver(0, 1); });
    typed.deliver(0, 1.0);
    refused("argument 0 of 'typed' was delivered before", [&] { typed.deliver(0, 1.0); });
    typed.deliver(2, kith::pass_through(kith::in(fixed)));
    std::thread([&] {
      refused("pending_task::deliver(): no task runs on this thread", [&] { typed.deliver(1, kith::inout(free)); });
      refused("pending_tasks::schedule(): no task runs on this thread", [&] { tasks.schedule([] {}); });
    }).join();
    kith::spawn([&] {
      refused("pending_task::deliver(): the running task neither made", [&] { typed.deliver(1, kith::inout(free)); });
      EXPECT_THAT([&] { tasks.wait(); }, ThrowsMessage<kith::error>(HasSubstr("did not make the group")));
    });
    kith::wait();
    typed.deliver(1, kith::inout(free));
    tasks.wait();
    EXPECT_EQ(free, 5);
    refused("has ended, or was dropped", [&] { typed.deliver(1, kith::inout(free)); });
    const kith::pending_task by_number = tasks.schedule(
        [&](const kith::arguments& all) {
          refused("there is no argument 1; the task has 1", [&] { static_cast<void>(all.value<int>(1)); });
          refused("argument 0 is int*, asked for as int", [&] { static_cast<void>(all.value<int>(0)); });
          refused("argument 0 is int*, asked for as double*", [&] { static_cast<void>(all.object<double>(0)); });
          EXPECT_EQ(all.object<const int>(0), 5);
        },
        1);
    by_number.deliver(0, kith::inout(free));
    tasks.wait();
    refused("70000 arguments; expected up to 65535", [&] { tasks.schedule([](const kith::arguments&) {}, 70000); });
  });
}

TEST(wrong_deliveries, have_no_place_outside_of_a_task) {
  EXPECT_THAT([] { kith::pending_tasks tasks; }, ThrowsMessage<kith::error>(HasSubstr("no task runs on this thread")));
}

}  // namespace
