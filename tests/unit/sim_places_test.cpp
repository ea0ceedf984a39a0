// Places in the simulator: messages computed by hand, and properties of every schedule.
#include "base/rng.hpp"
#include "engine/sim/place_program.hpp"
#include "engine/sim/simulation.hpp"
#include "support/simulated_programs.hpp"

#include <gmock/gmock.h>

#include <string>

namespace {

using namespace kith;
using sim::place_program;
using sim::result;
using sim::run_options;
using test::ns;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Two nodes and a link of a byte in a nanosecond between them; a message takes another 2 us.
machine_model two_nodes(int cores = 1) {
  machine_model m = model_by_name("bullion-s16-8");
  m.hardware = synthetic_machine("node:2 core:" + std::to_string(cores));
  m.speeds.assign(m.hardware.cores.size(), 1);
  m.links = {{"node 0", "node 1", 1}};
  m.costs.push = 1000;
  return m;
}

machine_model sixteen_cores() { return model_by_name("power6"); }

/// Only tasks and messages take time.
run_options plain(int places, int workers = 1) {
  run_options s;
  s.policy = "ads";
  s.fidelity = sim::fidelity::abstract;
  s.places.count = places;
  s.places.workers = workers;
  s.parts.scheduling = s.noise = false;
  s.keep_schedule = true;
  return s;
}

TEST(sim_places, a_remote_task_takes_its_messages_and_its_work) {
  place_program p(2);
  const std::uint32_t all = p.scope();
  p.task({.scope = all, .place = 1, .work_ns = 10'000, .message_bytes = 936});
  p.wait(place_program::main, all);
  const result r = sim::simulate(p.finish(), two_nodes(), plain(2));
  // 1000 bytes and 2 us, the work, 64 bytes and 2 us; idle workers look again after instants.
  EXPECT_NEAR(static_cast<double>(r.makespan), 3000 * ns + 10'000 * ns + 2064 * ns, 20 * ns);
  EXPECT_EQ(r.places[0].messages, 1u);
  EXPECT_EQ(r.places[0].message_bytes, 1000u);
  EXPECT_EQ(r.places[1].messages, 2u);  // it is accepted, and has ended
  EXPECT_EQ(r.places[1].accepted, 1u);
  EXPECT_EQ(r.schedule.tasks[1].worker, 1);
}

TEST(sim_places, what_a_task_needs_from_another_place_comes_as_a_message) {
  place_program p(2);
  const std::uint32_t all = p.scope(), there = p.scope();
  const std::int32_t before = p.task({.scope = all, .place = 0, .work_ns = 50'000});
  const std::int32_t driver = p.task({.scope = all, .place = 1});
  p.task({.creator = driver, .scope = there, .place = 1, .work_ns = 1000});
  p.needs(before, 936);
  p.wait(driver, there);
  p.wait(place_program::main, all);
  const result r = sim::simulate(p.finish(), two_nodes(), plain(2));
  EXPECT_NEAR(static_cast<double>(r.schedule.tasks[3].started - r.schedule.tasks[1].ended), 3000, 20);
}

/// Places send each other tasks, which have tasks of their own.
sim::program random_activities(std::uint64_t seed, int places) {
  rng draw(seed, purpose::test, 0);
  const auto below = [&](int n) { return static_cast<int>(draw.below(static_cast<std::uint32_t>(n))); };
  place_program p(places);
  for (int round = 0; round < 5; ++round) {
    const std::uint32_t all = p.scope();
    for (int t = 0; t < 3 * places; ++t) {
      const std::int32_t made = p.task({.scope = all, .place = below(places), .message_bytes = 100});
      const std::uint32_t inner = p.scope();
      for (int k = below(6); k > 0; --k)
        p.task({.creator = made, .scope = inner, .place = p.place_of(made), .work_ns = 100.0 * below(1000)});
      p.wait(made, inner);
      p.task({.creator = made, .scope = all, .place = below(places), .work_ns = 1000});
    }
    p.wait(place_program::main, all);
  }
  return p.finish();
}

TEST(sim_places, a_task_runs_where_it_belongs_and_is_stolen_only_there) {
  for (const std::string policy : {"ads", "steal", "fifo", "dfifo", "nabbit", "dep"}) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const sim::program p = random_activities(seed, 4);
      run_options s = plain(4, 3);
      s.policy = policy;
      s.parts.scheduling = s.noise = true;
      s.seed = seed;
      const result r = sim::simulate(p, sixteen_cores(), s);
      for (std::size_t t = 0; t < p.tasks(); ++t) {
        if (t == place_program::main) continue;
        EXPECT_EQ(r.schedule.tasks[t].worker / 3, p.place[t]) << policy << ", task " << t;
      }
      for (const recorded_steal& steal : r.schedule.steals) EXPECT_EQ(steal.worker / 3, steal.victim / 3) << policy;
      EXPECT_EQ(r.total.tasks, p.tasks() - 1) << policy;
    }
  }
}

TEST(sim_places, one_group_ignores_the_places) {
  const sim::program p = random_activities(1, 4);
  run_options s = plain(4, 3);
  s.places.groups = sim::worker_groups::all;
  const result r = sim::simulate(p, sixteen_cores(), s);
  int elsewhere = 0;
  for (std::size_t t = 1; t < p.tasks(); ++t) elsewhere += r.schedule.tasks[t].worker / 3 != p.place[t] ? 1 : 0;
  EXPECT_GT(elsewhere, 0);
  EXPECT_TRUE(r.places.empty());
}

TEST(sim_places, each_worker_may_be_a_place) {
  const sim::program p = random_activities(2, 12);
  run_options s = plain(4, 3);
  s.places.groups = sim::worker_groups::workers;
  const result r = sim::simulate(p, sixteen_cores(), s);
  for (std::size_t t = 1; t < p.tasks(); ++t) EXPECT_EQ(r.schedule.tasks[t].worker, p.place[t]);
}

/// Place 0 sends place 1 three tasks, each of which takes 100 us.
sim::program three_for_one() {
  place_program p(2);
  const std::uint32_t all = p.scope();
  for (int t = 0; t < 3; ++t) p.task({.scope = all, .place = 1, .work_ns = 100'000});
  p.wait(place_program::main, all);
  return p.finish();
}

TEST(sim_places, a_full_buffer_refuses_until_there_is_room) {
  run_options s = plain(2);
  result r = sim::simulate(three_for_one(), two_nodes(), s);
  EXPECT_EQ(r.places[1].refused, 0u);
  EXPECT_EQ(r.places[1].fab_peak, 2u);
  s.places.fab_threshold = 1;
  r = sim::simulate(three_for_one(), two_nodes(), s);
  EXPECT_EQ(r.places[1].accepted, 3u);
  EXPECT_EQ(r.places[1].fab_peak, 1u);
  // The third is offered after 10, 20, 40 and 80 us more, each time with two messages: by then the first has ended.
  EXPECT_EQ(r.places[1].refused, 4u);
  EXPECT_EQ(r.places[1].forced, 0u);
  EXPECT_LT(r.makespan, 310'000 * ns);
}

TEST(sim_places, spawners_that_wait_for_each_other_go_on_after_the_last_refusal) {
  place_program p(2);
  const std::uint32_t all = p.scope();
  const auto tasks_for = [&](std::int32_t creator, int place) {
    for (int t = 0; t < 3; ++t) p.task({.creator = creator, .scope = all, .place = place, .work_ns = 10});
  };
  tasks_for(p.task({.scope = all, .place = 1}), 0);
  tasks_for(place_program::main, 1);
  p.wait(place_program::main, all);
  run_options s = plain(2);
  s.places.fab_threshold = 1;
  s.places.most_refusals = 3;
  const result r = sim::simulate(p.finish(), two_nodes(), s);
  EXPECT_GT(r.places[0].forced + r.places[1].forced, 0u);
  EXPECT_EQ(r.total.tasks, 7u);
}

TEST(sim_places, a_creator_may_work_while_it_waits_for_the_answer) {
  place_program p(2);
  const std::uint32_t all = p.scope();
  p.task({.scope = all, .place = 0, .work_ns = 3000});
  p.task({.scope = all, .place = 1, .message_bytes = 936});
  p.wait(place_program::main, all);
  run_options s = plain(2);
  const sim::program both = p.finish();
  const result blocks = sim::simulate(both, two_nodes(), s);
  s.places.works = true;
  const result works = sim::simulate(both, two_nodes(), s);
  // The answer comes after 5064 ns; the remote task ends then, too.
  EXPECT_NEAR(static_cast<double>(blocks.schedule.tasks[1].started), 5064, 20);
  EXPECT_NEAR(static_cast<double>(works.schedule.tasks[1].started), 0, 20);
}

TEST(sim_places, works_or_blocks_all_tasks_run) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const sim::program p = random_activities(seed, 4);
    run_options s = plain(4, 1 + static_cast<int>(seed % 3));
    s.parts.scheduling = s.noise = true;
    s.places.works = seed % 2 == 0;
    s.places.fab_threshold = 1 + seed % 4;
    EXPECT_EQ(sim::simulate(p, sixteen_cores(), s).total.tasks, p.tasks() - 1);
  }
}

TEST(sim_places, the_same_input_gives_the_same_run) {
  const sim::program p = random_activities(3, 8);
  run_options s = plain(8, 2);
  s.parts.scheduling = s.noise = true;
  const result a = sim::simulate(p, sixteen_cores(), s), b = sim::simulate(p, sixteen_cores(), s);
  EXPECT_EQ(a.makespan, b.makespan);
  EXPECT_EQ(a.steps, b.steps);
  for (std::size_t t = 0; t < p.tasks(); ++t) EXPECT_EQ(a.schedule.tasks[t].worker, b.schedule.tasks[t].worker);
}

TEST(sim_places, wrong_settings_are_refused) {
  const sim::program p = three_for_one();
  const auto run = [&](int places, int workers) {
    return [&p, places, workers] { sim::simulate(p, two_nodes(), plain(places, workers)); };
  };
  EXPECT_THAT(run(1, 1), ThrowsMessage<error>(HasSubstr("has 2 places; 1 were asked for")));
  EXPECT_THAT(run(2, 2), ThrowsMessage<error>(HasSubstr("1 cores for each of 2 places; 2 workers were asked for")));
  EXPECT_THAT([] { sim::simulate(random_activities(3, 8), two_nodes(), plain(8, 0)); },
              ThrowsMessage<error>(HasSubstr("has 2 cores for 8 places; expected one for each at least")));
}

}  // namespace
