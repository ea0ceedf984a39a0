// Recordings of places are replayed: tasks stay at their places, and what was spawned travels.
#include "engine/sim/recorded_places.hpp"
#include "recording/check.hpp"
#include "support/sample_of_places.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

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

TEST(sim_recorded_places, what_cannot_be_replayed_is_refused) {
  const auto refused = [](const auto& change, const std::string& why) {
    recording r = sample_of_places();
    change(r);
    EXPECT_THAT([&] { sim::program_of(r); }, ThrowsMessage<error>(HasSubstr(why)));
  };
  refused([](recording& r) { r.meta["place"] = "1"; }, "is of place 1 alone");
  refused([](recording& r) { r.places[1].workers = 0; }, "nothing is known of place 1");
  refused([](recording& r) { r.tasks[2].flags = recorded_task::outside; }, "an activity that is a coroutine");
  refused([](recording& r) { r.tasks[1].node = 0; }, "task 1 (step) has a node");
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
  EXPECT_THAT([] { model_by_name("bluegene-p", 512); }, ThrowsMessage<error>(HasSubstr("equal hosts")));
  EXPECT_THAT([] { model_by_name("xeon-5504-cluster", 513); }, ThrowsMessage<error>(HasSubstr("up to 1024 nodes")));
}

}  // namespace
