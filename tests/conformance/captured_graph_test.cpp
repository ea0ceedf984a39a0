// Captured graphs under every policy: their results equal those of the serial program, run after run.
#include "support/matrix.hpp"
#include "support/scale.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using kith::test::scaled;

class captured_graphs : public testing::TestWithParam<kith::test::setup> {
 protected:
  kith::runtime rt{GetParam().options()};
};
KITH_FOR_ALL_POLICIES(captured_graphs);

/// Tasks that mix some cells into others, in all modes that have one result.
struct program {
  struct task {
    std::uint32_t writes, reads, also_reads;
    bool keeps;    // what it wrote before counts too
    bool creates;  // it leaves its work to tasks that it creates
  };
  explicit program(int tasks, unsigned seed) {
    std::mt19937 random(seed);
    const auto any = [&] { return static_cast<std::uint32_t>(random() % cells); };
    for (int i = 0; i < tasks; ++i) all.push_back({any(), any(), any(), random() % 3 != 0, random() % 8 == 0});
  }
  static void run(const task& t, std::uint64_t factor, std::vector<std::uint64_t>& values) {
    const std::uint64_t kept = t.keeps ? values[t.writes] : 1;
    values[t.writes] = (kept * 31 + values[t.reads] * factor + values[t.also_reads]) ^ (kept >> 7);
  }
  /// Calls spawn for each task of the program.
  void create(const std::uint64_t& factor, std::vector<std::uint64_t>& values) const {
    for (const task& t : all) {
      const auto work = [&t, &factor, &values] { run(t, factor, values); };
      const auto leave_it = [work] { kith::spawn([work] { kith::spawn(work); }); };
      kith::access_list uses;
      uses.add(kith::in(values[t.reads]));
      uses.add(kith::in(values[t.also_reads]));
      if (t.keeps) {
        uses.add(kith::inout(values[t.writes]));
      } else {
        uses.add(kith::out(values[t.writes]));
      }
      if (t.creates) {
        kith::spawn(leave_it, uses);
      } else {
        kith::spawn(work, uses);
      }
    }
  }
  static constexpr std::uint32_t cells = 40;
  std::vector<task> all;
};

TEST_P(captured_graphs, give_what_the_serial_program_gives) {
  const program p(scaled(400), 7);
  std::vector<std::uint64_t> values(program::cells, 3), expected = values;
  std::uint64_t factor = 1;
  kith::captured_graph g;
  for (int again = 0; again < 6; ++again) {
    rt.run([&] {
      if (again == 0) g.capture([&] { p.create(factor, values); });
      if (again == 4) g.place_again();
      g.run();
    });
    for (const program::task& t : p.all) program::run(t, factor, expected);
    ASSERT_EQ(values, expected) << "run " << again;
    ++factor;
  }
  EXPECT_EQ(g.nodes(), p.all.size());
}

TEST_P(captured_graphs, loops_whose_structure_changes_are_right) {
  std::vector<program> some;
  for (unsigned seed = 1; seed <= 3; ++seed) some.emplace_back(scaled(150), seed);
  some.push_back(some.back());
  some.back().all.resize(some.back().all.size() / 2);
  std::vector<std::uint64_t> values(program::cells, 5), expected = values, factors(15);
  std::iota(factors.begin(), factors.end(), 0u);
  const auto turn = [&](std::size_t i) -> const program& { return some[i / 3 % some.size()]; };  // each three times
  rt.run([&] { kith::repeat(15, [&](std::size_t i) { turn(i).create(factors[i], values); }); });
  for (std::size_t i = 0; i < 15; ++i) {
    for (const program::task& t : turn(i).all) program::run(t, i, expected);
  }
  EXPECT_EQ(values, expected);
}

/// A chain with a fan at each step: the failing node skips what comes after it.
TEST_P(captured_graphs, fail_and_run_again) {
  int chain = 0;
  std::atomic<int> others{0}, fails_at{-1};
  kith::captured_graph g;
  rt.run([&] {
    g.capture([&] {
      for (int i = 0; i < 20; ++i) {
        kith::spawn(
            [&, i] {
              if (fails_at == i) kith::spawn([i] { throw std::runtime_error("node " + std::to_string(i)); });
              if (fails_at == 100 + i) throw std::runtime_error("node " + std::to_string(i));
              ++chain;
            },
            kith::inout(chain));
        kith::spawn([&] { ++others; }, kith::in(chain));
      }
    });
    for (int at : {7, -1, 112, -1}) {
      chain = 0;
      others = 0;
      fails_at = at;
      if (at < 0) {
        g.run();
        EXPECT_EQ(chain, 20);
        EXPECT_EQ(others, 20);
      } else {
        EXPECT_THROW(g.run(), std::runtime_error);
        EXPECT_EQ(chain, at < 100 ? at + 1 : at - 100);
        EXPECT_LT(others, 20);
      }
    }
  });
}

TEST_P(captured_graphs, run_side_by_side_and_inside_each_other) {
  constexpr int graphs = 4, width = 30;
  std::vector<std::vector<int>> counts(graphs, std::vector<int>(width));
  std::vector<kith::captured_graph> all(graphs);
  kith::captured_graph outer;
  rt.run([&] {
    for (int i = 0; i < graphs; ++i) {
      all[static_cast<std::size_t>(i)].capture([&, i] {
        for (int& c : counts[static_cast<std::size_t>(i)]) {
          for (int k = 0; k < 4; ++k) kith::spawn([&c] { ++c; }, kith::inout(c));
        }
      });
    }
    outer.capture([&] {
      for (kith::captured_graph& g : all) kith::spawn([&g] { g.run(); });
    });
    for (kith::captured_graph& g : all) kith::spawn([&g] { g.run(); });
    kith::wait();
    for (int i = 0; i < 3; ++i) outer.run();
  });
  for (const std::vector<int>& c : counts) EXPECT_THAT(c, testing::Each(16));
}

/// Nodes wait for tasks, joins and futures of their own; the waits suspend stacks while others run.
TEST_P(captured_graphs, nodes_may_wait) {
  std::vector<std::uint64_t> results(12);
  kith::captured_graph g;
  rt.run([&] {
    g.capture([&] {
      for (std::uint64_t& r : results) {
        for (int k = 0; k < 3; ++k) {
          kith::spawn(
              [&r] {
                std::atomic<std::uint64_t> sum{0};
                for (int i = 0; i < 5; ++i) kith::spawn([&sum] { sum += 1; });
                kith::wait();
                kith::future<int> later = kith::async([] { return 10; });
                std::uint64_t left = 0, right = 0;
                kith::join([&left] { left = 100; }, [&right] { right = 200; });
                r += sum + static_cast<std::uint64_t>(later.get()) + left + right;
              },
              kith::inout(r));
        }
      }
    });
    for (int i = 0; i < 4; ++i) g.run();
  });
  EXPECT_THAT(results, testing::Each(4 * 3 * 315u));
}

TEST_P(captured_graphs, exclude_commutative_nodes) {
  int sum = 0;
  kith::captured_graph g;
  rt.run([&] {
    g.capture([&] {
      for (int i = 0; i < 60; ++i) kith::spawn([&sum] { ++sum; }, kith::commutative(sum));
    });
    for (int i = 0; i < 5; ++i) g.run();
  });
  EXPECT_EQ(sum, 300);
}

}  // namespace
