// Calibration: tasks that are run again, and what the simulator derives from that.
#include "base/clock.hpp"
#include "engine/sim/simulation.hpp"
#include "events/log.hpp"
#include "support/recordings.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <tuple>
#include <vector>

namespace {

using namespace kith;
using test::ns;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Records what `f` does on one worker that calibrates, including samples.
recording calibrated(int samples, const std::function<void()>& f) {
  const test::scratch_file file;
  {
    struct parts_only {
      parts_only() { ::setenv("KITH_RECORD_PARTS", "1", 1); }
      ~parts_only() { ::unsetenv("KITH_RECORD_PARTS"); }
    } const while_it_runs;  // also if it throws
    runtime_options o = test::make_options(1, "fifo");
    o.record = file.path();
    o.calibrate = samples;
    runtime rt(o);
    rt.run([&] { f(); });
  }
  for (const auto& folder : std::filesystem::directory_iterator(std::filesystem::path(file.path()).parent_path())) {
    const std::string path = folder.path().string();
    if (!path.starts_with(file.path()) || !path.ends_with(".parts")) continue;
    recording r = read_parts(path);
    std::filesystem::remove_all(path);
    return r;
  }
  throw error("nothing was recorded");
}

std::size_t samples_of(const recording& r, const std::string& type) {
  std::size_t count = 0;
  for (const recorded_sample& s : r.samples) count += r.types[r.tasks[static_cast<std::size_t>(s.task)].type] == type;
  return count;
}

TEST(calibrate, tasks_run_again_and_results_stay) {
  static const task_type step{"step"}, copy{"copy"}, sum{"sum"};
  std::vector<std::uint64_t> a(1000), b(1000);
  std::iota(a.begin(), a.end(), std::uint64_t{1});
  std::uint64_t total = 0;
  int steps = 0, copies = 0;  // not declared by any task: they count every run
  const recording r = calibrated(5, [&] {
    for (int i = 0; i < 40; ++i) {
      spawn(
          [&](std::span<std::uint64_t> x) {
            ++steps;
            for (std::uint64_t& v : x) v = v * 3 + 1;
          },
          step, inout(a));
      spawn(
          [&](std::span<const std::uint64_t> x, std::span<std::uint64_t> y) {
            ++copies;
            std::copy(x.begin(), x.end(), y.begin());
          },
          copy, in(a), out(b));
      spawn([&] { total += b[7]; }, sum, in(b), commutative(total));
    }
  });
  std::uint64_t expected = 8, all = 0;
  for (int i = 0; i < 40; ++i) all += expected = expected * 3 + 1;
  EXPECT_EQ(a[7], expected);
  EXPECT_EQ(b[7], expected);
  EXPECT_EQ(total, all);
  EXPECT_GT(steps, 40 + 5);
  EXPECT_GT(copies, 40 + 5);
  EXPECT_EQ(samples_of(r, "step"), 5u);
  EXPECT_EQ(samples_of(r, "copy"), 5u);
  EXPECT_EQ(samples_of(r, "sum"), 5u);
  for (const recorded_sample& s : r.samples) {
    // A clock may tick once in 10 ns, which is longer than one addition.
    if (r.types[r.tasks[static_cast<std::size_t>(s.task)].type] == "sum") continue;
    EXPECT_GT(s.cold_ns, 0u);
    EXPECT_GT(s.warm_ns, 0u);
  }
}

TEST(calibrate, what_cannot_be_run_twice_is_run_once) {
  static const task_type bare{"bare"}, beside{"beside"}, changing{"changing"}, creating{"creating"}, failing{"failing"};
  std::vector<int> data(100);
  std::atomic<int> bares{0}, besides{0}, changes{0}, creations{0}, children{0};
  const recording r = calibrated(50, [&] {
    for (int i = 0; i < 30; ++i) {
      spawn([&] { ++bares; }, bare);
      spawn([&](std::span<int>) { ++besides; }, beside, concurrent(data));
      spawn([&, mine = 0](std::span<const int>) mutable { changes += ++mine; }, changing, in(data));
      spawn(
          [&](std::span<const int>) {
            ++creations;
            spawn([&] { ++children; });
          },
          creating, in(data));
      std::ignore = async([&](std::span<const int> x) { return x[0]; }, in(data));
    }
  });
  EXPECT_EQ(bares, 30);
  EXPECT_EQ(besides, 30);
  EXPECT_EQ(changes, 30);
  EXPECT_EQ(creations, 30);
  EXPECT_EQ(children, 30);
  EXPECT_TRUE(r.samples.empty());
}

TEST(calibrate, a_failure_is_the_tasks_own) {
  std::vector<int> data(100);
  int runs = 0;
  EXPECT_THAT(([&] {
                calibrated(50, [&] {
                  for (int i = 0; i < 3; ++i)
                    spawn(
                        [&](std::span<int>) {
                          if (++runs == 3) throw std::runtime_error("the third");
                        },
                        inout(data));
                  kith::wait();
                });
              }),
              ThrowsMessage<std::runtime_error>(HasSubstr("the third")));
  EXPECT_EQ(runs, 3);
}

TEST(calibrate, nodes_of_a_graph_are_run_again) {
  struct chain {
    using key = int;
    std::vector<double>& cells;
    std::atomic<int>& runs;
    void predecessors(int k, keys<int>& all) const {
      if (k > 0) all.add(k - 1);
    }
    void accesses(int, access_list& all) const { all.add(inout(cells)); }
    void compute(int k) const {
      ++runs;
      for (double& c : cells) c += k;
    }
  };
  std::vector<double> cells(64, 0);
  std::atomic<int> runs{0};
  chain g{cells, runs};
  const recording r = calibrated(4, [&] { explore(g, 99); });
  EXPECT_EQ(cells[5], 99 * 100 / 2);
  EXPECT_EQ(r.samples.size(), 4u);
  EXPECT_GT(runs, 100);
}

/// The value is that of the first run, and what it is made from still exists in the next run.
TEST(calibrate, nodes_with_values_are_run_again) {
  struct chain {
    using key = int;
    using value = std::vector<double>;
    std::vector<double>& cells;
    std::atomic<int>& runs;
    void predecessors(int k, keys<int>& all) const {
      if (k > 0) all.add(k - 1);
    }
    void accesses(int, access_list& all) const { all.add(inout(cells)); }
    value compute(int k, const values<value>& before) const {
      ++runs;
      for (double& c : cells) c += k;
      value mine = k == 0 ? value(64) : before.take(0);
      for (double& c : mine) c += k;
      return mine;
    }
  };
  std::vector<double> cells(64, 0), last;
  std::atomic<int> runs{0};
  chain g{cells, runs};
  const recording r = calibrated(4, [&] { last = explore(g, 99); });
  EXPECT_EQ(cells[5], 99 * 100 / 2);
  EXPECT_EQ(last, cells);
  EXPECT_EQ(r.samples.size(), 4u);
  EXPECT_GT(runs, 100);
}

TEST(calibrate, needs_one_worker_and_a_recording) {
  runtime_options o = test::make_options(1, "fifo");
  o.calibrate = 3;
  EXPECT_THAT([&] { runtime rt(o); }, ThrowsMessage<error>(HasSubstr("KITH_RECORD")));
  const test::scratch_file file;
  o.record = file.path();
  o.workers = 2;
  o.oversubscribe = true;
  EXPECT_THAT([&] { runtime rt(o); }, ThrowsMessage<error>(HasSubstr("one worker")));
}

/// Two tasks on one region of one chunk, with 4 us of computing each. Half of what memory adds is visible,
/// and a quarter of what the last level adds: the first task took 3584 ns longer.
recording two_on_a_chunk() {
  test::script s;
  s.region(65536);
  const auto a = s.task(4000 + 3584, {}, {{0, 1, 65536, 65536}});
  s.task(4000, {a}, {{0, 0, 65536, 65536}});
  recording r = s.finish();
  r.meta["dry"] = "0";
  r.meta["core_gbs"] = "8";
  r.meta["cache_gbs"] = "32";
  r.meta["cache_bytes"] = "1000000";
  r.meta["near_gbs"] = "64";
  r.meta["near_bytes"] = "65536";
  const std::uint64_t memory = 7168, last = 1024;  // ns: 65536 bytes at 8 GB/s, and at 32 GB/s, less those at 64 GB/s
  r.calibrations = {{.type = 0,
                     .size = 16,
                     .samples = 2,
                     .bytes = 2 * 65536,
                     .plain_ns = 8000 + 3584,
                     .cold_ns = 8000 + 2 * memory / 2,
                     .warm_ns = 8000 + 2 * last / 4,
                     .hot_ns = 8000}};
  return r;
}

sim::run_options on_one_core() {
  sim::run_options s;
  s.policy = "fifo";
  s.workers = 1;
  s.parts.scheduling = s.noise = false;
  return s;
}

TEST(calibrate, a_simulation_adds_what_memory_shows_to_the_computing) {
  machine_model m = model_by_name("bullion-s16-8");
  const sim::program p = sim::program_of(two_on_a_chunk());
  const sim::rate core(m.core_gbs), cache(m.cache_gbs);
  const std::uint64_t from_memory = (core(65536) - cache(65536)) * 512 >> 10;
  sim::run_options one = on_one_core();
  // From memory first, then from the nearest cache, which is included in the hot time.
  EXPECT_EQ(sim::simulate(p, m, one).makespan, 8000 * ns + from_memory);
  EXPECT_EQ(sim::simulate(p, m, one).serial, 8000 * ns + 2 * from_memory);
  one.parts.caches = false;
  EXPECT_EQ(sim::simulate(p, m, one).makespan, 8000 * ns + 2 * from_memory);
  one.fidelity = sim::fidelity::abstract;
  EXPECT_EQ(sim::simulate(p, m, one).makespan, 8000 * ns + 2 * from_memory);
}

TEST(calibrate, the_nearest_cache_is_a_cores_own_where_it_has_one) {
  machine_model m = model_by_name("bullion-s16-8");
  m.private_bytes = 65536;
  m.private_gbs = 100;
  recording r = two_on_a_chunk();
  // Another task reads another region in between, so the first one is then only in the last level.
  r.regions.push_back({1 << 20, 65536, -1});
  recorded_task between = r.tasks[1];
  between.created = between.create_until = between.started = 2;
  r.tasks[2].created = r.tasks[2].create_until = r.tasks[2].started = 3;
  r.tasks.insert(r.tasks.begin() + 2, between);
  r.accesses.insert(r.accesses.begin() + 1, {1, 0, 65536, 65536});
  r.dependences = {{1, 0}, {2, 0}};
  r.first_access = {0, 0, 1, 2, 3};
  r.first_dependence = {0, 0, 0, 1, 2};
  r.waits.front().begun = r.waits.front().ended = r.tasks.front().ended = 4;
  const sim::program p = sim::program_of(std::move(r));
  const sim::rate core(m.core_gbs), cache(m.cache_gbs), own(100);
  const std::uint64_t from_memory = (core(65536) - own(65536)) * 512 >> 10,
                      from_cache = (cache(65536) - own(65536)) * 256 >> 10;
  EXPECT_EQ(sim::simulate(p, m, on_one_core()).makespan, 12000 * ns + 2 * from_memory + from_cache);
  // A task that is larger than that cache has nothing nearer than the last level.
  m.private_bytes = 65535;
  const std::uint64_t beside_last = (core(65536) - cache(65536)) * 512 >> 10;
  EXPECT_EQ(sim::simulate(p, m, on_one_core()).makespan, 12000 * ns + 2 * beside_last);
}

TEST(calibrate, a_simulation_of_the_recorded_run_gives_its_times) {
  recording r = two_on_a_chunk();
  r.tasks[1].work_ns = 9000;  // more, for reasons that are not known
  machine_model m = model_by_name("bullion-s16-8");
  m.core_gbs = m.memory_gbs = 8;
  m.cache_gbs = 32;
  m.private_bytes = 65536;
  m.private_gbs = 64;
  EXPECT_EQ(sim::simulate(sim::program_of(r), m, on_one_core()).makespan, (9000 + 4000) * ns);
  r.tasks[1].work_ns = 5000;  // less than the model's memory leaves: the hot time still counts as computing
  EXPECT_EQ(sim::program_of(r).compute[1], 4000 * ns);
  r.tasks[1].work_ns = 1000;
  EXPECT_EQ(sim::program_of(r).compute[1], 1000 * ns);
}

TEST(calibrate, a_size_without_samples_takes_the_nearest) {
  recording r = two_on_a_chunk();
  r.calibrations.push_back(r.calibrations.front());
  r.calibrations.back().size = 25;
  r.calibrations.back().hot_ns = 1000000;
  sim::program p = sim::program_of(r);
  EXPECT_EQ(p.compute[1], 4000 * ns);
  EXPECT_EQ(p.compute[2], 4000 * ns);
  for (recorded_access& a : r.accesses) a.touched = 1 << 24;
  r.regions.front().bytes = 1 << 24;
  p = sim::program_of(r);
  EXPECT_EQ(p.compute[1], (4000 + 3584) * ns);
  EXPECT_TRUE(p.exposure_of(1).calibrated());
  EXPECT_EQ(p.exposure_of(1).memory, 0u);  // cold is not longer than hot
  r.calibrations.front().type = r.calibrations.back().type = 1;
  r.types.emplace_back("other");
  p = sim::program_of(r);
  EXPECT_FALSE(p.exposure_of(1).calibrated());
}

TEST(calibrate, rows_are_kept_in_the_file_and_checked) {
  const test::scratch_file file;
  recording r = two_on_a_chunk();
  write_recording(r, file.path());
  const recording again = read_recording(file.path());
  ASSERT_EQ(again.calibrations.size(), 1u);
  EXPECT_EQ(again.calibrations[0].size, 16);
  EXPECT_EQ(again.calibrations[0].cold_ns, 8000u + 7168);
  EXPECT_EQ(again.calibrations[0].warm_ns, 8000u + 512);
  for (const auto& damage :
       {+[](recorded_calibration& c) { c.type = 7; }, +[](recorded_calibration& c) { c.size = 64; },
        +[](recorded_calibration& c) { c.hot_ns = 0; }}) {
    recording bad = r;
    damage(bad.calibrations.front());
    write_recording(bad, file.path());
    EXPECT_THAT([&] { read_recording(file.path()); }, ThrowsMessage<error>(HasSubstr("table calibration, row 0: ")));
  }
  r.meta["core_gbs"] = "64";
  EXPECT_THAT([&] { sim::program_of(r); }, ThrowsMessage<error>(HasSubstr("not each faster")));
  r.meta["core_gbs"] = "fast";
  EXPECT_THAT([&] { sim::program_of(r); }, ThrowsMessage<error>(HasSubstr("'core_gbs' is 'fast'")));
}

TEST(calibrate, what_recording_costs_is_no_work_of_the_creator) {
  const test::scratch_file file;
  parts_folder parts(file.path(), {{"engine", "native"}}, old_parts::replace);
  const std::string folder = parts.path();
  constexpr std::uint64_t root = std::uint64_t{1} << 32;
  constexpr std::uint64_t whole = 1'000'000, spent = 400'000;
  {
    kith::log l(folder + "/0.log", 0);
    const std::uint64_t begun = ticks();
    l.append({.kind = log_kind::recorder, .large = root}, {spent, 0});
    l.append({.kind = log_kind::run, .large = root}, {begun, 0});
    l.append({.kind = log_kind::executed, .large = root}, {begun, begun + whole});
  }
  parts.release();
  const recording r = read_parts(folder);
  ASSERT_EQ(r.tasks.size(), 1u);
  const double left = static_cast<double>(whole - spent) * seconds_per_tick() * 1e9;
  EXPECT_NEAR(static_cast<double>(r.tasks[0].work_ns), left, 3);
}

TEST(sim_memory, caches_of_one_node_and_of_cores) {
  machine_model m = model_by_name("bullion-s16-8");
  m.caches_per_node = 2;
  m.between_gbs = 20;
  test::script s;
  for (int i = 0; i < 4; ++i) s.region(65536);
  s.task(1);
  const sim::program p = sim::program_of(s.finish());
  const sim::rate core(m.core_gbs), cache(m.cache_gbs), between(20), own(100);
  const sim::core_position left{node_id(0), 0, 0}, right{node_id(0), 1, 2};
  {
    sim::memory data(p, m, sim::distribution::first_touch, {}, 65536);
    EXPECT_EQ(data.touch(0, 65536, true, left, 0).took, core(65536));
    EXPECT_EQ(data.touch(0, 65536, false, right, 0).took, between(65536));
    EXPECT_EQ(data.touch(0, 65536, false, right, 0).took, cache(65536));
    EXPECT_EQ(data.touch(0, 65536, false, left, 0).took, cache(65536));  // both have it now
    EXPECT_EQ(data.touch(0, 65536, true, right, 0).took, cache(65536));
    EXPECT_EQ(data.touch(0, 65536, false, left, 0).took, between(65536));
    EXPECT_EQ(data.remote_bytes, 0u);
  }
  m.private_bytes = 2 * 65536;
  m.private_gbs = 100;
  sim::memory data(p, m, sim::distribution::first_touch, {}, 65536);
  const sim::core_position beside{node_id(0), 0, 1};
  data.touch(0, 65536, true, left, 0);
  EXPECT_EQ(data.touch(0, 65536, false, left, 0).took, own(65536));
  EXPECT_EQ(data.touch(0, 65536, true, beside, 0).took, cache(65536));  // they share the last level
  EXPECT_EQ(data.touch(0, 65536, false, left, 0).took, cache(65536));   // the private copy is outdated
  EXPECT_EQ(data.touch(0, 65536, false, left, 0).took, own(65536));
  data.touch(1, 65536, false, left, 0);
  data.touch(2, 65536, false, left, 0);
  EXPECT_EQ(data.touch(0, 65536, false, left, 0).took, cache(65536));  // two others have displaced it
  EXPECT_EQ(data.touch(2, 65536, false, left, 0).took, own(65536));
  data.empty_caches();
  EXPECT_EQ(data.touch(2, 65536, false, left, 0).from, sim::level::memory);
}

}  // namespace
