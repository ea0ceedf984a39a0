// The simulator, compared with results computed by hand, and with what holds for every schedule.
#include "engine/sim/loops.hpp"
#include "engine/sim/simulation.hpp"
#include "support/recordings.hpp"
#include "support/simulated_programs.hpp"

#include "apps/list.hpp"
#include "base/rng.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

namespace {

using namespace kith;
using sim::fidelity;
using sim::program;
using sim::result;
using sim::run_options;
using test::ns;
using test::plain;
using test::random_program;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// One node with `cores` cores.
machine_model flat(int cores) {
  machine_model m = model_by_name("bullion-s16-8");
  m.hardware = synthetic_machine("node:1 core:" + std::to_string(cores));
  m.speeds.assign(static_cast<std::size_t>(cores), 1);
  m.links.clear();
  return m;
}

/// For a machine with one last-level cache in each node.
sim::core_position first_core_of(int node) { return {node_id(node), static_cast<std::uint32_t>(node), 0}; }

/// Work and longest path with all data local, in picoseconds.
std::pair<std::uint64_t, std::uint64_t> work_and_span(const program& p, const machine_model& m) {
  std::uint64_t work = 0, span = 0;
  std::vector<std::uint64_t> path(p.tasks());
  const sim::rate core(m.core_gbs);
  for (std::size_t t = 1; t < p.tasks(); ++t) {
    for (const recorded_dependence& d : p.dependences(t))
      path[t] = std::max(path[t], path[static_cast<std::size_t>(d.before)]);
    const std::uint64_t own = p.compute[t] + core(p.bytes[t]);
    work += own;
    path[t] += own;
    span = std::max(span, path[t]);
  }
  return {work, span};
}

TEST(sim, one_after_the_other_takes_the_sum) {
  test::script s;
  for (int t = 0; t < 10; ++t) s.task(1000);
  const program p = sim::program_of(s.finish());
  EXPECT_EQ(sim::simulate(p, flat(1), plain("fifo", 1)).makespan, 10'000 * ns);
}

TEST(sim, a_chain_gains_nothing_from_cores) {
  test::script s;
  std::int32_t last = s.task(1000);
  for (int t = 1; t < 10; ++t) last = s.task(1000, {last});
  const program p = sim::program_of(s.finish());
  for (const char* policy : {"fifo", "steal", "dep"}) {
    const result r = sim::simulate(p, flat(4), plain(policy, 4));
    EXPECT_GE(r.makespan, 10'000 * ns);
    EXPECT_LE(r.makespan, 10'000 * ns + 100 * ns);  // instants after which idle workers look again
  }
}

TEST(sim, independent_tasks_share_the_cores) {
  test::script s;
  for (int t = 0; t < 9; ++t) s.task(100'000);
  const program p = sim::program_of(s.finish());
  const result r = sim::simulate(p, flat(4), plain("fifo", 4));
  EXPECT_GE(r.makespan, 300'000 * ns);  // nine tasks on four cores: three rounds
  EXPECT_LE(r.makespan, 301'000 * ns);
  EXPECT_NEAR(r.over_serial(), 3, 0.02);
}

/// A node may not be robbed of its last tasks. So its own workers must not go to sleep if a task is pushed
/// while they look elsewhere for the last time.
TEST(sim, who_looks_elsewhere_for_the_last_time_hears_of_work_at_home) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const program p = random_program(seed, 600);
    for (const char* policy : {"dep:steal=nearest,backlog=8", "socket:steal=nearest,backlog=8"}) {
      run_options s;
      s.policy = policy;
      const result r = sim::simulate(p, model_by_name("bullion-s16-8"), s);
      EXPECT_GT(r.makespan, 0u) << policy << " " << seed;
    }
  }
}

TEST(sim, a_slow_core_takes_longer) {
  test::script s;
  s.task(1000);
  const program p = sim::program_of(s.finish());
  machine_model m = flat(1);
  m.speeds = {0.5};
  EXPECT_EQ(sim::simulate(p, m, plain("fifo", 1)).makespan, 2000 * ns);
}

/// A tile is where its array is, in memory and in caches. If it does not begin at a chunk, it has chunks of its own.
TEST(sim, regions_within_others_share_their_chunks) {
  constexpr std::uint64_t chunk = 65536;
  test::script s;
  for (std::uint64_t chunks : {1, 4, 2, 1}) s.region(chunks * chunk);
  const auto all = s.task(0, {}, {{1, 1, 4 * chunk, 4 * chunk}});
  s.task(0, {all}, {{0, 0, chunk, chunk}});
  recording r = s.finish();
  const std::uint64_t array = r.regions[1].address;
  r.regions[0].address = array + chunk;
  r.regions[2].address = array + 2 * chunk;
  r.regions[3].address = array + 2 * chunk + 4096;
  const program p = sim::program_of(r);
  machine_model m = model_by_name("bullion-s16-8");
  m.overlap = 0;
  const sim::memory data(p, m, sim::distribution::first_touch, {}, chunk);
  EXPECT_EQ(data.first_chunk(0), data.first_chunk(1) + 1);
  EXPECT_EQ(data.first_chunk(2), data.first_chunk(1) + 2);
  EXPECT_GE(data.first_chunk(3), data.first_chunk(1) + 4);
  run_options one = plain("fifo", 1);
  one.fidelity = fidelity::block;
  EXPECT_EQ(sim::simulate(p, m, one).makespan, sim::rate(m.core_gbs)(chunk) * 4 + sim::rate(m.cache_gbs)(chunk));
}

TEST(sim, data_takes_the_time_of_the_slowest_on_its_way) {
  machine_model m = model_by_name("bullion-s16-8");
  m.overlap = 0;
  test::script s;
  s.region(65536);
  const auto a = s.task(0, {}, {{0, 1, 65536, 65536}});
  s.task(0, {a}, {{0, 0, 65536, 65536}});
  const program p = sim::program_of(s.finish());
  run_options one = plain("fifo", 1);
  one.fidelity = fidelity::block;
  one.parts.contention = true;
  // The first touch comes from memory at a core's rate, the second from the cache.
  const std::uint64_t expected = sim::rate(m.core_gbs)(65536) + sim::rate(m.cache_gbs)(65536);
  EXPECT_EQ(sim::simulate(p, m, one).makespan, expected);
  one.parts.caches = false;
  EXPECT_EQ(sim::simulate(p, m, one).makespan, 2 * sim::rate(m.core_gbs)(65536));
}

TEST(sim, remote_data_takes_longer_by_the_distance_and_waits_for_links) {
  machine_model m = model_by_name("bullion-s16-8");
  m.overlap = 0;
  const sim::program p = random_program(1, 10);
  sim::memory data(p, m, sim::distribution::first_touch, {}, 65536);
  EXPECT_EQ(data.touch(0, 1024, false, first_core_of(0), 0).took, sim::rate(m.core_gbs)(1024));
  const std::uint64_t far = data.touch(0, 1024, false, first_core_of(1), 1'000'000'000).took;
  EXPECT_NEAR(static_cast<double>(far), 3.6 * static_cast<double>(sim::rate(m.core_gbs)(1024)), 100);
  EXPECT_EQ(data.remote_bytes, 1024u);
  // Eight nodes fetch at once: node 0's link out serves them one after the other.
  std::uint64_t last = 0;
  for (int n = 2; n < 8; ++n) last = std::max(last, data.touch(0, 1024, false, first_core_of(n), 2'000'000'000).took);
  EXPECT_GE(last, 6 * sim::rate(m.links.front().gbs)(1024));
}

TEST(sim, a_writer_takes_the_data_from_other_caches) {
  const machine_model m = model_by_name("bullion-s16-8");
  const sim::program p = random_program(1, 10);
  sim::memory data(p, m, sim::distribution::first_touch, {}, 65536);
  data.touch(0, 1024, true, first_core_of(0), 0);
  data.touch(0, 1024, true, first_core_of(1), 0);  // from node 0's cache
  EXPECT_EQ(data.remote_bytes, 1024u);
  data.touch(0, 1024, false, first_core_of(1), 0);
  EXPECT_EQ(data.hits, 1u);
  data.touch(0, 1024, false, first_core_of(0), 0);  // back again
  EXPECT_EQ(data.remote_bytes, 2048u);
}

/// Node 1 has changed a chunk of node 0. What node 0 reads of it is at home afterwards, and causes no
/// further traffic on the links.
TEST(sim, changed_data_that_its_home_reads_crosses_the_links_once) {
  const machine_model m = model_by_name("bullion-s16-8");
  const sim::program p = random_program(1, 10);
  for (const int reader : {0, 2}) {
    sim::memory data(p, m, sim::distribution::first_touch, {}, 65536);
    data.put(0, 1024, node_id(0));
    data.touch(0, 1024, true, first_core_of(1), 0);
    const auto carried = [&] {
      std::uint64_t bytes = 0;
      for (const sim::interconnect::link& l : data.links.links) bytes += l.data;
      return bytes;
    };
    const std::uint64_t before = carried();
    data.touch(0, 1024, false, first_core_of(reader), 1'000'000'000);
    const std::size_t to_reader = data.links.route(node_id(1), node_id(reader)).size();
    const std::size_t to_home = data.links.route(node_id(1), node_id(0)).size();
    EXPECT_EQ(carried() - before, 1024 * (reader == 0 ? to_home : to_reader + to_home)) << reader;
    // The next reader gets it from its home.
    const std::uint64_t then = carried();
    data.touch(0, 1024, false, first_core_of(3), 2'000'000'000);
    EXPECT_EQ(carried() - then, 1024 * data.links.route(node_id(0), node_id(3)).size()) << reader;
  }
}

TEST(sim, a_row_of_a_block_leaves_the_rest_of_it_in_the_cache) {
  machine_model m = model_by_name("bullion-s16-8");
  m.cache_bytes = 3 * 65536;
  const program p = random_program(1, 10);
  sim::memory data(p, m, sim::distribution::first_touch, {}, 65536);
  for (std::uint32_t block = 0; block < 3; ++block) data.touch(block, 65536, false, first_core_of(0), 0);
  for (std::uint32_t block = 1; block < 3; ++block) data.touch(block, 512, false, first_core_of(0), 0);
  EXPECT_EQ(data.hits, 2u);
  data.touch(3, 65536, false, first_core_of(0), 0);  // there is room for three, so block 0 leaves
  data.touch(0, 65536, false, first_core_of(0), 0);
  EXPECT_EQ(data.misses, 5u);
}

/// One task initialises all data, on one node. Then there is work for all nodes, and no further task is queued.
TEST(sim, auto_leaves_no_node_asleep_while_work_for_all_waits_at_one) {
  constexpr std::uint32_t blocks = 400;
  test::script s;
  std::vector<recorded_access> all;
  for (std::uint32_t r = 0; r < blocks; ++r) {
    s.region(65536);
    all.push_back({r, static_cast<std::uint8_t>(mode::out), 65536, 65536});
  }
  const std::int32_t first = s.task(1000, {}, all);
  for (std::uint32_t r = 0; r < blocks; ++r)
    s[s.task(1'000'000, {first}, {{r, static_cast<std::uint8_t>(mode::inout), 65536, 65536}})].type = 1;
  recording r = s.finish();
  r.types = {"initialise", "work"};
  const machine_model m = model_by_name("opteron-6172");
  const result got = sim::simulate(sim::program_of(std::move(r)), m, {});
  // Each task takes a millisecond: one node on its own would take 70 of them.
  EXPECT_LT(got.makespan, 20'000'000 * ns);
  int idle = 0;
  for (const worker_statistics& w : got.workers) idle += w.tasks == 0;
  EXPECT_LT(idle, 5);
}

TEST(sim, numa_fetches_nothing_from_elsewhere_that_is_dealt_to_one_node) {
  const machine_model m = model_by_name("opteron-6172");
  test::script s;
  for (int r = 0; r < 32; ++r) s.region(1 << 20);
  for (std::uint32_t r = 0; r < 32; ++r) s.task(1000, {}, {{r, 0, 1 << 20, 1 << 20}});
  const program p = sim::program_of(s.finish());
  run_options one;
  one.distribution = sim::distribution::regions;
  one.policy = "steal";
  EXPECT_GT(sim::simulate(p, m, one).remote_bytes, 16u << 20);
  one.policy = "numa";  // four tasks for each node's six cores: no node is robbed
  const result r = sim::simulate(p, m, one);
  EXPECT_EQ(r.remote_accesses, 0u);
  EXPECT_GE(r.local_bytes, 32u << 20);
}

TEST(sim, cold_caches_are_empty_when_the_figures_begin) {
  machine_model m = model_by_name("opteron-6172");
  m.metadata_bytes = 0;
  const program p = sim::program_of(test::record(test::make_dry_options(1, "fifo"), [](runtime& rt) {
    static std::array<char, 1 << 16> data;
    const auto use = [&] { rt.run([&] { spawn([](std::span<char>) {}, inout(data), work{10}); }); };
    use();
    rt.mark("solve");
    use();
  }));
  run_options one;
  one.workers = 1;
  EXPECT_EQ(sim::simulate(p, m, one).cache_misses, 0u);
  one.cold = true;
  EXPECT_EQ(sim::simulate(p, m, one).cache_misses, 1u);
}

// Accesses that 32 bits cannot count.
TEST(sim, a_task_touches_more_than_four_gib) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30, all = 4 * gib - 1, more = 5 * gib;
  for (const std::uint64_t bytes : {all - 1, all, all + 1, more}) {
    test::script s;
    s.region(more);
    s.task(1000, {}, {{0, static_cast<std::uint8_t>(mode::out), more, bytes}});
    const program p = sim::program_of(s.finish());
    run_options one;
    one.workers = 1;
    one.chunk_bytes = std::uint64_t{1} << 20;
    const result r = sim::simulate(p, model_by_name("opteron-6172"), one);
    EXPECT_EQ(r.local_bytes + r.remote_bytes, bytes);
    EXPECT_EQ(r.cache_hits + r.cache_misses, (bytes + one.chunk_bytes - 1) / one.chunk_bytes);
  }
}

TEST(sim, is_the_same_every_time) {
  const program p = random_program(3, 500);
  const machine_model m = model_by_name("bullion-s16-8");
  for (const char* policy : {"steal", "dep", "random", "nabbit"}) {
    run_options s;
    s.policy = policy;
    s.keep_schedule = true;
    const result a = sim::simulate(p, m, s), b = sim::simulate(p, m, s);
    EXPECT_EQ(a.makespan, b.makespan) << policy;
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(a.events, b.events);
    EXPECT_EQ(a.remote_bytes, b.remote_bytes);
    for (std::size_t t = 0; t < p.tasks(); ++t) {
      ASSERT_EQ(a.schedule.tasks[t].started, b.schedule.tasks[t].started);
      ASSERT_EQ(a.schedule.tasks[t].worker, b.schedule.tasks[t].worker);
    }
    s.seed = 2;
    EXPECT_NE(sim::simulate(p, m, s).makespan, a.makespan);
  }
}

TEST(sim, a_kept_run_has_its_own_times_and_can_be_simulated_again) {
  test::script s;
  s.region(100000);
  for (int t = 0; t < 40; ++t) {
    s.task(5000 + 100 * static_cast<std::uint64_t>(t), t < 8 ? std::vector<std::int32_t>{} : std::vector{t - 7},
           {{0, static_cast<std::uint8_t>(mode::in), 1000, 1000}});
  }
  recording recorded = s.finish();
  recorded.tasks.front().started = 7000;  // the recorded run began late
  recorded.tasks.front().ended = 9000;
  recorded.marks.push_back({"solve", 6000});
  const machine_model m = flat(4);
  const result first = simulate(sim::program_of(recorded), m, plain("fifo", 4));
  EXPECT_EQ(first.schedule.marks[0].at, first.schedule.tasks[0].started);
  for (std::size_t t = 1; t <= 40; ++t) {
    const recorded_task& x = first.schedule.tasks[t];
    EXPECT_LE(x.created, x.ready);
    EXPECT_LE(x.ready, x.started);
    if (t > 8) {
      EXPECT_GE(x.ready, first.schedule.tasks[t - 8].ended);
    }
  }
  const result again = simulate(sim::program_of(first.schedule), m, plain("fifo", 4));
  EXPECT_EQ(again.makespan, first.makespan);
  EXPECT_EQ(again.serial, first.serial);
}

/// With free scheduling and one distance, any ready task can run, so Graham's bound holds.
TEST(sim, greedy_policies_keep_grahams_bound) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const program p = random_program(seed, 300);
    for (int workers : {1, 2, 7}) {
      const machine_model m = flat(workers);
      const auto [work, span] = work_and_span(p, m);
      for (const char* policy : {"fifo", "lifo", "steal:patience=off"}) {
        const result r = sim::simulate(p, m, plain(policy, workers));
        const std::uint64_t n = static_cast<std::uint64_t>(workers);
        EXPECT_GE(r.makespan, std::max(work / n, span)) << policy;
        // Idle workers look again after an instant, which adds a thousandth.
        EXPECT_LE(static_cast<double>(r.makespan), 1.001 * static_cast<double>(work / n + span)) << policy;
      }
    }
  }
}

TEST(sim, an_ablation_leaves_its_part_out) {
  const program p = random_program(9, 400);
  const machine_model m = model_by_name("bullion-s16-8");
  run_options s;
  s.policy = "dfifo";
  s.noise = false;
  const result all = sim::simulate(p, m, s);
  run_options off = s;
  off.parts.caches = false;
  EXPECT_EQ(sim::simulate(p, m, off).cache_hits, 0u);
  EXPECT_GT(all.cache_hits, 0u);
  off = s;
  off.parts.scheduling = false;
  EXPECT_EQ(sim::simulate(p, m, off).overhead_percent(), 0);
  EXPECT_GT(all.overhead_percent(), 0);
}

TEST(sim, degenerate_machines_work) {
  const program p = random_program(4, 100);
  machine_model m = model_by_name("bullion-s16-8");
  m.hardware = synthetic_machine("node:1 core:1");
  m.speeds = {1};
  m.links.clear();
  for (const char* policy : {"fifo", "steal", "dep", "nabbitc", "socket"}) {
    run_options s;
    s.policy = policy;
    EXPECT_GT(sim::simulate(p, m, s).makespan, 0u) << policy;
  }
  run_options many;
  many.workers = 2;
  EXPECT_THAT([&] { sim::simulate(p, m, many); }, ThrowsMessage<error>(HasSubstr("has 1 cores; 2 workers")));
  many.workers = 0;
  many.policy = "no-such-policy";
  EXPECT_THAT([&] { sim::simulate(p, m, many); }, ThrowsMessage<error>(HasSubstr("no-such-policy")));
}

TEST(sim, a_run_that_starves_says_who_waits_for_what) {
  test::script s;
  const auto a = s.task(10);
  s.task(10, {a});
  recording r = s.finish();
  r.dependences[0].before = 2;  // task 2 waits for itself
  const program p = sim::program_of(r);
  EXPECT_THAT([&] { sim::simulate(p, flat(2), plain("fifo", 2)); },
              ThrowsMessage<error>(HasSubstr("task 2 (task) waits for task 2")));
}

TEST(sim, refuses_a_run_that_did_not_end) {
  test::script s;
  recording r = s.finish();
  r.tasks.front().ended = 0;
  EXPECT_THAT([&] { sim::program_of(r); }, ThrowsMessage<error>(HasSubstr("did not end")));
}

}  // namespace
