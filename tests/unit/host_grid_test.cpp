// Hosts in a grid: the same routes, distances and runs as the nodes of a torus with tables of all pairs.
#include "base/rng.hpp"
#include "engine/sim/links.hpp"
#include "engine/sim/place_program.hpp"
#include "engine/sim/simulation.hpp"
#include "machine/hosts.hpp"
#include "machine/model.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace {

using namespace kith;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// bluegene-p as one host of a grid, as if it had too many for tables.
machine_model as_hosts(int places) {
  machine_model m = model_by_name("bluegene-p", 1);
  m.hosts = host_grid{torus_of(places), 80, 3, 0.425};
  m.places = places;
  return m;
}

sim::run_options on_places(int places) {
  sim::run_options s;
  s.policy = "ads";
  s.fidelity = sim::fidelity::abstract;
  s.places.count = places;
  s.places.workers = 2;
  return s;
}

/// Each place sends tasks to others at random.
sim::program random_messages(int places) {
  rng draw(1, purpose::test, 0);
  const auto any = [&] { return static_cast<int>(draw.below(static_cast<std::uint32_t>(places))); };
  sim::place_program p(places);
  for (int round = 0; round < 3; ++round) {
    const std::uint32_t all = p.scope();
    for (int i = 0; i < 4 * places; ++i) {
      const std::int32_t t = p.task({.scope = all, .place = any(), .message_bytes = 100});
      p.task({.creator = t, .scope = all, .place = any(), .work_ns = 500.0 * any(), .message_bytes = 5000});
    }
    p.wait(sim::place_program::main, all);
  }
  return p.finish();
}

TEST(host_grid, neighbours_are_one_hop_away) {
  for (const grid g : {grid{5, 3, 2, true}, grid{4, 1, 1, true}, grid{2, 2, 2, true}, grid{4, 3, 1, false}, grid{}}) {
    for (int a = 0; a < g.vertices(); ++a) {
      std::vector<int> expected;
      for (int b = 0; b < g.vertices(); ++b) {
        if (g.hops(a, b) == 1) expected.push_back(b);
      }
      const grid::neighbours found = g.neighbours_of(a);
      EXPECT_THAT(std::vector<int>(found.begin(), found.end()), ElementsAreArray(expected)) << a;
    }
  }
}

TEST(host_grid, a_torus_has_sides_that_are_as_equal_as_can_be) {
  const auto sides = [](int hosts) {
    const grid g = torus_of(hosts);
    return std::vector{g.x, g.y, g.z};
  };
  EXPECT_THAT(sides(256), ElementsAreArray({8, 8, 4}));
  EXPECT_THAT(sides(65536), ElementsAreArray({64, 32, 32}));
  EXPECT_THAT(sides(7), ElementsAreArray({7, 1, 1}));
  EXPECT_THAT(sides(1), ElementsAreArray({1, 1, 1}));
}

TEST(host_grid, has_the_routes_and_distances_of_a_torus_of_nodes) {
  for (const int places : {24, 27, 64}) {
    const machine_model nodes = model_by_name("bluegene-p", places), hosts = as_hosts(places);
    const sim::interconnect by_table(nodes), by_rule(hosts);
    ASSERT_EQ(by_table.links.size(), by_rule.links.size());
    for (int a = 0; a < places; ++a) {
      for (int b = 0; b < places; ++b) {
        EXPECT_THAT(by_rule.route(node_id(a), node_id(b)), ElementsAreArray(by_table.route(node_id(a), node_id(b))))
            << places << " hosts, from " << a << " to " << b;
        EXPECT_EQ(hosts.distance(node_id(a), node_id(b)), nodes.distance(node_id(a), node_id(b)));
      }
    }
  }
}

TEST(host_grid, runs_places_as_a_torus_of_nodes_does) {
  const sim::program p = random_messages(48);
  const sim::result nodes = sim::simulate(p, model_by_name("bluegene-p", 48), on_places(48));
  const sim::result hosts = sim::simulate(p, as_hosts(48), on_places(48));
  EXPECT_EQ(hosts.makespan, nodes.makespan);
  EXPECT_EQ(hosts.events, nodes.events);
  ASSERT_EQ(hosts.places.size(), nodes.places.size());
  for (std::size_t at = 0; at < nodes.places.size(); ++at) {
    EXPECT_EQ(hosts.places[at].messages, nodes.places[at].messages);
    EXPECT_EQ(hosts.places[at].refused, nodes.places[at].refused);
    EXPECT_EQ(hosts.places[at].fab_mean, nodes.places[at].fab_mean);
  }
}

TEST(host_grid, machines_are_sized_to_65536_hosts) {
  const machine_model as_is = model_by_name("bluegene-p"), same = model_by_name("bluegene-p", 256);
  EXPECT_EQ(same.hardware.distances, as_is.hardware.distances);
  EXPECT_EQ(same.links.size(), as_is.links.size());
  EXPECT_FALSE(same.hosts);
  EXPECT_EQ(model_by_name("bluegene-p", 1024).hardware.nodes.size(), 1024u);
  const machine_model most = model_by_name("bluegene-p", most_hosts);
  ASSERT_TRUE(most.hosts);
  EXPECT_EQ(most.nodes(), 65536u);
  EXPECT_EQ(most.places, 65536);
  EXPECT_EQ(most.hardware.nodes.size(), 1u);
  EXPECT_EQ(most.distance(node_id(0), node_id(1)), as_is.hardware.distances[0][1]);
  EXPECT_FALSE(sim::has_block_memory(most));
  EXPECT_THAT([] { model_by_name("bluegene-p", most_hosts + 1); },
              ThrowsMessage<error>(HasSubstr("up to 65536 hosts")));
}

TEST(host_grid, refuses_what_it_does_not_model) {
  const machine_model m = as_hosts(4);
  const auto refused = [&m](const sim::run_options& s) { return [&m, s] { sim::simulate(random_messages(4), m, s); }; };
  sim::run_options s = on_places(4);
  s.fidelity = sim::fidelity::block;
  EXPECT_THAT(refused(s), ThrowsMessage<error>(HasSubstr("expected fidelity abstract")));
  s = on_places(4);
  s.keep_schedule = true;
  EXPECT_THAT(refused(s), ThrowsMessage<error>(HasSubstr("no -o")));
  EXPECT_THAT(refused(on_places(5)), ThrowsMessage<error>(HasSubstr("--hosts 5")));
  s = on_places(0);
  s.workers = 2;
  EXPECT_THAT(refused(s), ThrowsMessage<error>(HasSubstr("programs with places alone")));
  s.workers = 1;  // one core, for speed-ups
  EXPECT_GT(sim::simulate(random_messages(4), m, s).makespan, 0u);
}

}  // namespace
