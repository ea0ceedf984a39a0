// Recordings: a recording shows what the run did; files that are no recordings are refused.
#include "support/recordings.hpp"

#include "base/rng.hpp"
#include "recording/siblings.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace kith;
using kith::test::record;
using kith::test::scratch_file;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::int32_t> before(const recording& r, std::size_t t) {
  std::vector<std::int32_t> all;
  for (std::uint64_t d = r.first_dependence[t]; d < r.first_dependence[t + 1]; ++d)
    all.push_back(r.dependences[d].before);
  return all;
}

TEST(recording, has_tasks_that_follow_others_with_their_edges) {
  static const task_type last{"last"};
  const recording r = record(test::make_options(2, "fifo"), [&](runtime& rt) {
    rt.run([&] {
      const future<int> a = async([] { return 1; }), b = async([] { return 2; });
      EXPECT_EQ(when_all(a, b).then([](int x, int y) { return x + y; }, last).get(), 3);
    });
  });
  ASSERT_EQ(r.tasks.size(), 5u);
  EXPECT_EQ(r.types[r.tasks[3].type], "when_all");
  EXPECT_EQ(before(r, 3), (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(r.types[r.tasks[4].type], "last");
  EXPECT_EQ(before(r, 4), std::vector<std::int32_t>{3});
}

TEST(recording, has_tasks_accesses_and_dependences_as_declared) {
  static const task_type first{"first"}, second{"second"};
  int x = 0, y[100] = {};
  const recording r = record(test::make_options(2, "fifo"), [&](runtime& rt) {
    rt.mark("begin");
    rt.run([&] {
      spawn([&] { x = 1; }, first, out(x), kith::color{3}, node{1}, priority::high);
      spawn([&] { y[0] = x; }, second, in(x), out(y, 100), work{500});
      spawn([&] { x = y[0]; }, second, inout(x), in(y, 100).touching(8));
      wait();
    });
  });
  ASSERT_EQ(r.tasks.size(), 4u);
  EXPECT_TRUE(r.tasks[0].has(recorded_task::root));
  for (std::size_t t = 1; t < 4; ++t) {
    EXPECT_EQ(r.tasks[t].creator, 0);
    EXPECT_GE(r.tasks[t].started, r.tasks[t].created);
    EXPECT_GE(r.tasks[t].ended, r.tasks[t].started);
    EXPECT_GE(r.tasks[t].started, r.tasks[t].ready);
  }
  EXPECT_EQ(r.types[r.tasks[1].type], "first");
  EXPECT_EQ(r.types[r.tasks[2].type], "second");
  EXPECT_EQ(r.tasks[1].color, 3);
  EXPECT_EQ(r.tasks[1].node, 1);
  EXPECT_EQ(r.tasks[1].priority, 1);
  EXPECT_EQ(before(r, 1), std::vector<std::int32_t>{});
  EXPECT_EQ(before(r, 2), std::vector<std::int32_t>{1});
  EXPECT_EQ(before(r, 3), (std::vector<std::int32_t>{2, 2}));
  ASSERT_EQ(r.regions.size(), 2u);
  EXPECT_EQ(r.regions[1].bytes, sizeof y);
  EXPECT_EQ(r.accesses[r.first_access[3] + 1].bytes, sizeof y);
  EXPECT_EQ(r.accesses[r.first_access[3] + 1].touched, 8u);
  ASSERT_EQ(r.waits.size(), 1u);
  EXPECT_EQ(r.waits[0].task, 0);
  ASSERT_EQ(r.marks.size(), 1u);
  EXPECT_EQ(r.marks[0].name, "begin");
  EXPECT_EQ(r.meta.at("policy"), "fifo");
}

TEST(recording, counts_a_region_once_that_a_task_names_twice) {
  static char x[100];
  const recording r = record(test::make_options(1, "fifo"), [&](runtime& rt) {
    rt.run([&] {
      spawn([] {}, inout(x, 100).touching(60), in(x, 100).touching(70));
      spawn([] {}, inout(x, 100));
      spawn([] {}, in(x, 100), out(x, 100));
      wait();
      spawn([] {}, in(x, 40), out(x, 80));  // of the same region: it begins there
      wait();
    });
  });
  const auto rows = [&](std::size_t t) {
    std::vector<std::tuple<int, std::uint64_t, std::uint64_t>> all;
    for (std::uint64_t a = r.first_access[t]; a < r.first_access[t + 1]; ++a)
      all.emplace_back(r.accesses[a].mode, r.accesses[a].bytes, r.accesses[a].touched);
    return all;
  };
  using testing::ElementsAre;
  ASSERT_EQ(r.tasks.size(), 5u);
  EXPECT_THAT(rows(1), ElementsAre(std::tuple(2, 100, 70), std::tuple(0, 0, 0)));
  EXPECT_THAT(rows(3), ElementsAre(std::tuple(2, 100, 100), std::tuple(1, 0, 0)));
  EXPECT_THAT(rows(4), ElementsAre(std::tuple(2, 80, 80), std::tuple(1, 0, 0)));
  // The first task wrote what the second reads, although it is one of its readers, too.
  ASSERT_EQ(before(r, 2), std::vector<std::int32_t>{1});
  EXPECT_EQ(r.dependences[r.first_dependence[2]].bytes, 100u);
}

TEST(recording, keeps_what_keyed_nodes_need) {
  struct chain {
    using key = int;
    void predecessors(int k, keys<int>& all) {
      if (k > 0) all.add(k - 1);
      if (k > 1) all.add(k - 2);
    }
    void compute(int) {}
    int color(int k) const { return k; }
    double cost(int) const { return 1000; }
  } g;
  const recording r = record(test::make_options(2, "nabbitc"), [&](runtime& rt) { rt.run([&] { explore(g, 9); }); });
  ASSERT_EQ(r.tasks.size(), 11u);
  int discovered = 0;
  for (std::size_t t = 1; t < r.tasks.size(); ++t) {
    EXPECT_TRUE(r.tasks[t].has(recorded_task::keyed));
    discovered += r.tasks[t].has(recorded_task::discovered);
    const int key = r.tasks[t].color;
    EXPECT_EQ(before(r, t).size(), static_cast<std::size_t>(std::min(key, 2)));
    for (std::int32_t p : before(r, t)) EXPECT_LT(r.tasks[static_cast<std::size_t>(p)].color, key);
    EXPECT_GE(r.tasks[t].explore_ended, r.tasks[t].explore_started);
  }
  EXPECT_EQ(discovered, 9);
}

/// All nodes are found before one computes. A node that needs nothing is ready at that time, and the graph
/// is waited for twice.
TEST(recording, nodes_with_values_are_ready_when_all_are_found) {
  struct fan {
    using key = int;
    using value = int;
    void predecessors(int k, keys<int>& all) {
      for (int p = 1; k == 0 && p < 10; ++p) all.add(p);
    }
    int compute(int k, values<int> from) { return from.empty() ? k : from.back(); }
  } g;
  const recording r = record(test::make_options(2, "fifo"), [&](runtime& rt) { rt.run([&] { explore(g, 0); }); });
  ASSERT_EQ(r.tasks.size(), 11u);
  ASSERT_EQ(r.waits.size(), 2u);
  EXPECT_EQ(r.waits[0].scope, r.waits[1].scope);
  for (std::size_t t = 1; t < r.tasks.size(); ++t) {
    EXPECT_TRUE(r.tasks[t].has(recorded_task::keyed));
    for (const recorded_task& other : r.tasks) EXPECT_GE(r.tasks[t].ready, other.explore_ended);
    EXPECT_GE(r.tasks[t].started, r.tasks[t].ready);
  }
}

TEST(recording, leaves_out_what_ran_on_top_of_a_waiting_task) {
  const auto spin = [](std::uint64_t ns) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);
    while (std::chrono::steady_clock::now() < until) {
    }
  };
  const recording r = record(test::make_options(1, "steal"), [&](runtime& rt) {
    rt.run([&] {
      spawn([&] {
        for (int i = 0; i < 4; ++i) spawn([&] { spin(3'000'000); });
        spin(1'000'000);
        wait();
      });
      wait();
    });
  });
  const recorded_task& parent = r.tasks[1];
  EXPECT_GE(parent.ended - parent.started, 13'000'000u);
  EXPECT_GE(parent.work_ns, 1'000'000u);
  std::uint64_t on_top = 0;
  for (std::size_t t = 2; t < 6; ++t) on_top += r.tasks[t].ended - r.tasks[t].started;
  EXPECT_GE(on_top, 12'000'000u);
  EXPECT_LE(parent.work_ns + on_top, parent.ended - parent.started);
}

TEST(recording, of_a_dry_run_has_the_costs_that_were_named_and_runs_nothing) {
  int ran = 0;
  const recording r = record(test::make_dry_options(1, "steal"), [&](runtime& rt) {
    EXPECT_TRUE(rt.dry());
    rt.run([&] {
      spawn([&] { ++ran; }, work{12345});
      wait();
    });
    EXPECT_EQ(rt.statistics().total.tasks, 1u);
  });
  EXPECT_EQ(ran, 0);
  EXPECT_EQ(r.tasks[1].work_ns, 12345u);
  EXPECT_FALSE(r.tasks[1].has(recorded_task::skipped));
}

/// The closure allocates while the lock on creating from outside is held.
TEST(recording, of_a_task_whose_closure_allocates_when_it_is_moved) {
  const recording r = record(test::make_options(2, "fifo"), [](runtime& rt) {
    const allocation_scope here(rt);
    const std::vector<double, kith::allocator<double>> values(1000, 1.0);  // captured as const: moved by copying
    EXPECT_EQ(rt.submit([values] { return values.size(); }).get(), 1000u);
    rt.mark("done");
  });
  EXPECT_GE(r.allocations.size(), 2u);
  for (const recorded_allocation& a : r.allocations) EXPECT_NE(a.released, 0u);
  ASSERT_EQ(r.marks.size(), 1u);
}

/// What must come before an access, by definition: the last writer, and for writers also the readers since then.
TEST(siblings, find_the_dependences_of_reads_and_writes) {
  rng draw(1, purpose::test, 0);
  for (int trial = 0; trial < 200; ++trial) {
    siblings rules;
    struct past {
      std::int32_t task;
      std::uint64_t address;
      mode how;
    };
    std::vector<past> history;
    for (std::int32_t t = 0; t < 40; ++t) {
      const std::uint64_t address = draw.below(3);
      const mode how = std::array{mode::in, mode::out, mode::inout}[draw.below(3)];
      std::set<std::int32_t> found, expected;
      rules.access(
          t, address * 8, 8, how, false, [&](std::int32_t b, std::uint64_t) { found.insert(b); },
          [](const std::vector<std::int32_t>&) -> std::int32_t { throw error("no fence is needed here"); });
      std::set<std::int32_t> readers;
      for (auto p = history.rbegin(); p != history.rend(); ++p) {
        if (p->address != address) continue;
        if (p->how == mode::in) {
          readers.insert(p->task);
          continue;
        }
        if (how == mode::in || readers.empty()) expected = {p->task};
        break;
      }
      if (how != mode::in && !readers.empty()) expected = readers;
      ASSERT_EQ(found, expected) << "task " << t;
      history.push_back({t, address, how});
    }
  }
}

TEST(siblings, put_a_fence_between_two_groups) {
  siblings rules;
  std::vector<std::int32_t> fenced;
  const auto fence = [&](const std::vector<std::int32_t>& members) {
    fenced = members;
    return 100;
  };
  std::vector<std::int32_t> last;
  const auto note = [&](std::int32_t b, std::uint64_t) { last.push_back(b); };
  for (std::int32_t t : {0, 1, 2}) rules.access(t, 1, 8, mode::concurrent, false, note, fence);
  EXPECT_TRUE(last.empty());
  rules.access(3, 1, 8, mode::in, false, note, fence);
  rules.access(4, 1, 8, mode::in, false, note, fence);
  EXPECT_EQ(fenced, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(last, (std::vector<std::int32_t>{100, 100}));
}

TEST(recording, survives_being_written_and_read) {
  test::script s;
  s.region(100);
  const auto a = s.task(10, {}, {{0, 1, 100, 50}});
  s.task(20, {a}, {{0, 0, 100, 100}});
  recording r = s.finish();
  r.worker_node = {0, 0};
  r.meta["note"] = "a 'quoted' word";
  r.steals.push_back({1, 0, 77});
  r.idles.push_back({1, 5, 9});
  r.marks.push_back({"here", 8});
  const scratch_file file;
  write_recording(r, file.path());
  const recording back = read_recording(file.path());
  EXPECT_EQ(back.meta, r.meta);
  ASSERT_EQ(back.tasks.size(), r.tasks.size());
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    EXPECT_EQ(back.tasks[t].work_ns, r.tasks[t].work_ns);
    EXPECT_EQ(back.tasks[t].creator, r.tasks[t].creator);
    EXPECT_EQ(before(back, t), before(r, t));
  }
  EXPECT_EQ(back.first_access, r.first_access);
  EXPECT_EQ(back.accesses[0].touched, 50u);
  EXPECT_EQ(back.steals[0].at, 77u);
  EXPECT_EQ(back.idles[0].ended, 9u);
  EXPECT_EQ(back.marks[0].name, "here");
}

TEST(recording, files_that_are_none_are_refused) {
  const scratch_file file;
  EXPECT_THAT([&] { read_recording(file.path()); }, ThrowsMessage<error>(HasSubstr("there is no such file")));
  std::ofstream(file.path()) << "this is no database, but long enough to be taken for one by a hasty reader of files";
  EXPECT_THAT([&] { read_recording(file.path()); }, ThrowsMessage<error>(HasSubstr(file.path())));
}

}  // namespace
