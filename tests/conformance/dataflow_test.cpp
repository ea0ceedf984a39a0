// Random data-flow programs under every policy, against the same programs run serially.
//
// Properties: each task runs exactly once; a task reads what it would have read in the sequential program; tasks
// with conflicting accesses never overlap; concurrent tasks may overlap; commutative tasks exclude each other.
#include "support/matrix.hpp"
#include "support/scale.hpp"

#include "base/rng.hpp"

#include <gmock/gmock.h>

#include <array>
#include <atomic>

namespace {

using kith::mode;
using kith::test::sanitized;
using kith::test::scaled;

struct cell_access {
  std::size_t cell;
  mode how;
};
struct flow {
  std::vector<std::vector<cell_access>> tasks;
  std::size_t cells;
};

flow random_flow(std::uint64_t seed, std::size_t tasks, std::size_t cells, bool groups) {
  kith::rng random(seed, kith::purpose::test, 0);
  flow p{{}, cells};
  for (std::size_t t = 0; t < tasks; ++t) {
    std::vector<cell_access> ops;
    const std::uint32_t accesses = random.below(16) == 0 ? 12 : random.below(4);  // 12: not all fit the task's slot
    for (std::uint32_t a = 0; a < accesses; ++a) {
      const std::size_t cell = random.below(static_cast<std::uint32_t>(cells));
      bool repeated = false;
      for (const cell_access& o : ops) repeated |= o.cell == cell;
      if (!repeated) ops.push_back({cell, static_cast<mode>(random.below(groups ? 5 : 3))});
    }
    p.tasks.push_back(std::move(ops));
  }
  return p;
}

/// The contents of a cell. Updates of groups commute (addition), so that any order within a group gives the
/// same value.
struct alignas(64) cell {
  std::uint64_t value = 0;
  std::atomic<std::uint64_t> sum{0};  // for concurrent tasks
  std::atomic<int> writers{0}, readers{0}, together{0}, in_turn{0};

  /// The number of tasks of this kind that are between entering and leaving.
  std::atomic<int>& inside(mode how) {
    switch (how) {
      case mode::in: return readers;
      case mode::concurrent: return together;
      case mode::commutative: return in_turn;
      default: return writers;
    }
  }
};

/// Runs the task's body. Returns a digest of what it read.
std::uint64_t body(std::vector<cell>& cells, const std::vector<cell_access>& ops, std::size_t id,
                   std::atomic<int>* faults) {
  std::uint64_t digest = kith::mix(id);
  for (const cell_access& o : ops) {
    cell& c = cells[o.cell];
    if (faults != nullptr) {
      std::atomic<int>& mine = c.inside(o.how);
      const bool alone = o.how != mode::in && o.how != mode::concurrent;
      if (mine.fetch_add(1) != 0 && alone) ++*faults;
      for (std::atomic<int>* other : {&c.readers, &c.together, &c.in_turn, &c.writers}) {
        if (other != &mine && *other != 0) ++*faults;
      }
    }
    if (o.how == mode::in || o.how == mode::inout) digest = kith::mix(digest ^ c.value ^ c.sum.load());
  }
  for (const cell_access& o : ops) {
    cell& c = cells[o.cell];
    switch (o.how) {
      case mode::in: break;
      case mode::out:
        c.value = kith::mix(id);
        c.sum = 0;
        break;
      case mode::inout: c.value = digest; break;
      case mode::concurrent: c.sum.fetch_add(kith::mix(id)); break;
      case mode::commutative: c.value += kith::mix(id); break;
    }
    if (faults != nullptr) c.inside(o.how).fetch_sub(1);
  }
  return digest;
}

std::vector<std::uint64_t> serial(const flow& p) {
  std::vector<cell> cells(p.cells);
  std::vector<std::uint64_t> digests;
  for (std::size_t t = 0; t < p.tasks.size(); ++t) digests.push_back(body(cells, p.tasks[t], t, nullptr));
  for (const cell& c : cells) digests.push_back(c.value ^ c.sum.load());
  return digests;
}

class dataflow : public testing::TestWithParam<kith::test::setup> {};
KITH_FOR_ALL_POLICIES(dataflow);

/// `handles`: data is named by handles, else by addresses.
void check(kith::runtime& rt, const flow& p, bool handles) {
  std::vector<cell> cells(p.cells);
  std::vector<kith::handle<cell>> names;
  for (cell& c : cells) names.emplace_back(c);
  std::vector<std::uint64_t> digests(p.tasks.size());
  std::vector<std::atomic<int>> ran(p.tasks.size());
  std::atomic<int> faults{0};
  rt.run([&] {
    for (std::size_t t = 0; t < p.tasks.size(); ++t) {
      kith::access_list accesses;
      for (const cell_access& o : p.tasks[t]) {
        auto add = [&](const auto& maker) {
          if (handles) {
            accesses.add(maker(names[o.cell]));
          } else {
            accesses.add(maker(cells[o.cell]));
          }
        };
        switch (o.how) {
          case mode::in: add(kith::in); break;
          case mode::out: add(kith::out); break;
          case mode::inout: add(kith::inout); break;
          case mode::concurrent: add(kith::concurrent); break;
          case mode::commutative: add(kith::commutative); break;
        }
      }
      kith::spawn(
          [&, t] {
            ++ran[t];
            digests[t] = body(cells, p.tasks[t], t, &faults);
          },
          accesses);
    }
  });
  for (const cell& c : cells) digests.push_back(c.value ^ c.sum.load());
  for (std::size_t t = 0; t < ran.size(); ++t) ASSERT_EQ(ran[t], 1) << "task " << t;
  EXPECT_EQ(faults, 0);
  EXPECT_EQ(digests, serial(p));
}

TEST_P(dataflow, equals_the_sequential_program) {
  kith::runtime rt(GetParam().options());
  for (int seed = 0; seed < scaled(sanitized ? 2 : 6); ++seed) {
    const auto s = static_cast<std::uint64_t>(seed);
    check(rt, random_flow(s, 400, 1 + s % 3 * 12, false), seed % 2 == 0);
    check(rt, random_flow(s, 300, 1 + s % 3 * 7, true), seed % 2 == 1);
  }
}

TEST_P(dataflow, wide_fan_in_and_fan_out) {
  kith::runtime rt(GetParam().options());
  std::vector<int> cells(300);
  int root = 0;
  std::uint64_t sum = 0;
  rt.run([&] {
    kith::spawn([](int& r) { r = 7; }, kith::out(root));
    for (int& c : cells) kith::spawn([](const int& r, int& mine) { mine = r; }, kith::in(root), kith::out(c));
    kith::access_list all;
    for (int& c : cells) all.add(kith::in(c));
    kith::spawn(
        [&] {
          for (int c : cells) sum += static_cast<std::uint64_t>(c);
        },
        all);
    kith::spawn([](int& r) { r = 0; }, kith::out(root));  // after 300 readers
  });
  EXPECT_EQ(sum, 7u * cells.size());
  EXPECT_EQ(root, 0);
}

/// Writers of a region wait for its readers, whatever their number, and whatever else they name before it or after it.
TEST_P(dataflow, writers_follow_any_number_of_readers) {
  kith::runtime rt(GetParam().options());
  constexpr std::size_t most = 24;
  std::vector<int> others(6);
  int version = 0;
  std::atomic<std::size_t> read{0};
  std::atomic<int> faults{0};
  rt.run([&] {
    kith::handle<int> named(version);
    for (int round = 0; round < scaled(sanitized ? 100 : 400); ++round) {
      const std::size_t readers = static_cast<std::size_t>(round) % most;
      const auto looks = [&, round](int seen) {
        faults += seen != round;
        ++read;
      };
      for (std::size_t i = 0; i < readers; ++i) {
        if (round % 3 == 0) {
          kith::spawn(looks, kith::concurrent(named));
        } else {
          kith::spawn(looks, kith::in(named));
        }
      }
      kith::access_list accesses;
      const std::size_t before = static_cast<std::size_t>(round) % 7, after = static_cast<std::size_t>(round) % 5;
      for (std::size_t i = 0; i < before; ++i) accesses.add(kith::inout(others[i]));
      accesses.add(kith::inout(named));
      for (std::size_t i = before; i < std::min(before + after, others.size()); ++i) accesses.add(kith::in(others[i]));
      kith::spawn(
          [&, readers] {
            faults += read.exchange(0) != readers;
            ++version;
          },
          accesses);
    }
  });
  EXPECT_EQ(faults, 0);
}

TEST_P(dataflow, explicit_edges) {
  kith::runtime rt(GetParam().options());
  std::atomic<int> step{0};
  std::atomic<int> faults{0};
  rt.run([&] {
    kith::task_ref last;
    for (int i = 0; i < scaled(500); ++i) {
      last = kith::spawn([&, i] { faults += step.fetch_add(1) != i; }, kith::after{last});
    }
  });
  EXPECT_EQ(faults, 0);
}

/// Path counts of a random DAG (Nabbit's micro-benchmark): their sum does not depend on the schedule.
TEST_P(dataflow, path_counts_of_random_dags) {
  kith::runtime rt(GetParam().options());
  for (int seed = 0; seed < scaled(sanitized ? 1 : 4); ++seed) {
    kith::rng random(static_cast<std::uint64_t>(seed), kith::purpose::test, 1);
    const std::size_t nodes = 200;
    std::vector<std::vector<std::size_t>> before(nodes);
    for (std::size_t n = 1; n < nodes; ++n) {
      for (std::uint32_t d = 0; d <= random.below(5); ++d)
        before[n].push_back(random.below(static_cast<std::uint32_t>(n)));
    }
    auto count = [&](std::vector<std::uint64_t>& paths, std::size_t n) {
      paths[n] = n == 0;
      for (std::size_t b : before[n]) paths[n] += paths[b];
    };
    std::vector<std::uint64_t> expected(nodes), paths(nodes);
    for (std::size_t n = 0; n < nodes; ++n) count(expected, n);
    rt.run([&] {
      for (std::size_t n = 0; n < nodes; ++n) {
        kith::access_list accesses;
        for (std::size_t b : before[n]) accesses.add(kith::in(paths[b]));
        accesses.add(kith::out(paths[n]));
        kith::spawn([&, n] { count(paths, n); }, accesses);
      }
    });
    EXPECT_EQ(paths, expected);
  }
}

TEST_P(dataflow, a_task_may_name_a_region_in_several_ways) {
  kith::runtime rt(GetParam().options());
  int x = 0;
  std::atomic<int> ran{0};
  rt.run([&] {
    for (int t = 0; t < 20; ++t) {
      spawn([&] { ++ran; }, kith::in(x));
      spawn([&] { ++ran; }, kith::in(x), kith::concurrent(x));
      spawn([&] { ++ran; }, kith::concurrent(x), kith::commutative(x), kith::in(x));
      spawn([&] { ++ran; }, kith::in(x), kith::out(x));
    }
    kith::wait();
  });
  EXPECT_EQ(ran, 80);
}

/// One of the scopes keeps the handle's state; the others order their tasks by its address.
TEST_P(dataflow, tasks_are_in_order_in_each_of_several_scopes_that_name_a_handle_first_at_once) {
  constexpr int scopes = 4, steps = 3;
  kith::runtime rt(GetParam().options());
  for (int round = 0; round < scaled(20); ++round) {
    std::array<int, 8> data{};
    std::vector<kith::handle<int>> names;
    for (int& d : data) names.emplace_back(d);
    std::array<std::array<int, 8>, scopes> done{};
    std::atomic<int> faults{0};
    rt.run([&] {
      for (int s = 0; s < scopes; ++s) {
        kith::spawn([&, s] {
          for (int step = 0; step < steps; ++step) {
            for (std::size_t n = 0; n < names.size(); ++n)
              kith::spawn([&, s, step, n] { faults += done[static_cast<std::size_t>(s)][n]++ != step; },
                          kith::inout(names[n]));
          }
          kith::wait();
        });
      }
    });
    EXPECT_EQ(faults, 0);
    for (const auto& of_scope : done) EXPECT_THAT(of_scope, testing::Each(steps));
  }
}

}  // namespace
