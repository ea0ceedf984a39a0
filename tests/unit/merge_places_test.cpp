// Recordings of several places become one. Parts are made by hand, with clocks of their own.
#include "recording/check.hpp"
#include "recording/merge.hpp"
#include "support/places.hpp"
#include "support/recordings.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kith;
using kith::test::scratch_file;
using testing::HasSubstr;
using testing::ThrowsMessage;
using message = recorded_message;

constexpr std::uint64_t job_number = 77;
constexpr std::uint64_t began_at_0 = 1'000'000;  // ticks of place 0, one in a nanosecond

std::int32_t add(recording& r, std::int32_t creator, std::uint32_t scope, std::uint64_t created, std::uint64_t started,
                 std::uint64_t ended, unsigned flags = 0) {
  recorded_task t;
  t.creator = creator;
  t.scope = scope;
  t.flags = static_cast<std::uint8_t>(flags);
  t.created = t.create_until = created;
  t.ready = t.started = started;
  t.ended = t.completed = ended;
  t.worker = 0;
  t.work_ns = ended - started;
  r.tasks.push_back(t);
  r.first_access.push_back(r.accesses.size());
  r.first_dependence.push_back(r.dependences.size());
  return static_cast<std::int32_t>(r.tasks.size() - 1);
}

place_part part(std::uint16_t number, const std::string& host) {
  place_part p;
  p.job = job_number;
  p.number = number;
  p.clock = 1000 + number;
  p.places = 2;
  p.host = host;
  p.recorded.worker_node = {0};
  p.recorded.types = {"task"};
  p.recorded.first_access = p.recorded.first_dependence = {0};
  p.recorded.meta = {
      {"nodes", "1"}, {"distances", "10"}, {"machine", "small"}, {"workers", "1"}, {"worker_nodes", "0"}};
  return p;
}

/// Place 0: run's function (task 0) spawns at place 1 at 10 us, and learns at 40 us that it is accepted.
place_part first_place() {
  place_part p = part(0, "one");
  p.began = began_at_0;
  add(p.recorded, -1, 0, 1000, 2000, 90'000, recorded_task::outside);
  p.recorded.waits = {{0, recorded_wait::for_future, 0, 10'100, 41'000},
                      {0, recorded_wait::for_future, 0, 50'000, 80'500}};
  p.messages = {{false, message::spawn, 1, 200, 10'000, 0, 5, 9},
                {true, message::accepted, 1, 64, 40'000, -1, 5, 0},
                {true, message::result, 1, 128, 80'000, -1, 0, 9}};
  return p;
}

/// Place 1, whose clock is `ahead` of place 0's, and runs faster by `drift`. Its recording begins at its own 0.
place_part second_place(double ahead, double drift) {
  place_part p = part(1, "two");
  const auto here = [&](double at_0) { return static_cast<std::uint64_t>((at_0 + ahead) / (1 - drift)); };
  p.began = 123;  // has nothing to do with place 0's
  add(p.recorded, -1, 0, here(25'100), here(30'000), here(60'000), recorded_task::outside);
  p.messages = {{true, message::spawn, 0, 200, here(25'000), 0, 5, 9},
                {false, message::accepted, 0, 64, here(25'050), -1, 5, 0},
                {false, message::result, 0, 128, here(61'000), 0, 0, 9}};
  for (const double at : {1000.0, 5000.0, 95'000.0}) {
    p.clocks.push_back({here(at), here(at + 2000), began_at_0 + static_cast<std::uint64_t>(at + 900)});
  }
  return p;
}

recording merged(double ahead, double drift) {
  std::vector<place_part> parts;
  parts.push_back(second_place(ahead, drift));  // in any order
  parts.push_back(first_place());
  recording r = merge_places(std::move(parts));
  check_recording(r, "merged");
  return r;
}

TEST(merge_places, times_are_those_of_place_0_within_the_error) {
  for (const double ahead : {5'000.0, 50'000.0}) {
    for (const double drift : {0.0, 2e-5, -5e-5}) {
      const recording r = merged(ahead, drift);
      ASSERT_EQ(r.tasks.size(), 2u);
      ASSERT_EQ(r.places.size(), 2u);
      const auto error = static_cast<double>(r.places[1].error_ns);
      EXPECT_LT(error, 1200);                                // half of a round trip is 1000
      const std::uint64_t zero = r.tasks[0].started - 2000;  // place 0's own beginning
      EXPECT_NEAR(static_cast<double>(r.tasks[1].started - zero), 30'000, error);
      EXPECT_NEAR(static_cast<double>(r.tasks[1].ended - zero), 60'000, error);
      EXPECT_EQ(r.meta.at("clock_corrected"), "0");
    }
  }
}

/// Place 1 of the same machine. It has measured the length of a tick a little differently, and asks place 0 with round
/// trips that take long in one direction only.
place_part second_place_of_one_machine() {
  place_part p = part(1, "one");
  p.began = began_at_0 + 20'000;
  p.ns_per_tick = 1.0005;
  const auto here = [&](double at_0) { return static_cast<std::uint64_t>((at_0 - 20'000) * p.ns_per_tick); };
  add(p.recorded, -1, 0, here(25'100), here(30'000), here(60'000), recorded_task::outside);
  p.messages = {{true, message::spawn, 0, 200, here(25'000), 0, 5, 9},
                {false, message::accepted, 0, 64, here(25'050), -1, 5, 0},
                {false, message::result, 0, 128, here(61'000), 0, 0, 9}};
  for (const double at : {21'000.0, 30'000.0, 95'000.0})
    p.clocks.push_back({here(at), here(at + 9000), began_at_0 + static_cast<std::uint64_t>(at + 8900)});
  return p;
}

TEST(merge_places, processes_of_one_machine_share_a_clock_if_nothing_contradicts_it) {
  const auto merge_with = [](place_part second) {
    std::vector<place_part> parts{first_place(), std::move(second)};
    return merge_places(std::move(parts));
  };
  const recording same = merge_with(second_place_of_one_machine());
  EXPECT_EQ(same.places[1].error_ns, 0u);
  const std::uint64_t zero = same.tasks[0].started - 2000;
  EXPECT_NEAR(static_cast<double>(same.tasks[1].started - zero), 30'000, 2);
  EXPECT_NEAR(static_cast<double>(same.tasks[1].ended - zero), 60'000, 2);

  place_part elsewhere = second_place_of_one_machine();
  elsewhere.host = "two";
  EXPECT_GT(merge_with(std::move(elsewhere)).places[1].error_ns, 4000u);
  place_part early = second_place_of_one_machine(), late = second_place_of_one_machine();
  early.clocks[1].there -= 8920;  // before it was asked
  late.clocks[1].there += 120;    // after the answer came
  EXPECT_GT(merge_with(std::move(early)).places[1].error_ns, 4000u);
  EXPECT_GT(merge_with(std::move(late)).places[1].error_ns, 4000u);
}

TEST(merge_places, a_task_has_the_creator_at_the_other_place_and_a_message) {
  const recording r = merged(50'000, 1e-5);
  EXPECT_TRUE(r.tasks[0].has(recorded_task::root));  // what run() was given
  EXPECT_EQ(r.tasks[1].creator, 0);
  EXPECT_FALSE(r.tasks[1].has(recorded_task::outside));
  EXPECT_EQ(r.tasks[1].worker, 1);
  EXPECT_EQ(r.place_of(1), 1);
  ASSERT_EQ(r.messages.size(), 3u);
  const message& spawn = r.messages[0];
  EXPECT_EQ(std::pair(spawn.spawner, spawn.task), std::pair(0, 1));
  EXPECT_EQ(spawn.sent, r.tasks[1].created);
  EXPECT_GT(spawn.received, spawn.sent);
  EXPECT_EQ(spawn.bytes, 200u);
  const message& result = r.messages[2];
  EXPECT_EQ(result.kind, message::result);
  EXPECT_EQ(std::pair(result.spawner, result.task), std::pair(1, 0));
  EXPECT_EQ(r.waits[1].scope, r.tasks[1].scope);  // it waited for the result
  EXPECT_EQ(r.waits[0].scope, recorded_wait::for_future);
}

TEST(merge_places, each_task_keeps_what_was_counted_for_it) {
  std::vector<place_part> parts;
  parts.push_back(second_place(50'000, 0));
  parts.push_back(first_place());
  for (place_part& p : parts) {
    p.recorded.counts = {{.task = 0}};
    p.recorded.counts[0][counter::page_faults] = 10 + p.number;
  }
  const recording r = merge_places(std::move(parts));
  check_recording(r, "merged");
  ASSERT_EQ(r.counts.size(), 2u);
  for (const recorded_counts& c : r.counts) EXPECT_EQ(c[counter::page_faults], 10 + r.place_of(r.task(c.task).worker));
}

TEST(merge_places, nodes_of_other_machines_are_far_and_those_of_one_are_shared) {
  const recording far = merged(50'000, 0);
  EXPECT_EQ(far.meta.at("distances"), "10,254/254,10");
  EXPECT_EQ(far.meta.at("nodes"), "2");
  EXPECT_EQ(far.worker_node, (std::vector<std::int16_t>{0, 1}));
  std::vector<place_part> parts{first_place(), second_place(50'000, 0)};
  parts[1].host = "one";
  const recording near = merge_places(std::move(parts));
  EXPECT_EQ(near.meta.at("distances"), "10");
  EXPECT_EQ(near.worker_node, (std::vector<std::int16_t>{0, 0}));
}

TEST(merge_places, regions_of_processes_are_apart_and_those_of_one_process_are_the_same) {
  const auto with_region = [](place_part p) {
    p.recorded.regions = {{4096, 100, 0}};
    p.recorded.accesses = {{0, 0, 100, 100}};
    p.recorded.first_access.back() = 1;
    return p;
  };
  std::vector<place_part> parts{with_region(first_place()), with_region(second_place(50'000, 0))};
  const recording apart = merge_places(parts);
  ASSERT_EQ(apart.regions.size(), 2u);
  EXPECT_NE(apart.regions[0].address, apart.regions[1].address);
  parts[1].clock = parts[0].clock;
  parts[1].began = began_at_0;
  EXPECT_EQ(merge_places(parts).regions.size(), 1u);
}

TEST(merge_places, what_cannot_be_is_corrected_and_counted) {
  std::vector<place_part> parts{first_place(), second_place(50'000, 0)};
  for (place_part::clock_reading& c : parts[1].clocks) c.there -= 20'000;  // as if it had lied
  const recording r = merge_places(std::move(parts));
  check_recording(r, "merged");
  for (const message& m : r.messages) EXPECT_GE(m.received, m.sent);
  EXPECT_GE(r.tasks[1].created, r.tasks[0].created);
  EXPECT_NE(r.meta.at("clock_corrected"), "0");
  EXPECT_NEAR(std::stod(r.meta.at("clock_corrected_ns")), 5000, 1100);  // sent at 10 us, received at 25 - 20 us
}

TEST(merge_places, a_lost_place_leaves_messages_that_nobody_has_received) {
  std::vector<place_part> parts{first_place()};
  const recording r = merge_places(std::move(parts));
  check_recording(r, "merged");
  ASSERT_EQ(r.places.size(), 2u);
  EXPECT_EQ(r.places[1].workers, 0u);
  ASSERT_EQ(r.messages.size(), 3u);
  EXPECT_EQ(r.messages[0].received, 0u);
  EXPECT_EQ(r.messages[0].task, -1);
}

TEST(merge_places, without_place_0_the_others_keep_their_own_time) {
  std::vector<place_part> parts{second_place(50'000, 0)};
  const recording r = merge_places(std::move(parts));
  check_recording(r, "merged");
  EXPECT_NEAR(static_cast<double>(r.tasks[0].ended - r.tasks[0].started), 30'000, 1);
  EXPECT_TRUE(r.tasks[0].has(recorded_task::outside));
}

TEST(merge_places, one_place_twice_is_refused) {
  std::vector<place_part> parts{first_place(), first_place()};
  EXPECT_THAT([&] { merge_places(std::move(parts)); }, ThrowsMessage<error>(HasSubstr("two recordings of place 0")));
}

TEST(merge_places, a_part_of_a_coroutine_comes_after_the_part_before_it_and_what_it_awaited) {
  std::vector<place_part> parts{first_place(), second_place_of_one_machine()};
  place_part& second = parts[1];
  add(second.recorded, -1, 0, 41'500, 42'000, 43'000, recorded_task::outside);
  second.made = {{.task = 1, .continues = true, .before = 0, .suspended = 38'000, .awaited = 0}};
  second.messages[2].task = 1;  // the last part has sent the result
  add(parts[0].recorded, -1, 0, 82'000, 83'000, 84'000, recorded_task::outside);
  parts[0].made = {{.task = 1, .continues = true, .before = 0, .suspended = 81'000, .result = 9}};
  const recording r = merge_places(std::move(parts));
  check_recording(r, "merged");
  ASSERT_EQ(r.tasks.size(), 4u);
  EXPECT_TRUE(r.tasks[2].continues());
  EXPECT_EQ(r.tasks[2].creator, 1);
  EXPECT_EQ(r.first_part_of(2), 1);
  EXPECT_LT(r.tasks[2].created + 3000, r.tasks[2].create_until);  // it was suspended before it was made
  ASSERT_EQ(r.dependences.size(), 2u);
  EXPECT_EQ(r.dependences[0].before, 1);
  EXPECT_EQ(r.dependences[1].before, 2);  // that has sent result 9
  EXPECT_EQ(r.dependences[1].bytes, 64u);
  EXPECT_EQ(r.tasks[3].creator, 0);
  EXPECT_EQ(r.waits[1].scope, r.tasks[1].scope);  // the activity's
}

TEST(merge_places, without_what_it_awaited_a_part_of_a_coroutine_has_no_creator) {
  std::vector<place_part> parts{first_place(), second_place(50'000, 0)};
  add(parts[1].recorded, -1, 0, 92'000, 93'000, 94'000, recorded_task::outside);
  parts[1].made = {{.task = 1, .continues = true, .before = 0}};  // as an earlier Kith has noted it
  const recording r = merge_places(std::move(parts));
  check_recording(r, "merged");
  EXPECT_TRUE(r.tasks.back().has(recorded_task::outside));
  EXPECT_EQ(r.tasks.back().creator, -1);
}

TEST(merge_places, tasks_of_a_data_flow_have_one_scope_and_their_order) {
  std::vector<place_part> parts{first_place(), second_place(50'000, 0)};
  place_part& first = parts[0];
  add(first.recorded, -1, 0, 80'600, 81'000, 82'000, recorded_task::outside);
  first.made = {{.task = 1, .before = 0, .result = 10}};
  first.flows = {{.task = 0, .flow = 1, .result = 9, .begun = 5000, .ended = 5100, .before = {}},
                 {.task = 0, .flow = 1, .result = 10, .begun = 5200, .ended = 5300, .before = {9}},
                 {.task = 0, .flow = 1, .begun = 49'900, .ended = 83'000, .before = {}}};
  const recording r = merge_places(std::move(parts));
  check_recording(r, "merged");
  ASSERT_EQ(r.tasks.size(), 3u);
  for (const int t : {1, 2}) {
    EXPECT_TRUE(r.tasks[t].of_data_flow());
    EXPECT_EQ(r.tasks[t].creator, 0);
    EXPECT_LT(r.tasks[t].created, r.waits[0].begun);  // when they were spawned
  }
  EXPECT_EQ(r.tasks[1].scope, r.tasks[2].scope);
  ASSERT_EQ(r.dependences.size(), 1u);
  EXPECT_EQ(r.first_dependence[2], 0u);
  EXPECT_EQ(r.dependences[0].before, 1);
  EXPECT_EQ(r.waits[0].scope, recorded_wait::for_future);
  EXPECT_EQ(r.waits[1].scope, r.tasks[1].scope);  // it waited for all of them
}

TEST(merge_places, a_task_of_a_data_flow_that_nobody_has_spawned_is_kept) {
  std::vector<place_part> parts{first_place(), second_place(50'000, 0)};
  add(parts[1].recorded, -1, 0, 140'600, 141'000, 142'000, recorded_task::outside | recorded_task::generated);
  const recording r = merge_places(std::move(parts));
  check_recording(r, "merged");
  ASSERT_EQ(r.tasks.size(), 3u);
  EXPECT_EQ(r.tasks[2].creator, -1);
  EXPECT_TRUE(r.dependences.empty());
}

// ---- of real places, in this process

int fib_over_places(int n) {
  if (n < 2) return n;
  const auto one = at((here() + 1) % places()).async<fib_over_places>(n - 1);
  return fib_over_places(n - 2) + one.get();
}

TEST(merge_places, a_recorded_program_on_places_is_one_file_with_all_messages) {
  const scratch_file file;
  std::vector<place_statistics> counts;
  {
    place_options o = test::make_place_options(3);
    o.each.record = file.path();
    place_runtime rt(o);
    rt.run([] { EXPECT_EQ(at(1).async<fib_over_places>(6).get(), 8); });
    counts = rt.statistics();
  }
  // The number at its end is that of the first of the three runtimes among all that this process has recorded.
  namespace fs = std::filesystem;
  std::vector<fs::path> made;
  for (const auto& entry : fs::directory_iterator(fs::path(file.path()).parent_path())) {
    if (entry.path().string().starts_with(file.path())) made.push_back(entry.path());
  }
  ASSERT_EQ(made.size(), 1u);
  const recording r = read_recording(made.front().string());
  fs::remove(made.front());
  ASSERT_EQ(r.places.size(), 3u);
  std::map<int, std::uint64_t> messages, bytes, tasks;
  for (const message& m : r.messages) {
    ++messages[m.source];
    bytes[m.source] += m.bytes;
    EXPECT_NE(m.received, 0u);
    if (m.kind == message::spawn && m.task >= 0) {
      ++tasks[m.destination];
      EXPECT_EQ(r.task(m.task).creator, m.spawner);
      EXPECT_EQ(r.place_of(r.task(m.task).worker), m.destination);
    }
  }
  for (int p = 0; p < 3; ++p) {
    const place_statistics& c = counts[static_cast<std::size_t>(p)];
    EXPECT_EQ(messages[p], c.messages) << p;
    EXPECT_EQ(bytes[p], c.message_bytes) << p;
    EXPECT_EQ(tasks[p], c.spawns_accepted) << p;
    EXPECT_EQ(r.places[static_cast<std::size_t>(p)].error_ns, 0u);
  }
  for (const recorded_task& t : r.tasks) EXPECT_FALSE(t.has(recorded_task::outside));
}

}  // namespace
