// Tasks that name an array, its tiles and their tiles, under every policy. Which tasks run before which,
// and which may overlap, is compared with the orders that each byte requires: natively, in the recording of
// the run, and in its simulation.
#include "support/matrix.hpp"
#include "support/nested_ranges.hpp"
#include "support/recordings.hpp"
#include "support/scale.hpp"

#include "engine/sim/simulation.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace {

using namespace kith;
using test::range_access;
using test::range_task;
using test::scaled;

access_list accesses_of(const range_task& t, std::vector<std::byte>& data) {
  access_list all;
  for (const range_access& a : t) {
    const std::span<std::byte> bytes(&data[a.of.begin], a.of.end - a.of.begin);
    switch (a.how) {
      case mode::in: all.add(in(bytes)); break;
      case mode::out: all.add(out(bytes)); break;
      case mode::inout: all.add(inout(bytes)); break;
      case mode::concurrent: all.add(concurrent(bytes)); break;
      case mode::commutative: all.add(commutative(bytes)); break;
    }
  }
  return all;
}

bool take_turns(const range_task& a, const range_task& b) {
  for (const range_access& x : a) {
    for (const range_access& y : b) {
      if (x.how == mode::commutative && y.how == mode::commutative && x.of == y.of) return true;
    }
  }
  return false;
}

struct program {
  program(std::vector<range_task> all, std::size_t size)
      : tasks(std::move(all)), bytes(size), before(test::orders_of(tasks, bytes)), turns(tasks.size()) {
    for (std::size_t t = 0; t < tasks.size(); ++t) {
      for (std::size_t b = 0; b < t; ++b) turns[t].push_back(take_turns(tasks[t], tasks[b]));
    }
  }
  std::vector<range_task> tasks;
  std::size_t bytes;
  std::vector<std::vector<bool>> before, turns;  // for each task, those created before it
};

/// All policies run the same programs. Finding the orders takes much longer than a run.
const program& random_program(std::uint64_t seed, std::size_t tasks) {
  static std::map<std::pair<std::uint64_t, std::size_t>, program> known;
  if (const auto found = known.find({seed, tasks}); found != known.end()) return found->second;
  const std::size_t bytes = 4 + seed % 40;
  program made(test::random_range_tasks(seed, tasks, bytes, 1 + static_cast<int>(seed % 4)), bytes);
  return known.emplace(std::pair(seed, tasks), std::move(made)).first->second;
}

/// Each task runs once, after all that must come before it, and alone where it takes turns. All times are
/// of one clock.
struct interval {
  std::uint64_t begun = 0, ended = 0;
};
void compare(const program& p, const std::vector<interval>& ran) {
  for (std::size_t t = 0; t < p.tasks.size(); ++t) {
    ASSERT_NE(ran[t].ended, 0u) << "task " << t;
    for (std::size_t b = 0; b < t; ++b) {
      const bool after = ran[t].begun >= ran[b].ended;
      if (p.before[t][b] && !after) FAIL() << t << " after " << b;
      if (p.turns[t][b] && !after && ran[b].begun < ran[t].ended) FAIL() << t << " beside " << b;
    }
  }
}

std::vector<interval> run(runtime& rt, const program& p) {
  std::vector<interval> ran(p.tasks.size());
  std::vector<std::byte> data(p.bytes);
  std::atomic<std::uint64_t> clock{1};
  rt.run([&] {
    for (std::size_t t = 0; t < p.tasks.size(); ++t) {
      spawn(
          [&, t] {
            ran[t].begun = clock.fetch_add(1);
            for (int pauses = 0; pauses < 20; ++pauses) clock.load();
            ran[t].ended = clock.fetch_add(1);
          },
          accesses_of(p.tasks[t], data));
    }
  });
  return ran;
}

class ranges : public testing::TestWithParam<test::setup> {};
KITH_FOR_ALL_POLICIES(ranges);

TEST_P(ranges, are_ordered_as_their_bytes) {
  runtime rt(GetParam().options());
  for (int seed = 0; seed < scaled(8); ++seed) {
    const program& p = random_program(static_cast<std::uint64_t>(seed), 120);
    compare(p, run(rt, p));
    if (HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST_P(ranges, an_array_after_its_tiles_and_tiles_after_the_array) {
  runtime rt(GetParam().options());
  constexpr std::size_t tiles = 40, tile = 25;
  std::vector<int> v(tiles * tile, 0);
  std::atomic<int> faults{0};
  rt.run([&] {
    for (int round = 0; round < scaled(10); ++round) {
      for (std::size_t t = 0; t < tiles; ++t)
        spawn(
            [](std::span<int> mine) {
              for (int& x : mine) ++x;
            },
            inout(&v[t * tile], tile));
      for (int reader = 0; reader < 5; ++reader) {
        spawn(
            [&, round](std::span<const int> all) {
              for (int x : all) faults += x != 2 * round + 1;
            },
            in(v));
      }
      spawn(
          [](std::span<int> all) {
            for (int& x : all) ++x;
          },
          inout(v));
      for (std::size_t t = 0; t < tiles; t += 3) {
        spawn(
            [&, round](std::span<const int> mine) {
              for (int x : mine) faults += x != 2 * round + 2;
            },
            in(&v[t * tile], tile));
      }
    }
  });
  EXPECT_EQ(faults, 0);
}

/// The recording has the same orders, whatever the run left out. So does its simulation.
TEST_P(ranges, in_recordings_and_their_simulation) {
  for (int seed = 0; seed < scaled(3); ++seed) {
    const program& p = random_program(100 + static_cast<std::uint64_t>(seed), 80);
    const recording r = test::record(GetParam().options(), [&](runtime& rt) { compare(p, run(rt, p)); });
    sim::run_options set;
    set.policy = GetParam().policy;
    set.workers = GetParam().workers;
    set.keep_schedule = true;
    const sim::result simulated = sim::simulate(sim::program_of(r), model_by_name("bullion-s16-8"), set);
    std::vector<std::size_t> at;  // of each task
    for (std::size_t i = 0; i < r.tasks.size(); ++i) {
      if (!r.tasks[i].has(recorded_task::fence) && !r.tasks[i].has(recorded_task::root)) at.push_back(i);
    }
    ASSERT_EQ(at.size(), p.tasks.size());
    std::vector<std::vector<bool>> before(r.tasks.size(), std::vector<bool>(r.tasks.size()));
    std::vector<bool> done(r.tasks.size());
    const std::function<void(std::size_t)> find =
        [&](std::size_t t) {  // a fence comes right after the task that asks for it
          if (done[t]) return;
          done[t] = true;
          for (std::uint64_t d = r.first_dependence[t]; d < r.first_dependence[t + 1]; ++d) {
            const auto b = static_cast<std::size_t>(r.dependences[d].before);
            find(b);
            before[t][b] = true;
            for (std::size_t c = 0; c < r.tasks.size(); ++c) {
              if (before[b][c]) before[t][c] = true;
            }
          }
        };
    for (std::size_t t = 0; t < at.size(); ++t) {
      find(at[t]);
      for (std::size_t b = 0; b < t; ++b) {
        if (before[at[t]][at[b]] != p.before[t][b]) FAIL() << "seed " << seed << ": " << b << " before " << t;
        if (!p.before[t][b]) continue;
        ASSERT_GE(simulated.schedule.tasks[at[t]].started, simulated.schedule.tasks[at[b]].ended);
      }
    }
  }
}

TEST_P(ranges, without_bytes_are_no_accesses) {
  runtime rt(GetParam().options());
  std::vector<int> v(100);
  std::atomic<int> ran{0};
  handle<int[]> nothing(v.data(), 0);
  rt.run([&] {
    spawn([&] { ++ran; }, out(v));
    spawn([&] { ++ran; }, in(&v[7], 0));
    spawn([&] { ++ran; }, commutative(&v[7], 0), inout(nothing));
    spawn([&](std::span<int> none) { ran += none.empty(); }, out(v.data(), 0));
    spawn([&] { ++ran; }, commutative(nothing), in(v));
  });
  EXPECT_EQ(ran, 5);
}

}  // namespace
