// Messages in a mesh, and what a link that is taken does to them.
#include "engine/sim/line_network.hpp"

#include "base/rng.hpp"
#include "support/recordings.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

namespace {

using namespace kith;
using sim::line_network;
using sim::picoseconds;
using sim::reservations;

constexpr picoseconds hop = 3 * test::cycle;

TEST(sim_reservations, fill_the_first_gap_that_is_long_enough) {
  reservations r;
  EXPECT_EQ(r.take(100, 10, 0), 100u);
  EXPECT_EQ(r.take(130, 10, 0), 130u);
  EXPECT_EQ(r.take(105, 10, 0), 110u);  // behind the first
  EXPECT_EQ(r.take(100, 11, 0), 140u);  // 120 to 130 is too short
  EXPECT_EQ(r.take(90, 10, 0), 90u);
  EXPECT_EQ(r.take(90, 10, 0), 120u);
  EXPECT_EQ(r.take(0, 91, 0), 151u);
  EXPECT_EQ(r.take(500, 10, 400), 500u);
}

TEST(sim_reservations, never_overlap) {
  rng draw(1, purpose::test, 0);
  reservations r;
  std::vector<bool> taken(20000);
  picoseconds now = 0;
  for (int i = 0; i < 2000; ++i) {
    now += draw.below(5);
    const picoseconds from = now + draw.below(300), length = 1 + draw.below(6), at = r.take(from, length, now);
    ASSERT_GE(at, from);
    // No gap before it was long enough.
    picoseconds gap = 0, first = from;
    for (picoseconds t = from; gap < length; ++t) {
      gap = taken[t] ? 0 : gap + 1;
      first = t + 1 - gap;
    }
    ASSERT_EQ(at, first) << i;
    for (picoseconds t = at; t < at + length; ++t) taken[t] = true;
  }
}

TEST(sim_line_network, the_tail_follows_the_head) {
  const machine_model m = model_by_name("cmp-32");
  line_network n(m, true, true);
  EXPECT_EQ(n.send(node_id(3), node_id(3), 72, true, 100, 0), 100u);
  EXPECT_EQ(n.flits, 0u);
  EXPECT_EQ(n.send(node_id(0), node_id(1), 8, false, 0, 0), hop);
  EXPECT_EQ(n.send(node_id(8), node_id(15), 72, true, 0, 0), 7 * hop + 4 * test::cycle);  // five flits
  EXPECT_EQ(n.flits, 1u + 7 * 5);
}

TEST(sim_line_network, messages_that_share_a_link_wait_for_each_other) {
  const machine_model m = model_by_name("cmp-32");
  for (const bool contended : {true, false}) {
    line_network n(m, contended, true);
    const picoseconds alone = n.send(node_id(0), node_id(3), 72, true, 0, 0);
    EXPECT_EQ(n.send(node_id(8), node_id(11), 72, true, 0, 0), alone);  // the next row
    EXPECT_EQ(n.send(node_id(3), node_id(0), 72, true, 0, 0), alone);   // the other direction
    const picoseconds wait = contended ? 5 * test::cycle : 0;
    EXPECT_EQ(n.send(node_id(1), node_id(4), 72, true, hop, 0), hop + wait + alone);
    // Behind the first one on its first link, and behind the other one on the next.
    EXPECT_EQ(n.send(node_id(0), node_id(3), 8, false, 0, 0), alone - 4 * test::cycle + 2 * wait);
  }
}

TEST(sim_line_network, a_way_in_a_mesh_is_as_long_as_its_hops) {
  const machine_model m = model_by_name("cmp-32");
  for (int from = 0; from < 32; ++from) {
    for (int to = 0; to < 32; ++to) {
      line_network n(m, true, true);
      const int hops = std::abs(from % 8 - to % 8) + std::abs(from / 8 - to / 8);
      EXPECT_EQ(n.send(node_id(from), node_id(to), 8, false, 0, 0), static_cast<picoseconds>(hops) * hop);
    }
  }
}

}  // namespace
