// Nested tasks, waits, groups, futures, loops and submissions from outside, under every policy.
#include "support/matrix.hpp"
#include "support/scale.hpp"

#include <pthread.h>
#include <atomic>
#include <memory>
#include <numeric>
#include <thread>

namespace {

using kith::test::scaled;

class structure : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};
};
KITH_FOR_ALL_POLICIES(structure);

long fib(int n) {
  if (n < 2) return n;
  long a = 0, b = 0;
  kith::spawn([&a, n] { a = fib(n - 1); });
  kith::spawn([&b, n] { b = fib(n - 2); });
  kith::wait();
  return a + b;
}

TEST_P(structure, recursion_with_waits) {
  EXPECT_EQ(rt.run([] { return fib(14); }), 377);
}

TEST_P(structure, a_task_ends_after_its_descendants) {
  std::atomic<int> ended{0};
  int seen = 0;
  rt.run([&] {
    int token = 0;
    kith::spawn(
        [&] {
          for (int i = 0; i < 10; ++i) {
            kith::spawn([&] {
              for (int k = 0; k < 10; ++k) kith::spawn([&] { ++ended; });
            });
          }
        },
        kith::out(token));
    kith::spawn([&] { seen = ended; }, kith::in(token));
    kith::wait();
  });
  EXPECT_EQ(seen, 100);
}

TEST_P(structure, dependences_among_nested_siblings) {
  std::vector<int> order;
  rt.run([&] {
    kith::spawn([&] {
      int x = 0;
      for (int i = 0; i < 50; ++i) kith::spawn([&order, i](int&) { order.push_back(i); }, kith::inout(x));
      kith::wait();
    });
  });
  std::vector<int> expected(50);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(structure, groups_are_waited_for_alone) {
  std::atomic<int> in_group{0};
  rt.run([&] {
    for (int round = 0; round < 20; ++round) {
      kith::group g;
      for (int i = 0; i < 10; ++i) g.spawn([&] { ++in_group; });
      g.wait();
      EXPECT_EQ(in_group, (round + 1) * 10);
    }
  });
}

TEST_P(structure, futures) {
  const int total = rt.run([] {
    std::vector<kith::future<int>> parts;
    for (int i = 0; i < 50; ++i) parts.push_back(kith::async([i] { return i; }));
    int sum = 0;
    for (auto& p : parts) sum += p.get();
    kith::future<std::string> text = kith::async([] { return std::string(100, 'x'); });
    kith::future<void> nothing = kith::async([] {});
    nothing.get();
    kith::future<std::unique_ptr<int>> only = kith::async([] { return std::make_unique<int>(7); });
    EXPECT_EQ(*only.take(), 7);
    EXPECT_FALSE(only.valid());
    return sum + static_cast<int>(text.get().size());
  });
  EXPECT_EQ(total, 1325);
}

TEST_P(structure, loops_and_reductions) {
  using kith::schedule;
  rt.run([&] {
    for (schedule how : {schedule{schedule::static_}, schedule{schedule::static_, 7}, schedule{schedule::dynamic, 3},
                         schedule{schedule::guided}, schedule{schedule::guided, 10},
                         schedule{schedule::dynamic, INT64_MAX}, schedule{schedule::static_, INT64_MAX}}) {
      for (std::int64_t count : {0, 1, 5, 1000}) {
        std::vector<std::atomic<int>> hits(static_cast<std::size_t>(count));
        kith::parallel_for(10, 10 + count, [&](std::int64_t i) { ++hits[static_cast<std::size_t>(i - 10)]; }, how);
        for (auto& h : hits) ASSERT_EQ(h, 1);
        const std::int64_t sum = kith::parallel_reduce(
            std::int64_t{0}, count, std::int64_t{0},
            [](std::int64_t from, std::int64_t to, std::int64_t acc) {
              for (std::int64_t i = from; i < to; ++i) acc += i;
              return acc;
            },
            [](std::int64_t a, std::int64_t b) { return a + b; }, how);
        ASSERT_EQ(sum, count * (count - 1) / 2);
        kith::parallel_for_chunks(
            -3, -3 + count,
            [count](std::int64_t from, std::int64_t to) {
              if (from < -3 || to > -3 + count || from >= to) ADD_FAILURE() << from << " to " << to << " of " << count;
            },
            how);
      }
    }
  });
}

TEST_P(structure, loops_that_cannot_be) {
  rt.run([] {
    const auto never = [](std::int64_t, std::int64_t) { ADD_FAILURE() << "called"; };
    kith::parallel_for_chunks(5, 2, never, {kith::schedule::static_, 4});
    EXPECT_THROW(kith::parallel_for_chunks(0, 1, never, {kith::schedule::dynamic, -1}), kith::error);
    EXPECT_THROW(kith::parallel_for_chunks(INT64_MIN, INT64_MAX, never), kith::error);
  });
}

TEST_P(structure, submissions_from_other_threads) {
  std::vector<int> cells(4);
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int th = 0; th < 3; ++th) {
    threads.emplace_back([&, th] {
      std::vector<kith::future<int>> results;
      for (int i = 0; i < scaled(60); ++i) {
        results.push_back(rt.submit(
            [&](int& c) {
              ++c;  // ordered by the access: no race
              ++done;
              return c;
            },
            kith::inout(cells[static_cast<std::size_t>((th + i) % 4)])));
      }
      for (auto& r : results) EXPECT_GT(r.get(), 0);
    });
  }
  const long during = rt.run([] { return fib(8); });
  for (std::thread& t : threads) t.join();
  rt.wait();
  EXPECT_EQ(during, 21);
  EXPECT_EQ(done, 3 * scaled(60));
  EXPECT_EQ(std::accumulate(cells.begin(), cells.end(), 0), 3 * scaled(60));
}

TEST_P(structure, runs_from_several_threads_and_from_tasks) {
  std::atomic<long> sum{0};
  std::vector<std::thread> threads;
  for (int th = 0; th < 3; ++th) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) sum += rt.run([&] { return rt.run([] { return fib(6); }); });
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(sum, 3 * 5 * 8);
}

TEST_P(structure, turns_at_data_are_taken_among_siblings) {
  int x = 0, y = 0;
  rt.run([&] {
    for (int i = 0; i < 10; ++i) {
      kith::spawn(
          [&x, &y](int& a) {
            ++a;
            for (int k = 0; k < 5; ++k) {  // the parent holds x's turn while they take theirs
              kith::spawn([](int& c, int& d) { ++c, ++d; }, kith::commutative(x), kith::commutative(y));
            }
          },
          kith::commutative(x));
    }
  });
  EXPECT_EQ(x, 60);
  EXPECT_EQ(y, 50);
}

TEST_P(structure, a_thread_with_little_stack) {
  std::atomic<long> result{0};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 192 * 1024);
  struct job {
    kith::runtime* rt;
    std::atomic<long>* result;
  } mine{&rt, &result};
  pthread_t thread;
  ASSERT_EQ(pthread_create(
                &thread, &attributes,
                [](void* p) -> void* {
                  const job& j = *static_cast<job*>(p);
                  j.rt->run([&] {
                    for (int i = 1; i <= 10; ++i) kith::spawn([&, i] { *j.result += i; });
                  });
                  return nullptr;
                },
                &mine),
            0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  EXPECT_EQ(result, 55);
}

TEST_P(structure, runs_that_come_back_through_another_runtime) {
  kith::runtime_options o = GetParam().options();
  o.workers = 1;
  kith::runtime other(o), alone(o);
  int sum = 0;
  alone.run([&] {
    kith::spawn([&] {
      other.run([&] {
        kith::spawn([&] {
          alone.run([&] {
            kith::spawn([&] { sum += 1; });
            kith::spawn([&] { sum += 1; });
          });
        });
      });
      sum += 10;
    });
  });
  EXPECT_EQ(sum, 12);
}

/// Waits nest deeply under a queue in the order of creation; no stack may overflow.
TEST_P(structure, many_waiting_tasks) {
  std::atomic<int> leaves{0};
  const int wide = scaled(2000);
  rt.run([&] {
    for (int i = 0; i < wide; ++i) {
      kith::spawn([&] {
        kith::spawn([&] { ++leaves; });
        kith::wait();
      });
    }
  });
  EXPECT_EQ(leaves, wide);
}

}  // namespace
