// Recordings of places are replayed: tasks stay at their places, and spawned tasks travel.
#include "engine/sim/recorded_places.hpp"
#include "recording/check.hpp"
#include "support/sample_of_places.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace kith;
using sim::run_options;
using test::sample_of_places;
using testing::HasSubstr;
using testing::ThrowsMessage;

run_options plain(const sim::program& p) {
  run_options s;
  s.policy = "ads";
  s.keep_schedule = true;
  s.parts.scheduling = s.noise = false;
  sim::use_recorded_places(s, p, 1);
  return s;
}

TEST(sim_recorded_places, tasks_stay_and_messages_have_their_bytes) {
  const sim::program p = sim::program_of(sample_of_places());
  const sim::result r = sim::simulate(p, model_by_name("xeon-5504-cluster"), plain(p));
  check_recording(r.schedule, "simulated");
  const std::int32_t expected[] = {0, 0, 1, 1, 1, 0};
  for (std::size_t t = 0; t < 6; ++t) EXPECT_EQ(r.schedule.place_of(r.schedule.tasks[t].worker), expected[t]) << t;
  std::size_t spawns = 0, results = 0;
  for (const recorded_message& m : r.schedule.messages) {
    EXPECT_GE(m.received, m.sent);
    if (m.kind == recorded_message::spawn) {
      ++spawns;
      EXPECT_EQ(m.bytes, m.task == 2 ? 200u : m.task == 4 ? 100u : 80u);
      EXPECT_GE(r.schedule.task(m.task).started, m.received);
    }
    if (m.kind != recorded_message::result) continue;
    ++results;
    EXPECT_EQ(m.bytes, 1064u);
    EXPECT_EQ(m.spawner, 4);
    EXPECT_EQ(m.task, 0);
  }
  EXPECT_EQ(spawns, 3u);
  EXPECT_EQ(results, 1u);
  EXPECT_GE(r.schedule.tasks[0].ended, r.schedule.tasks[5].ended);  // run() waits for what it has spawned, and so on
}

TEST(sim_recorded_places, a_simulated_run_can_be_simulated_again) {
  const machine_model on = model_by_name("xeon-5504-cluster");
  const sim::program p = sim::program_of(sample_of_places());
  const sim::program again = sim::program_of(sim::simulate(p, on, plain(p)).schedule);
  EXPECT_EQ(again.place, p.place);
  EXPECT_EQ(again.message_bytes, p.message_bytes);
  const sim::result r = sim::simulate(again, on, plain(again));
  EXPECT_EQ(std::ranges::count(r.schedule.messages, recorded_message::spawn, &recorded_message::kind), 3);
}

TEST(sim_recorded_places, a_slower_network_takes_longer) {
  const sim::program p = sim::program_of(sample_of_places());
  machine_model near = model_by_name("xeon-5504-cluster"), far = near;
  for (auto& link : far.links) link.gbs /= 1000;
  EXPECT_GT(sim::simulate(p, far, plain(p)).makespan, sim::simulate(p, near, plain(p)).makespan);
}

/// With one worker in each place every color is near, and so is data that is where the colors' owners are.
TEST(sim_recorded_places, a_color_is_a_worker_of_the_tasks_place) {
  recording r = sample_of_places();
  for (recorded_task& t : r.tasks) t.color = t.worker;
  const sim::program p = sim::program_of(std::move(r));
  for (const auto d : {sim::distribution::first_touch, sim::distribution::colors}) {
    run_options s = plain(p);
    s.distribution = d;
    const sim::result ran = sim::simulate(p, model_by_name("xeon-5504-cluster"), s);
    EXPECT_EQ(ran.remote_accesses, 0u);
    EXPECT_GT(ran.local_accesses, 0u);
  }
}

// ---- by hand: two places of one worker, a link of a byte in a nanosecond between them, and 2 us for each message

machine_model two_hosts() {
  machine_model m = model_by_name("bullion-s16-8");
  m.hardware = synthetic_machine("node:2 core:1");
  m.speeds.assign(m.hardware.cores.size(), 1);
  m.links = {{"node 0", "node 1", 1}};
  m.costs.push = 1000;
  return m;
}

/// A recording of two places, whose run() has done nothing yet. Times are in nanoseconds.
class small_recording {
 public:
  small_recording() {
    r.meta = {{"engine", "native"}, {"nodes", "2"}, {"policy", "ads"}, {"places", "2"}};
    r.worker_node = {0, 1};
    r.types = {"task"};
    r.first_access = r.first_dependence = {0};
    r.places = {{0, 1, 0, 1, "one", 0, 0, 0}, {1, 1, 1, 1, "two", 0, 0, 0}};
    task({.creator = -1, .ended = 100'000, .flags = recorded_task::root});
    r.tasks[0].work_ns = 0;
  }
  struct given {
    std::int32_t creator = 0;
    std::uint32_t scope = 0;
    int place = 0;
    std::uint64_t created = 0, create_until = 0, started = 0, ended = 0;
    unsigned flags = 0;
    std::vector<std::int32_t> after = {};
  };
  std::int32_t task(const given& g) {
    recorded_task t;
    t.creator = g.creator;
    t.scope = g.scope;
    t.worker = g.place;
    t.flags = static_cast<std::uint8_t>(g.flags);
    t.created = g.created;
    t.create_until = g.create_until;
    t.started = g.started;
    t.ended = t.completed = g.ended;
    t.work_ns = g.ended - g.started;
    r.tasks.push_back(t);
    for (const std::int32_t before : g.after) r.dependences.push_back({before, 0});
    r.first_access.push_back(0);
    r.first_dependence.push_back(r.dependences.size());
    return static_cast<std::int32_t>(r.tasks.size() - 1);
  }
  sim::result simulate() const {
    const sim::program p = sim::program_of(r);
    run_options s = plain(p);
    s.fidelity = sim::fidelity::abstract;
    return sim::simulate(p, two_hosts(), s);
  }

  recording r;
};

TEST(sim_recorded_places, a_coroutine_goes_on_when_what_it_awaits_has_come) {
  small_recording x;
  const std::int32_t begins = x.task({.scope = 1, .ended = 1000});
  const std::int32_t asked =
      x.task({.creator = begins, .scope = 2, .place = 1, .created = 1000, .started = 5000, .ended = 15'000});
  const std::int32_t goes_on = x.task({.creator = begins,
                                       .scope = 3,
                                       .created = 1000,  // it was suspended then
                                       .create_until = 19'000,
                                       .started = 19'000,
                                       .ended = 24'000,
                                       .flags = recorded_task::outside,
                                       .after = {asked}});
  using m = recorded_message;
  x.r.messages = {{m::spawn, 0, 1, 1000, 1000, 4500, begins, asked},
                  {m::result, 1, 0, 1000, 15'500, 18'500, asked, begins}};
  const sim::result r = x.simulate();
  const auto at = [&](std::int32_t t) { return static_cast<double>(r.schedule.task(t).started); };
  EXPECT_NEAR(at(asked), 1000 + 3000, 20);
  EXPECT_NEAR(at(goes_on), 4000 + 10'000 + 3000, 20);
  EXPECT_NEAR(static_cast<double>(r.schedule.task(0).ended), 17'000 + 5000, 20);
  EXPECT_EQ(r.schedule.task(goes_on).worker, 0);
  EXPECT_GE(r.schedule.task(begins).completed, r.schedule.task(goes_on).ended);
}

/// It offered an activity at 2 us, the other place took it at 5 us, and it knew at 8 us.
TEST(sim_recorded_places, a_spawner_that_waits_for_acceptance_does_not_compute) {
  small_recording x;
  const std::int32_t spawns = x.task({.scope = 1, .ended = 10'000});
  const std::int32_t spawned = x.task({.creator = spawns,
                                       .scope = 2,
                                       .place = 1,
                                       .created = 5000,
                                       .create_until = 5500,
                                       .started = 6000,
                                       .ended = 7000});
  x.r.tasks[static_cast<std::size_t>(spawns)].work_ns = 4000;
  x.r.waits = {{spawns, 0, 0, 2000, 8000}};
  x.r.messages = {{recorded_message::spawn, 0, 1, 64, 2000, 5000, spawns, spawned}};
  const sim::program p = sim::program_of(x.r);
  std::uint64_t computes = 0;
  for (std::size_t a = p.first_action[1]; a < p.first_action[2]; ++a) {
    if (p.actions[a].what == sim::action::compute) computes += p.actions[a].value;
  }
  EXPECT_EQ(computes, 4'000'000u);
}

TEST(sim_recorded_places, a_data_flow_fetches_and_keeps_its_order) {
  small_recording x;
  constexpr unsigned flow = recorded_task::outside | recorded_task::generated;
  const std::int32_t first = x.task({.scope = 1, .place = 1, .started = 5000, .ended = 5000, .flags = flow});
  const std::int32_t computes = x.task({.creator = first,
                                        .scope = 2,
                                        .place = 1,
                                        .created = 5000,
                                        .create_until = 12'000,
                                        .started = 12'000,
                                        .ended = 22'000,
                                        .flags = recorded_task::outside});
  const std::int32_t second =
      x.task({.scope = 1, .create_until = 26'000, .started = 26'000, .ended = 27'000, .flags = flow, .after = {first}});
  x.r.waits = {{0, 1, 0, 1000, 28'000}};
  using m = recorded_message;
  x.r.messages = {{m::spawn, 0, 1, 1000, 1000, 4500, 0, first},
                  {m::spawn, 1, 0, 64, 5500, 8000, first, -1},  // asks for elements
                  {m::result, 0, 1, 1000, 8000, 11'500, -1, first},
                  {m::result, 1, 0, 64, 22'500, 25'500, computes, 0}};
  const sim::result r = x.simulate();
  const auto at = [&](std::int32_t t) { return static_cast<double>(r.schedule.task(t).started); };
  EXPECT_NEAR(at(first), 3000, 20);
  // The question follows the answer that the task was accepted: 64 bytes each.
  EXPECT_NEAR(at(computes), 3000 + 64 + 64 + 2000 + 3000, 20);
  EXPECT_NEAR(at(second), 8128 + 10'000 + 2064, 20);
  EXPECT_NEAR(static_cast<double>(r.schedule.task(0).ended), 20'192 + 1000, 20);
  const sim::program again = sim::program_of(r.schedule);
  ASSERT_EQ(again.requests.size(), 1u);
  EXPECT_EQ(again.requests[0].awaited_by, computes);
  EXPECT_EQ(again.requests[0].reply_bytes, 936u);
}

TEST(sim_recorded_places, a_task_that_reads_elements_of_another_place_waits_for_them) {
  small_recording x;
  const std::int32_t reads = x.task({.scope = 1, .place = 1, .started = 5000, .ended = 16'000});
  x.r.tasks[static_cast<std::size_t>(reads)].work_ns = 5000;
  x.r.waits = {{reads, recorded_wait::for_future, 1, 6000, 12'000}};
  using m = recorded_message;
  x.r.messages = {{m::spawn, 0, 1, 64, 1000, 4500, 0, reads},
                  {m::spawn, 1, 0, 64, 6500, 8000, reads, -1},
                  {m::result, 0, 1, 1000, 8000, 11'500, -1, reads}};
  const recorded_task t = x.simulate().schedule.task(reads);
  EXPECT_NEAR(static_cast<double>(t.ended - t.started), 1000 + 2064 + 3000 + 4000, 20);
}

TEST(sim_recorded_places, a_node_is_one_of_the_tasks_place) {
  recording r = sample_of_places();
  r.meta["nodes"] = "3";
  r.worker_node = {0, 1, 2};
  r.places[0].nodes = 2;
  r.places[1].first_node = 2;
  r.tasks[1].node = 1;
  r.tasks[5].node = 0;
  r.tasks[3].node = 2;
  const sim::program p = sim::program_of(std::move(r));
  run_options s = plain(p);
  s.policy = "socket";
  s.places.workers = 8;
  const recording ran = sim::simulate(p, model_by_name("xeon-5504-cluster"), s).schedule;
  EXPECT_EQ(ran.tasks[1].node, 1);  // of the first host, which has nodes 0 and 1
  EXPECT_EQ(ran.tasks[5].node, 0);
  EXPECT_EQ(ran.tasks[3].node, 2);  // the first one of the second host
  for (const int t : {1, 5, 3}) EXPECT_EQ(ran.node_of(ran.task(t).worker), ran.task(t).node) << t;
}

TEST(sim_recorded_places, what_cannot_be_replayed_is_refused) {
  const auto refused = [](const auto& change, const std::string& why) {
    recording r = sample_of_places();
    change(r);
    EXPECT_THAT([&] { sim::program_of(r); }, ThrowsMessage<error>(HasSubstr(why)));
  };
  refused([](recording& r) { r.meta["place"] = "1"; }, "is of place 1 alone");
  refused([](recording& r) { r.places[1].workers = 0; }, "nothing is known of place 1");
  refused([](recording& r) { r.messages.front().received = 0; }, "did not arrive at place 1: a place was lost");
  refused(
      [](recording& r) {
        r.tasks[2].flags = recorded_task::outside;
        r.tasks[2].creator = -1;
      },
      "task 2 (step) was made by its place, for a coroutine or a kith::data_flow");
  refused(
      [](recording& r) {
        r.dependences = {{4, 8}};
        r.first_dependence.back() = 1;
      },
      "task 4 (step) spawns at another place, and tasks of its own place wait for it");
}

TEST(sim_recorded_places, a_machine_that_is_too_small_is_refused) {
  const sim::program p = sim::program_of(sample_of_places());
  run_options s = plain(p);
  s.places.workers = 100;
  EXPECT_THAT([&] { sim::simulate(p, model_by_name("xeon-5504-cluster"), s); },
              ThrowsMessage<error>(HasSubstr("cores for each of 2 places")));
  s.places.workers = 8;
  s.places.count = 9;
  EXPECT_THAT([&] { sim::simulate(p, model_by_name("xeon-5504-cluster"), s); },
              ThrowsMessage<error>(HasSubstr("--hosts 9")));
}

TEST(sim_recorded_places, a_cluster_of_equal_hosts_has_any_number_of_them) {
  const machine_model four = model_by_name("xeon-5504-cluster"), same = model_by_name("xeon-5504-cluster", 4);
  const machine_model many = model_by_name("xeon-5504-cluster", 256);
  EXPECT_EQ(same.hardware.distances, four.hardware.distances);
  EXPECT_EQ(four.links.size(), 16u);
  EXPECT_EQ(four.links[10].from, "node 5");
  EXPECT_EQ(four.links[10].to, "host 2");
  EXPECT_EQ(many.links.size(), 4u * 256);
  EXPECT_EQ(many.places, 256);
  EXPECT_EQ(many.hardware.nodes.size(), 512u);
  EXPECT_EQ(many.hardware.distance(node_id(510), node_id(511)), 21);
  EXPECT_EQ(many.hardware.distance(node_id(0), node_id(511)), 480);
  EXPECT_TRUE(sim::has_block_memory(four));
  EXPECT_FALSE(sim::has_block_memory(many));
  const sim::program p = sim::program_of(sample_of_places());
  run_options s = plain(p);
  s.fidelity = sim::fidelity::abstract;
  EXPECT_EQ(sim::simulate(p, many, s).places.size(), 2u);
  EXPECT_THAT([] { model_by_name("power6", 512); }, ThrowsMessage<error>(HasSubstr("equal hosts")));
  EXPECT_THAT([] { model_by_name("xeon-5504-cluster", 513); }, ThrowsMessage<error>(HasSubstr("up to 1024 nodes")));
}

}  // namespace
