// The counts of each task, by a source whose counts the tasks themselves determine, so that they are known exactly.
#include "support/recordings.hpp"

#include "base/counters.hpp"
#include "engine/native/counts.hpp"
#include "machine/perf_events.hpp"
#include "recording/log_reader.hpp"
#include "recording/parts.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

using namespace kith;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Counts of the calling thread.
thread_local counter_reading mine;
thread_local bool refuses = false;
/// Nanoseconds for which the group counts, of each that it was to count.
thread_local std::uint64_t running_of = 1, enabled_of = 1;

/// The counts of a task in these tests: each counter counts a multiple of `n`.
void work(std::uint64_t n) {
  for (std::size_t i = 0; i < counters; ++i) mine.values[i] += n * (i + 1);
  mine.enabled += n * enabled_of;
  mine.running += n * running_of;
}

class own_source : public counter_source {
 public:
  bool read(counter_reading& now) noexcept override {
    now = mine;
    return !refuses;
  }
};
opened_counters open_own(counter_set wanted) {
  return {.source = std::make_unique<own_source>(), .there = wanted, .in_turns = {}, .refused = {}, .stalled_as = {}};
}
opened_counters open_own_in_turns(counter_set wanted) {
  opened_counters o = open_own(wanted);
  wanted.for_each([&](counter c) {
    if (is_of_processor(c)) o.in_turns.add(c);
  });
  return o;
}

/// Counts 1000 from each reading to the next: what a body counts is the number of its segments.
class source_of_segments : public counter_source {
 public:
  bool read(counter_reading& now) noexcept override {
    count_ += 1000;
    now.values.fill(count_);
    return true;
  }

 private:
  std::uint64_t count_ = 0;
};
opened_counters open_segments(counter_set wanted) {
  return {.source = std::make_unique<source_of_segments>(),
          .there = wanted,
          .in_turns = {},
          .refused = {},
          .stalled_as = {}};
}
opened_counters open_nothing(counter_set wanted) {
  opened_counters o;
  wanted.for_each([&](counter c) { o.refused.push_back({c, is_of_processor(c) ? ENOENT : EACCES}); });
  return o;
}

class counted : public testing::Test {
 protected:
  ~counted() override {
    set_counter_opener(nullptr);
    ::unsetenv("KITH_RECORD_COUNTERS");
  }
  static recording record(counter_opener by, runtime_options o, const std::function<void(runtime&)>& f,
                          const char* list = "all") {
    set_counter_opener(by);
    ::setenv("KITH_RECORD_COUNTERS", list, 1);
    return test::record(std::move(o), f);
  }
  static runtime_options counting(const char* policy, int workers, std::int64_t at_creation) {
    runtime_options o = test::make_options(workers, policy);
    o.inline_limit = at_creation;
    return o;
  }
};

/// By color, the instructions of each task; and that the other counters have their multiples.
std::map<std::int32_t, std::int64_t> by_color(const recording& r) {
  std::map<std::int32_t, std::int64_t> found;
  for (const recorded_counts& c : r.counts) {
    const std::int32_t color = r.task(c.task).color;
    EXPECT_EQ(found.count(color), 0u);
    found[color] = c[counter::instructions];
    counter_set::parse("all")->for_each(
        [&](counter what) { EXPECT_EQ(c[what], found[color] * (static_cast<std::int64_t>(what) + 1)); });
  }
  return found;
}

constexpr std::int32_t no_color = -1;  // of the root

/// A tree of tasks that work before, between and after what they create and wait for. Node n counts n + 3 in all.
void grow(std::int32_t n, std::int32_t end, std::map<std::int32_t, std::int64_t>& expected) {
  work(static_cast<std::uint64_t>(n));
  for (std::int32_t child : {2 * n, 2 * n + 1}) {
    if (child < end) spawn([child, end, &expected] { grow(child, end, expected); }, kith::color{child});
    work(1);
  }
  if (n % 3 != 0) wait();  // the others leave their children
  work(1);
}
std::map<std::int32_t, std::int64_t> of_tree(std::int32_t end) {
  std::map<std::int32_t, std::int64_t> expected;
  for (std::int32_t n = 1; n < end; ++n) expected[n] = n + 3;
  return expected;
}

TEST_F(counted, each_task_gets_what_its_own_code_counted) {
  constexpr std::int32_t end = 200;
  for (const char* policy : {"steal", "fifo", "nabbit", "auto"}) {
    for (const int workers : {1, 3}) {
      for (const std::int64_t at_creation : {0, 1, -1}) {
        std::map<std::int32_t, std::int64_t> expected = of_tree(end);
        const recording r = record(open_own, counting(policy, workers, at_creation), [&](runtime& rt) {
          rt.run([&] {
            work(5);
            spawn([&] { grow(1, end, expected); }, kith::color{1});
            work(6);
            wait();
            work(7);
          });
        });
        expected[no_color] = 18;
        EXPECT_EQ(by_color(r), expected) << policy << " on " << workers << ", inline_limit " << at_creation;
        EXPECT_EQ(r.counts.size(), r.tasks.size());
      }
    }
  }
}

TEST_F(counted, a_creator_at_the_throttle_gets_nothing_of_what_it_helps_with) {
  runtime_options o = counting("steal", 1, 0);
  o.throttle = 2;
  const recording r = record(open_own, o, [](runtime& rt) {
    rt.run([] {
      for (std::int32_t i = 0; i < 50; ++i) {
        spawn([i] { work(static_cast<std::uint64_t>(1000 + i)); }, kith::color{i});
        work(1);
      }
    });
  });
  std::map<std::int32_t, std::int64_t> expected{{no_color, 50}};
  for (std::int32_t i = 0; i < 50; ++i) expected[i] = 1000 + i;
  EXPECT_EQ(by_color(r), expected);
}

/// All tasks wait for the last one, so that their waits are left on their stacks, and continue afterwards.
TEST_F(counted, a_task_whose_stack_was_left_gets_only_its_own) {
  constexpr std::int32_t tasks = 20;
  for (const int workers : {1, 2}) {
    const recording r = record(open_own, counting("fifo", workers, 0), [](runtime& rt) {
      rt.run([] {
        future<int> last;
        std::atomic<bool> is_there{false};
        for (std::int32_t i = 0; i < tasks; ++i) {
          spawn(
              [i, &last, &is_there] {
                work(static_cast<std::uint64_t>(10 + i));
                while (!is_there) std::this_thread::yield();
                work(static_cast<std::uint64_t>(last.get()));
              },
              kith::color{i});
        }
        last = async(
            [] {
              work(3);
              return 100;
            },
            kith::color{tasks});
        is_there = true;
        wait();
      });
    });
    std::map<std::int32_t, std::int64_t> expected{{no_color, 0}, {tasks, 3}};
    for (std::int32_t i = 0; i < tasks; ++i) expected[i] = 110 + i;
    EXPECT_EQ(by_color(r), expected) << workers;
  }
}

/// A worker's own work in a wait, besides running tasks, is charged to no task.
TEST_F(counted, waiting_is_no_part_of_a_task) {
  const recording r = record(open_segments, counting("steal", 1, 0), [](runtime& rt) {
    rt.run([] {
      spawn(
          [] {
            for (std::int32_t i = 1; i <= 10; ++i) spawn([] {}, kith::color{i});
            wait();
            for (std::int32_t i = 11; i <= 12; ++i) spawn([] {}, kith::color{i});
            wait();
          },
          kith::color{0});
    });
  });
  for (const recorded_counts& c : r.counts) {
    const std::int32_t color = r.task(c.task).color;
    if (color != no_color) {
      EXPECT_EQ(c[counter::instructions], color == 0 ? 3000 : 1000) << color;
    }
  }
  EXPECT_EQ(r.counts.size(), 14u);
}

TEST_F(counted, exploring_a_graph_is_no_part_of_its_nodes) {
  struct chain {
    using key = int;
    void predecessors(int k, keys<int>& all) {
      work(1000);
      if (k > 0) all.add(k - 1);
    }
    void compute(int k) { work(static_cast<std::uint64_t>(k)); }
    int color(int k) const { return k; }
  } g;
  const recording r = record(open_own, counting("nabbit", 2, 0), [&](runtime& rt) { rt.run([&] { explore(g, 9); }); });
  std::map<std::int32_t, std::int64_t> found = by_color(r);
  found.erase(no_color);
  std::map<std::int32_t, std::int64_t> expected;
  for (std::int32_t k = 0; k < 10; ++k) expected[k] = k;
  EXPECT_EQ(found, expected);
}

TEST_F(counted, a_task_that_throws_keeps_its_counts) {
  const recording r = record(open_own, counting("steal", 1, 1), [](runtime& rt) {
    EXPECT_THROW(rt.run([] {
      work(1);
      spawn(
          [] {
            work(20);
            throw std::runtime_error("as it should");
          },
          kith::color{0});
      work(2);
      wait();
    }),
                 std::runtime_error);
  });
  EXPECT_EQ(by_color(r), (std::map<std::int32_t, std::int64_t>{{no_color, 3}, {0, 20}}));
}

coroutine<std::uint64_t> tree(std::uint64_t n) {
  work(1);
  if (n < 2) co_return 1;
  const auto [a, b] = co_await both([n] { return tree(n - 1); }, [n] { return tree(n - 2); });
  work(1);
  co_return a + b + 1;
}

/// The halves of coroutines are tasks where a run is recorded, and run on several workers. The sum is exact.
TEST_F(counted, coroutines_are_counted_once) {
  std::uint64_t nodes = 0;
  const recording r =
      record(open_own, counting("steal", 3, 0), [&](runtime& rt) { rt.run([&] { nodes = sync_wait(tree(9)); }); });
  std::int64_t sum = 0;
  for (const recorded_counts& c : r.counts) sum += c[counter::instructions];
  const std::uint64_t leaves = (nodes + 1) / 2;
  EXPECT_EQ(sum, static_cast<std::int64_t>(nodes + (nodes - leaves)));
}

/// Threads that are worker 0 in turn have counters of their own.
TEST_F(counted, runs_of_several_threads) {
  const recording r = record(open_own, counting("steal", 1, 0), [](runtime& rt) {
    work(1'000'000);
    rt.run([] { spawn([] { work(1); }, kith::color{0}); });
    std::thread([&] {
      work(500);
      rt.run([] { spawn([] { work(2); }, kith::color{1}); });
    }).join();
    rt.run([] { spawn([] { work(3); }, kith::color{2}); });
  });
  std::map<std::int32_t, std::int64_t> found;
  for (const recorded_counts& c : r.counts) found[r.task(c.task).color] += c[counter::instructions];
  EXPECT_EQ(found, (std::map<std::int32_t, std::int64_t>{{no_color, 0}, {0, 1}, {1, 2}, {2, 3}}));
}

TEST_F(counted, estimates_where_groups_take_turns) {
  const recording r = record(open_own_in_turns, counting("steal", 1, 0), [](runtime& rt) {
    rt.run([] {
      spawn(
          [] {
            enabled_of = 30;
            running_of = 10;
            work(7);
          },
          kith::color{0});
      wait();
      spawn(
          [] {
            running_of = 0;
            work(9);
            enabled_of = running_of = 1;
          },
          kith::color{1});
      wait();
    });
  });
  ASSERT_EQ(r.counts.size(), 3u);
  const recorded_counts &third = r.counts[1], &none = r.counts[2];
  EXPECT_EQ(third[counter::instructions], 21);
  EXPECT_EQ(third[counter::cycles], 42);
  EXPECT_EQ(third[counter::page_faults], 35);  // counts all the time
  EXPECT_EQ(third.enabled, 210u);
  EXPECT_EQ(third.running, 70u);
  EXPECT_EQ(none[counter::instructions], recorded_counts::not_counted);
  EXPECT_EQ(none[counter::page_faults], 45);
}

TEST_F(counted, a_failed_reading_leaves_no_wrong_counts) {
  const recording r = record(open_own, counting("steal", 1, 0), [](runtime& rt) {
    rt.run([] {
      spawn(
          [] {
            refuses = true;
            work(1);
          },
          kith::color{0});
      wait();
      spawn(
          [] {
            work(1);
            refuses = false;
          },
          kith::color{1});
      wait();
      spawn([] { work(4); }, kith::color{2});
      wait();
    });
  });
  ASSERT_EQ(r.counts.size(), 1u);
  EXPECT_EQ(r.task(r.counts[0].task).color, 2);
  EXPECT_EQ(r.counts[0][counter::instructions], 4);
}

TEST_F(counted, only_what_was_asked_for) {
  const auto one = [](runtime& rt) { rt.run([] { work(3); }); };
  const recording r = record(open_own, counting("steal", 1, 0), one, "cycles,software");
  ASSERT_EQ(r.counts.size(), 1u);
  EXPECT_EQ(r.counts[0][counter::instructions], recorded_counts::not_counted);
  EXPECT_EQ(r.counts[0][counter::cycles], 6);
  EXPECT_EQ(r.counts[0][counter::task_clock], 24);
  EXPECT_EQ(r.meta.at("counters"), "cycles, page_faults, context_switches, migrations, task_clock");
  EXPECT_EQ(record(open_own, counting("steal", 1, 0), one, "").counts.size(), 0u);
  EXPECT_THAT([&] { record(open_own, counting("steal", 1, 0), one, "cycles,cash_misses"); },
              ThrowsMessage<error>(HasSubstr("KITH_RECORD_COUNTERS: 'cycles,cash_misses' is not known; expected all")));
}

TEST_F(counted, the_recording_goes_on_where_nothing_can_be_opened) {
  testing::internal::CaptureStderr();
  const recording r = record(open_nothing, counting("steal", 1, 0), [](runtime& rt) { rt.run([] { spawn([] {}); }); });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(r.tasks.size(), 2u);
  EXPECT_TRUE(r.counts.empty());
  EXPECT_THAT(said, HasSubstr("not counted: instructions, cycles, cache_misses, stalled_cycles: there are no hardware "
                              "counters (No such file or directory)"));
  EXPECT_THAT(said, HasSubstr("page_faults, context_switches, migrations, task_clock: refused (perf_event_paranoid"));
  EXPECT_THAT(said, HasSubstr("; what helps: sysctl kernel.perf_event_paranoid=1, as root"));
  EXPECT_THAT(said, HasSubstr("Counted: nothing\n"));
  EXPECT_EQ(r.meta.at("counters"), "");
  EXPECT_THAT(r.meta.at("counters_missing"), HasSubstr("there are no hardware counters"));
}

/// An earlier Kith reads logs of version 7, and refuses others.
TEST_F(counted, only_logs_with_counts_have_another_version) {
  const auto version_of_logs = [](const char* list) {
    const test::scratch_file file;
    ::setenv("KITH_RECORD_COUNTERS", list, 1);
    runtime_options o = counting("steal", 1, 0);
    o.record = file.path();
    std::string made;
    std::uint32_t version = 0;
    {
      const runtime rt(o);
      made = rt.recorded_in();
      version = mapped_log(parts_of(made) + "/0.log").header.version;
    }
    std::filesystem::remove(made);
    return version;
  };
  set_counter_opener(open_own);
  EXPECT_EQ(version_of_logs(""), log_version);
  EXPECT_EQ(version_of_logs("cycles"), log_version_with_counts);
  set_counter_opener(open_nothing);
  testing::internal::CaptureStderr();
  EXPECT_EQ(version_of_logs("cycles"), log_version);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("Counted: nothing"));
}

TEST_F(counted, survive_being_written_and_read) {
  test::script s;
  s.task(10);
  recording r = s.finish();
  r.counts = {{.task = 0}, {.task = 1}};
  r.counts[1].values = {1, 2, 3, -1, 5, 6, 7, 8};
  r.counts[1].enabled = 10;
  r.counts[1].running = 9;
  const test::scratch_file file;
  write_recording(r, file.path());
  const recording back = read_recording(file.path());
  ASSERT_EQ(back.counts.size(), 2u);
  EXPECT_EQ(back.counts[1].values, r.counts[1].values);
  EXPECT_EQ(back.counts[1].running, 9u);
  EXPECT_EQ(back.counts[0][counter::cycles], recorded_counts::not_counted);
}

}  // namespace
