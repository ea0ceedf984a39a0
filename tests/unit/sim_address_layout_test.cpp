// Where a replay puts recorded allocations, and pages that move, compared with results computed by hand.
#include "engine/sim/address_layout.hpp"
#include "engine/sim/simulation.hpp"
#include "support/recordings.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>

#include <vector>

namespace {

using namespace kith;
using kind = kith::distribution::kind;
using kith::test::page;
using sim::address_layout;
using sim::fidelity;
using sim::result;
using sim::run_options;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::uint64_t base = 1 << 20;
constexpr int nowhere = -1;

/// A program whose tasks each write a region of one page, at the given addresses. `allocations` exist from the start.
recording pages_at(const std::vector<std::uint64_t>& addresses, std::vector<recorded_allocation> allocations) {
  test::script s;
  for (std::uint32_t i = 0; i < addresses.size(); ++i) {
    s.region(page);
    s.task(0, {}, {{i, static_cast<std::uint8_t>(mode::out), page, page}});
  }
  recording r = s.finish();
  for (std::size_t i = 0; i < addresses.size(); ++i) r.regions[i].address = addresses[i];
  r.allocations = std::move(allocations);
  return r;
}
recorded_allocation asked(std::uint64_t address, std::uint64_t pages, kind how = kind::system, std::int16_t node = -1) {
  return {.address = address, .bytes = pages * page, .distribution = how, .node = node};
}

/// Eight nodes, of which those in `workers` have workers.
std::vector<int> nodes_of(const recording& r, sim::distribution d, const std::vector<int>& workers) {
  const machine on = synthetic_machine("node:8 core:1");
  std::vector<node_id> at;
  for (int n : workers) at.emplace_back(n);
  const address_layout l(sim::program_of(r), on, at, d, page);
  std::vector<int> found;
  for (std::uint32_t i = 0; i < r.regions.size(); ++i) found.push_back(l.node_at(i, 0).value);
  return found;
}

TEST(sim_address_layout, fine_deals_the_pages_of_an_allocation_to_nodes_with_workers) {
  const recording r = pages_at({base, base + page, base + 2 * page, base + 3 * page, base + 4 * page, base + 6 * page},
                               {asked(base, 8)});
  EXPECT_THAT(nodes_of(r, sim::distribution::fine, {1, 1, 3, 6}), ElementsAre(1, 3, 6, 1, 3, 1));
}

TEST(sim_address_layout, coarse_gives_each_allocation_to_the_next_node_from_worker_0_on) {
  const recording r = pages_at({base, base + page, 2 * base, 3 * base, 4 * base + page},
                               {asked(base, 2), asked(2 * base, 1), asked(3 * base, 1), asked(4 * base, 2)});
  EXPECT_THAT(nodes_of(r, sim::distribution::coarse, {5, 2, 7}), ElementsAre(5, 5, 7, 2, 5));
}

TEST(sim_address_layout, block_gives_equal_shares) {
  const recording r = pages_at({base, base + page, base + 2 * page, base + 3 * page, base + 4 * page, base + 7 * page},
                               {asked(base, 8)});
  EXPECT_THAT(nodes_of(r, sim::distribution::block, {0, 1, 2, 3}), ElementsAre(0, 0, 1, 1, 2, 3));
}

TEST(sim_address_layout, recorded_keeps_what_each_call_asked_for) {
  recording r = pages_at(
      {base, base + page, 2 * base, 3 * base, 4 * base, 5 * base, 6 * base},
      {asked(base, 2, kind::fine), asked(2 * base, 1, kind::coarse), asked(3 * base, 1, kind::system),
       asked(4 * base, 1, kind::at_node, 1), asked(5 * base, 1, kind::coarse), asked(6 * base, 1, kind::local, 0)});
  r.meta["nodes"] = "2";  // node 1 of two is node 4 of eight
  EXPECT_THAT(nodes_of(r, sim::distribution::recorded, {0, 1, 4}), ElementsAre(0, 1, 0, nowhere, 4, 1, 0));
}

TEST(sim_address_layout, what_is_from_no_allocation_is_where_it_is_touched_first) {
  const recording r = pages_at({base - page, base, base + page}, {asked(base, 1)});
  for (sim::distribution d : {sim::distribution::fine, sim::distribution::coarse, sim::distribution::block})
    EXPECT_THAT(nodes_of(r, d, {3}), ElementsAre(nowhere, 3, nowhere));
}

TEST(sim_address_layout, memory_given_out_again_is_another_allocation) {
  // Tasks are created at 1, 2, 3 and 4.
  recording r =
      pages_at({base, base + page, base + 2 * page, base + 3 * page}, {asked(base, 4), asked(base + page, 2)});
  r.allocations[0].released = 2;
  r.allocations[1].at = 2;
  EXPECT_THAT(nodes_of(r, sim::distribution::coarse, {0, 1}), ElementsAre(0, 1, 1, nowhere));
}

TEST(sim_address_layout, a_piece_is_on_one_node) {
  const recording r = pages_at({base, base + page, base + 4 * page, base + 8 * page}, {asked(base, 16)});
  const std::vector<node_id> workers{node_id(0), node_id(1)};
  const address_layout l(sim::program_of(r), synthetic_machine("node:2 core:1"), workers, sim::distribution::fine,
                         4 * page);
  EXPECT_EQ(l.node_at(0, 0), node_id(0));
  EXPECT_EQ(l.node_at(1, 0), node_id(0));
  EXPECT_EQ(l.node_at(2, 0), node_id(1));
  EXPECT_EQ(l.node_at(3, 0), node_id(0));
  EXPECT_EQ(l.node_at(3, 4 * page), node_id(1));
}

/// The model of eight nodes, in which only data takes time.
struct replayed {
  machine_model on = model_by_name("bullion-s16-8");
  run_options set;
  replayed() {
    on.overlap = 0;
    set.policy = "socket";
    set.parts = {.contention = false, .latency = true, .caches = false, .scheduling = false};
    set.noise = false;
    set.keep_schedule = true;
  }
  double far() const { return on.hardware.distances[0][1] / 10.0; }
  double fetch(std::uint64_t bytes) const { return static_cast<double>(sim::rate(on.core_gbs)(bytes)); }
};

TEST(sim_address_layout, a_task_on_node_0_fetches_from_where_the_allocation_was_asked_to_be) {
  replayed at;
  recording r = pages_at({base}, {asked(base, 1, kind::at_node, 1)});
  r.meta["nodes"] = "8";
  r.accesses[0].mode = static_cast<std::uint8_t>(mode::in);
  r.tasks[1].node = 0;
  const sim::program p = sim::program_of(r);
  EXPECT_NEAR(static_cast<double>(sim::simulate(p, at.on, at.set).makespan), at.fetch(page), 100);
  at.set.distribution = sim::distribution::recorded;
  const result moved = sim::simulate(p, at.on, at.set);
  EXPECT_NEAR(static_cast<double>(moved.makespan), at.far() * at.fetch(page), 100'000);
  EXPECT_EQ(moved.remote_bytes, page);
  EXPECT_EQ(moved.local_bytes, 0u);
  EXPECT_EQ(moved.remote_accesses, 2u);  // the task, and its read
  EXPECT_EQ(moved.schedule.regions[0].home, 1);
  // The abstract model stretches time by the share of far data.
  at.set.fidelity = fidelity::abstract;
  const auto abstract = static_cast<double>(sim::simulate(p, at.on, at.set).makespan);
  const double factor = 1 - at.on.memory_share + at.on.memory_share * at.on.remote_factor;
  EXPECT_NEAR(abstract, factor * at.fetch(page), 0.01 * abstract + 100'000);
}

TEST(sim_address_layout, deferred_memory_is_where_its_first_writer_is) {
  replayed at;
  recording r = pages_at({base, base}, {asked(base, 1, kind::deferred)});
  r.regions.pop_back();
  r.accesses[1].region = 0;
  r.accesses[0].mode = static_cast<std::uint8_t>(mode::in);  // reads it first, which does not decide the home
  r.dependences = {{1, 0}};
  r.first_dependence = {0, 0, 0, 1};
  r.meta["nodes"] = "8";
  r.tasks[1].node = 0;
  r.tasks[2].node = 1;
  const sim::program p = sim::program_of(r);
  at.set.distribution = sim::distribution::recorded;
  EXPECT_EQ(sim::simulate(p, at.on, at.set).schedule.regions[0].home, 1);
  at.set.distribution = sim::distribution::first_touch;
  EXPECT_EQ(sim::simulate(p, at.on, at.set).schedule.regions[0].home, 0);
}

TEST(sim_address_layout, a_native_runs_allocations_come_back) {
  runtime_options on = test::make_options(4, "socket", "node:4 core:1");
  const recording r = test::record(on, [](runtime& rt) {
    auto* const named = static_cast<std::byte*>(allocate(rt, page, node{3}));
    auto* const spread = static_cast<std::byte*>(allocate(rt, 4 * 65536, distribution::fine));
    rt.run([&] {
      spawn([] {}, out(named, page), node{0});
      for (int i = 0; i < 4; ++i) spawn([] {}, out(spread + i * 65536, page), node{0});
    });
    deallocate(named);
    deallocate(spread);
  });
  ASSERT_EQ(r.allocations.size(), 2u);
  run_options s;
  s.policy = "socket";
  s.distribution = sim::distribution::recorded;
  s.keep_schedule = true;
  const result got = sim::simulate(sim::program_of(r), model_by_name("xeon-e7-8860"), s);  // eight nodes
  std::vector<int> homes;
  for (const recorded_region& region : got.schedule.regions) homes.push_back(region.home);
  EXPECT_THAT(homes, ElementsAre(6, 0, 1, 2, 3));
}

TEST(sim_address_layout, block_needs_allocations) {
  replayed at;
  at.set.distribution = sim::distribution::block;
  const sim::program p = sim::program_of(pages_at({base}, {}));
  EXPECT_THAT([&] { sim::simulate(p, at.on, at.set); }, ThrowsMessage<error>(HasSubstr("has no allocations")));
}

TEST(sim_migration, a_chunk_moves_once_and_is_local_then) {
  const replayed at;
  recording r = pages_at({base}, {});
  sim::memory data(sim::program_of(r), at.on, sim::distribution::first_touch, {}, 65536);
  EXPECT_EQ(data.migrate(0, page, node_id(1), 0), 0u);  // it has no home yet
  data.touch(0, page, true, {node_id(0), 0, 0}, 0);
  const std::uint64_t later = 1'000'000'000;
  EXPECT_NEAR(static_cast<double>(data.migrate(0, page, node_id(1), later)), at.far() * at.fetch(page), 1000);
  EXPECT_EQ(data.home(0), node_id(1));
  EXPECT_EQ(data.migrated_bytes, page);
  EXPECT_EQ(data.migrate(0, page, node_id(1), later), 0u);
  EXPECT_EQ(data.migrated_bytes, page);
  EXPECT_EQ(data.remote_bytes, 0u);
  // No cache holds it, and its memory is local.
  EXPECT_EQ(static_cast<double>(data.touch(0, page, false, {node_id(1), 1, 0}, 2 * later).took), at.fetch(page));
  EXPECT_EQ(data.hits, 0u);
  std::uint64_t carried = 0;
  for (std::uint32_t l : data.links.route(node_id(0), node_id(1))) carried += data.links.links[l].data;
  EXPECT_EQ(carried, page * data.links.route(node_id(0), node_id(1)).size());
}

/// Written on node 0, then on node 1, and read there. The second task pays for the move, and the third gains.
TEST(sim_migration, written_pages_go_to_the_node_that_writes_them) {
  constexpr std::uint64_t bytes = 65536;
  test::script s;
  s.region(bytes);
  const auto out = static_cast<std::uint8_t>(mode::out), in = static_cast<std::uint8_t>(mode::in);
  const std::int32_t a = s.task(0, {}, {{0, out, bytes, bytes}});
  const std::int32_t b = s.task(0, {a}, {{0, out, bytes, bytes}});
  const std::int32_t c = s.task(0, {b}, {{0, in, bytes, bytes}});
  s[a].node = 0;
  s[b].node = s[c].node = 1;
  recording r = s.finish();
  r.meta["nodes"] = "8";
  const sim::program p = sim::program_of(r);
  replayed at;
  const double near = at.fetch(bytes), far = at.far() * near, slack = 200'000;  // instants after which
                                                                                // workers look again
  const result stays = sim::simulate(p, at.on, at.set);
  EXPECT_NEAR(static_cast<double>(stays.makespan), near + far + far, slack);
  EXPECT_EQ(stays.remote_bytes, 2 * bytes + 2 * at.on.metadata_bytes);
  EXPECT_EQ(stays.migrated_bytes, 0u);
  EXPECT_EQ(stays.remote_accesses, 3u);  // the second task; the third, and its read
  at.set.policy = "socket+pm";
  const result moves = sim::simulate(p, at.on, at.set);
  EXPECT_NEAR(static_cast<double>(moves.makespan), near + (far + near) + near, slack);
  EXPECT_EQ(moves.remote_bytes, 2 * at.on.metadata_bytes);
  EXPECT_EQ(moves.migrated_bytes, bytes);
  EXPECT_EQ(moves.schedule.regions[0].home, 1);
  EXPECT_EQ(moves.schedule.meta.at("migrate"), "1");
  EXPECT_EQ(moves.remote_accesses, 1u);  // the second task, before the move
}

TEST(sim_migration, is_part_of_the_fidelity_block) {
  replayed at;
  at.set.policy = "dep+pm";
  at.set.fidelity = fidelity::abstract;
  const sim::program p = sim::program_of(pages_at({base}, {}));
  EXPECT_THAT([&] { sim::simulate(p, at.on, at.set); },
              ThrowsMessage<error>(HasSubstr("part of the fidelity block alone")));
}

}  // namespace
