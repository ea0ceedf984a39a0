// Captured graphs: what is kept, detected and refused, and when a run creates tasks.
#include <kith/kith.hpp>
#include "support/workers.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace {

using kith::test::make_options;

/// The text of the error that f throws; "" if it throws none.
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const kith::error& e) {
    return e.what();
  }
  return "";
}

/// A chain of n tasks, and n readers of its end.
void chain_and_readers(int n, int& x, std::atomic<int>& read) {
  for (int i = 0; i < n; ++i) kith::spawn([&x] { ++x; }, kith::inout(x));
  for (int i = 0; i < n; ++i) kith::spawn([&x, &read] { read += x; }, kith::in(x));
}

TEST(captured_graph, has_the_nodes_and_edges_of_its_body) {
  kith::runtime rt(make_options(2));
  int x = 0;
  std::atomic<int> read{0};
  kith::captured_graph g;
  EXPECT_EQ(g.nodes(), 0u);
  rt.run([&] {
    g.run();  // nothing
    g.capture([&] { chain_and_readers(10, x, read); });
    EXPECT_EQ(x, 0);  // a capture runs nothing
    EXPECT_EQ(g.nodes(), 20u);
    EXPECT_EQ(g.edges(), 9u + 10u);
    g.run();
    EXPECT_EQ(x, 10);
    EXPECT_EQ(read, 100);
    g.run();
    EXPECT_EQ(x, 20);
    g.capture([] { kith::spawn([] {}); });
    EXPECT_EQ(g.nodes(), 1u);
    EXPECT_EQ(g.edges(), 0u);
  });
}

TEST(captured_graph, is_ordered_by_parts_and_wholes) {
  kith::runtime rt(make_options(2));
  std::vector<int> a(8);
  std::vector<int> order;
  kith::captured_graph g;
  rt.run([&] {
    g.capture([&] {
      for (int i = 0; i < 8; ++i)
        kith::spawn([&, i] { a[static_cast<std::size_t>(i)] += i; }, kith::inout(a[static_cast<std::size_t>(i)]));
      kith::spawn([&] { order.push_back(a[7]); }, kith::in(a));
      kith::spawn([&] { a[7] = 0; }, kith::out(a[7]));
    });
    for (int i = 0; i < 3; ++i) g.run();
  });
  EXPECT_THAT(order, testing::ElementsAre(7, 7, 7));
}

TEST(captured_graph, keeps_what_closures_hold_and_destroys_it_once) {
  kith::runtime rt(make_options(2));
  const auto held = std::make_shared<int>(0);
  std::atomic<int> last{0};
  {
    kith::captured_graph g;
    rt.run([&] {
      g.capture([&] {
        for (int i = 0; i < 5; ++i) kith::spawn([held, n = 0, &last]() mutable { last = ++n; });
      });
      EXPECT_EQ(held.use_count(), 6);
      for (int i = 1; i <= 3; ++i) {
        g.run();
        EXPECT_EQ(last, i);  // the closure keeps its value
      }
      EXPECT_EQ(held.use_count(), 6);
      g.repeat([&] {
        for (int i = 0; i < 5; ++i) kith::spawn([held, &last] { last = -1; });  // other functions: all are replaced
      });
      EXPECT_EQ(last, -1);
      EXPECT_EQ(held.use_count(), 6);
      g.repeat([&] {
        for (int i = 0; i < 2; ++i) kith::spawn([held, &last] { last = -1; });
      });
      EXPECT_EQ(held.use_count(), 3);
      kith::captured_graph moved(std::move(g));
      EXPECT_EQ(moved.nodes(), 2u);
      EXPECT_EQ(g.nodes(), 0u);
      g.capture([&] { kith::spawn([held] {}); });
      EXPECT_EQ(held.use_count(), 4);
    });
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(captured_graph, repeat_replaces_closures_and_says_what_has_changed) {
  kith::runtime rt(make_options(2));
  std::vector<int> a(4), b(4);
  kith::captured_graph g;
  const auto step = [&](int add, std::vector<int>& from, std::vector<int>& to) {
    return [&, add] {
      for (std::size_t i = 0; i < 4; ++i)
        kith::spawn([&from, &to, i, add] { to[i] = from[i] + add; }, kith::in(from[i]), kith::out(to[i]));
      for (std::size_t i = 0; i + 1 < 4; ++i)
        kith::spawn([&to, i] { to[i] += to[i + 1]; }, kith::inout(to[i]), kith::in(to[i + 1]));
    };
  };
  rt.run([&] {
    EXPECT_TRUE(g.repeat(step(1, a, b)));
    EXPECT_THAT(b, testing::ElementsAre(2, 2, 2, 1));
    EXPECT_FALSE(g.repeat(step(10, a, b)));
    EXPECT_THAT(b, testing::ElementsAre(20, 20, 20, 10));
    EXPECT_FALSE(g.repeat(step(1, b, a)));  // the same, with the arrays swapped
    EXPECT_THAT(a, testing::ElementsAre(42, 42, 32, 11));
    std::vector<int> elsewhere(4);
    EXPECT_FALSE(g.repeat(step(1, a, elsewhere)));  // with an array that was not there before
    EXPECT_THAT(elsewhere, testing::ElementsAre(86, 76, 45, 12));
    EXPECT_TRUE(g.repeat(step(1, a, a)));  // now a node reads what it writes: other edges
    EXPECT_THAT(a, testing::ElementsAre(86, 76, 45, 12));
  });
}

TEST(captured_graph, regions_that_come_to_overlap_are_noticed) {
  kith::runtime rt(make_options(2));
  std::vector<int> a(8);
  kith::captured_graph g;
  const auto two = [&](std::size_t first, std::size_t second) {
    return [&a, first, second] {
      kith::spawn([&a, first] { a[first] = 1; }, kith::out(&a[first], 2));
      kith::spawn([&a, second] { a[second] = 2; }, kith::out(&a[second], 1));
    };
  };
  rt.run([&] {
    EXPECT_TRUE(g.repeat(two(0, 4)));
    EXPECT_EQ(g.edges(), 0u);
    EXPECT_FALSE(g.repeat(two(2, 5)));
    EXPECT_EQ(g.edges(), 0u);
    EXPECT_TRUE(g.repeat(two(4, 5)));  // the second range lies in the first
    EXPECT_EQ(g.edges(), 1u);
    EXPECT_TRUE(g.repeat(two(0, 4)));  // the ranges are apart
    EXPECT_EQ(g.edges(), 0u);
    EXPECT_THAT(error_of([&] {
                  g.capture([&a] {
                    kith::spawn([] {}, kith::out(&a[0], 3));
                    kith::spawn([] {}, kith::out(&a[2], 3));
                  });
                }),
                testing::HasSubstr("crosses the range of an earlier one"));
    EXPECT_EQ(g.nodes(), 0u);
    EXPECT_TRUE(g.repeat(two(0, 4)));
  });
}

TEST(captured_graph, every_difference_is_noticed) {
  kith::runtime rt(make_options(2));
  int x = 0, y = 0;
  static const kith::task_type one("captured_one"), other("captured_other");
  const auto f = [] {};
  const std::vector<std::function<void()>> bodies{
      [&] { kith::spawn(f, kith::in(x)); },
      [&] { kith::spawn(f, kith::inout(x)); },
      [&] { kith::spawn(f, kith::in(x), kith::in(y)); },
      [&] { kith::spawn(f); },
      [&] { kith::spawn(f, one); },
      [&] { kith::spawn(f, other); },
      [&] { kith::spawn(f, kith::color{1}); },
      [&] { kith::spawn(f, kith::node{1}); },
      [&] { kith::spawn(f, kith::priority::high); },
      [&] { kith::spawn([&x] { ++x; }); },
      [&] { kith::spawn(f), kith::spawn(f); },
      [&] { kith::spawn(f, kith::after{kith::spawn(f)}); },
      [&] {},
  };
  rt.run([&] {
    kith::captured_graph g;
    for (const auto& before : bodies) {
      for (const auto& after : bodies) {
        g.capture(before);
        EXPECT_EQ(g.repeat(after), &before != &after || g.nodes() == 0)
            << &before - bodies.data() << " " << &after - bodies.data();
      }
    }
  });
}

TEST(captured_graph, joins_in_a_body_are_calls) {
  kith::runtime rt(make_options(3));
  int x = 0;
  kith::captured_graph g;
  rt.run([&] {
    for (int round = 0; round < 50; ++round) {
      x = 0;
      g.capture([&] {
        const std::function<void(int)> tree = [&](int depth) {
          if (depth == 0) return static_cast<void>(kith::spawn([&x] { ++x; }, kith::inout(x)));
          kith::join([&] { tree(depth - 1); }, [&] { tree(depth - 1); });
        };
        tree(6);
      });
      ASSERT_EQ(g.nodes(), 64u);
      EXPECT_EQ(x, 0);
      g.run();
      EXPECT_EQ(x, 64);
    }
    const auto [a, b] = kith::join([] { return 1; }, [] { return 2; });
    EXPECT_EQ(a + b, 3);
  });
}

TEST(captured_graph, a_structure_that_alternates_takes_no_more_memory) {
  kith::runtime rt(make_options(1));
  std::vector<const void*> places;
  const auto body = [&](int size) {
    return [&places, size] {
      if (size == 0) kith::spawn([&places, room = std::array<char, 50>()] { places.push_back(&room); });
      if (size == 1) kith::spawn([&places, room = std::array<char, 5000>()] { places.push_back(&room); });
    };
  };
  kith::captured_graph g;
  rt.run([&] {
    for (int i = 0; i < 100; ++i) g.repeat(body(i % 2));
  });
  ASSERT_EQ(places.size(), 100u);
  for (std::size_t i = 2; i < 100; ++i) EXPECT_EQ(places[i], places[i - 2]);
}

// On two nodes loops are dealt by tasks, on one by joins.
TEST(captured_graph, keeps_what_loops_in_its_body_create) {
  for (const char* machine : {"core:2", "node:2 core:1"}) {
    kith::runtime_options o = make_options(2);
    o.machine = machine;
    kith::runtime rt(o);
    std::array<std::atomic<int>, 100> runs{};
    int filled = 0;
    kith::captured_graph g;
    rt.run([&] {
      const auto body = [&](std::int64_t i) { kith::spawn([&, i] { ++runs.at(static_cast<std::size_t>(i)); }); };
      g.capture([&] {
        kith::parallel_for(0, 60, body, {kith::schedule::dynamic, 7});
        kith::parallel_for(60, 100, body, {kith::schedule::static_});
        filled = kith::parallel_reduce(
            0, 100, 0, [](std::int64_t from, std::int64_t to, int n) { return n + static_cast<int>(to - from); },
            [](int a, int b) { return a + b; });
      });
      EXPECT_EQ(g.nodes(), 100u);
      EXPECT_EQ(filled, 100);
      EXPECT_EQ(runs.front(), 0);
      g.run();
      g.run();
    });
    for (const std::atomic<int>& each : runs) EXPECT_EQ(each, 2);
  }
}

TEST(captured_graph, wrong_uses_are_refused) {
  kith::captured_graph g;
  EXPECT_THAT(error_of([&] { g.capture([] {}); }), testing::HasSubstr("no task runs on this thread"));
  EXPECT_THAT(error_of([&] { g.run(); }), testing::HasSubstr("no task runs on this thread"));
  kith::runtime rt(make_options(2));
  rt.run([&] {
    EXPECT_THAT(error_of([&] { g.capture([] { kith::spawn([] {}), kith::wait(); }); }),
                testing::HasSubstr("the body asks for kith::wait()"));
    EXPECT_EQ(g.nodes(), 0u);
    EXPECT_THAT(error_of([&] { g.capture([] { static_cast<void>(kith::async([] { return 1; })); }); }),
                testing::HasSubstr("the body asks for a task with a future"));
    EXPECT_THAT(error_of([&] { g.capture([] { const kith::group q; }); }),
                testing::HasSubstr("the body asks for a kith::group"));
    kith::group outer;
    EXPECT_THAT(error_of([&] { g.capture([&] { outer.spawn([] {}); }); }),
                testing::HasSubstr("the body asks for group::spawn()"));
    EXPECT_THAT(error_of([&] { g.capture([&] { outer.wait(); }); }),
                testing::HasSubstr("the body asks for group::wait()"));
    EXPECT_THAT(error_of([&] { g.capture([&] { kith::repeat(2, [] { ADD_FAILURE(); }); }); }),
                testing::HasSubstr("the body asks for captured_graph::repeat()"));
    kith::captured_graph other;
    other.capture([] { kith::spawn([] {}); });
    EXPECT_THAT(error_of([&] { g.capture([&] { other.run(); }); }),
                testing::HasSubstr("the body asks for captured_graph::run()"));
    kith::static_graph fixed;
    EXPECT_THAT(error_of([&] { g.capture([&] { fixed.run(); }); }),
                testing::HasSubstr("the body asks for static_graph::run()"));
    const kith::task_ref real = kith::spawn([] {});
    EXPECT_THAT(error_of([&] { g.capture([&] { kith::spawn([] {}, kith::after{real}); }); }),
                testing::HasSubstr("kith::after names a task that this execution of the body has not created"));
    kith::task_ref of_earlier;
    g.capture([&] { of_earlier = kith::spawn([] {}); });
    EXPECT_THAT(error_of([&] { g.capture([&] { kith::spawn([] {}, kith::after{of_earlier}); }); }),
                testing::HasSubstr("has not created"));
    kith::spawn([] {}, kith::after{of_earlier});  // to others it is a task that has ended
    kith::wait();

    g.capture([&] { kith::spawn([&] { g.run(); }); });
    EXPECT_THAT(error_of([&] { g.run(); }), testing::HasSubstr("the graph is running"));
    g.capture([&] { kith::spawn([&] { g.capture([] {}); }); });
    EXPECT_THAT(error_of([&] { g.run(); }), testing::HasSubstr("the graph is running"));
    EXPECT_THROW(g.capture([&] {
      kith::spawn([] {});
      throw 5;
    }),
                 int);
    EXPECT_EQ(g.nodes(), 0u);
    EXPECT_TRUE(g.repeat([] { kith::spawn([] {}); }));
    // A closure that cannot be copied into the graph: the task is not kept, and the scope is as before.
    struct throws {
      throws() = default;
      throws(const throws&) { throw 6; }
      void operator()() const {}
    };
    const throws t;
    EXPECT_THROW(g.repeat([&] { kith::spawn(t); }), int);
    EXPECT_EQ(g.nodes(), 0u);
    kith::spawn([] {});
    kith::wait();
  });
}

TEST(captured_graph, cancel_skips_the_rest_without_an_error) {
  kith::runtime rt(make_options(2));
  int x = 0;
  kith::captured_graph g;
  rt.run([&] {
    g.capture([&] {
      for (int i = 0; i < 10; ++i) {
        kith::spawn(
            [&x] {
              if (++x == 3) kith::cancel();
            },
            kith::inout(x));
      }
    });
    g.run();
    EXPECT_EQ(x, 3);
    EXPECT_FALSE(kith::cancelled());
    g.run();
    EXPECT_EQ(x, 13);
  });
}

/// A run by arrays queues nothing. The other runs create a task for each node, so that observers of tasks see all.
TEST(captured_graph, tasks_are_made_where_they_must_be) {
  std::atomic<int> ran{0};
  const auto queued_by = [&](kith::runtime& rt, kith::captured_graph& g) {
    rt.reset_statistics();
    rt.run([&] { g.run(); });
    const kith::statistics s = rt.statistics();
    EXPECT_EQ(s.total.tasks, 10u);
    return s.total.deque_samples;  // `ads` takes one at each push
  };
  const auto fill = [&](kith::runtime& rt, kith::captured_graph& g, kith::priority p) {
    rt.run([&] {
      g.capture([&] {
        for (int i = 0; i < 10; ++i) kith::spawn([&] { ++ran; }, p);
      });
    });
  };
  {
    kith::runtime rt(make_options(2, "ads"));
    kith::captured_graph plain, urgent;
    fill(rt, plain, kith::priority::normal);
    EXPECT_EQ(queued_by(rt, plain), 0u);
    fill(rt, urgent, kith::priority::high);
    EXPECT_GT(queued_by(rt, urgent), 0u);
    EXPECT_GT(queued_by(rt, urgent), 0u);
  }
  {
    kith::runtime rt(make_options(4, "ads", "node:2 core:2"));
    kith::runtime other(make_options(4, "ads", "node:2 core:2"));
    kith::captured_graph g;
    fill(rt, g, kith::priority::normal);
    EXPECT_GT(queued_by(rt, g), 0u);  // the first one places the nodes
    EXPECT_EQ(queued_by(rt, g), 0u);
    EXPECT_EQ(queued_by(rt, g), 0u);
    EXPECT_GT(queued_by(other, g), 0u);  // homes are those of a runtime
    EXPECT_EQ(queued_by(other, g), 0u);
    g.place_again();
    EXPECT_GT(queued_by(other, g), 0u);
  }
  EXPECT_EQ(ran, 90);
}

TEST(captured_graph, many_short_runs_begin_and_end) {
  for (int workers : {1, 2, 3}) {
    kith::runtime rt(make_options(workers));
    std::atomic<int> ran{0};
    kith::captured_graph g;
    rt.run([&] {
      g.capture([&] {
        for (int i = 0; i < 3; ++i) kith::spawn([&] { ++ran; });
      });
      for (int i = 0; i < 3000; ++i) g.run();
    });
    EXPECT_EQ(ran, 9000) << workers;
  }
}

TEST(captured_graph, many_sources_and_many_successors) {
  kith::runtime rt(make_options(2));
  constexpr int width = 20'000;
  int x = 0;
  std::atomic<int> ran{0};
  kith::captured_graph g;
  rt.run([&] {
    g.capture([&] {
      for (int i = 0; i < width; ++i) kith::spawn([&] { ran.fetch_add(1, std::memory_order_relaxed); }, kith::in(x));
      kith::spawn([&] { x = ran; }, kith::out(x));
      for (int i = 0; i < width; ++i) kith::spawn([&] { ran.fetch_add(1, std::memory_order_relaxed); }, kith::in(x));
    });
    for (int i = 1; i <= 3; ++i) {
      ran = 0;
      g.run();
      EXPECT_EQ(x, width);
      EXPECT_EQ(ran, 2 * width);
    }
  });
}

TEST(captured_graph, does_not_run_while_it_is_captured) {
  kith::runtime rt(make_options(1));
  rt.run([] {
    kith::captured_graph g;
    EXPECT_THROW(g.capture([&] { g.run(); }), kith::error);
  });
}

}  // namespace
