// Fidelity line: the energy of a run is that of its events.
#include "support/line_runs.hpp"

#include <gmock/gmock.h>

#include <cstdint>

namespace {

using namespace kith;
using sim::program;
using sim::result;
using sim::run_options;
using test::by_turns;
using test::chip;
using test::lines;
using test::program_of;
using test::small_chip;
using test::touching_script;
using testing::HasSubstr;

TEST(sim_energy, of_the_network_needs_a_table) {
  machine_model m = chip();
  const double known = sim::simulate(by_turns(8, 10), m, lines("fifo", 2)).network_nj;
  EXPECT_GT(known, 0);
  m.energies.flit_bytes *= 2;  // a flit of the table is twice as large as one of the model
  EXPECT_DOUBLE_EQ(sim::simulate(by_turns(8, 10), m, lines("fifo", 2)).network_nj, known / 2);
  m.energies = {};
  EXPECT_EQ(sim::simulate(by_turns(8, 10), m, lines("fifo", 2)).network_nj, 0);
}

TEST(sim_energy, is_that_of_each_event) {
  machine_model m = small_chip();
  m.energies = {.flit_bytes = 16,
                .flit_hop = 0,
                .first_access = 1,
                .second_access = 1000,
                .directory_access = 1e5,
                .memory_access = 1e7,
                .unit_operation = 1e9};
  // Nine lines of one set of L2, which has room for four, are written twice. L1 has no line left when it is written
  // again.
  touching_script s;
  const std::uint32_t b = s.block(std::uint64_t{9} * 512);
  const std::int32_t t = s.task(1000);
  for (int pass = 0; pass < 2; ++pass) {
    for (std::uint64_t i = 0; i < 9; ++i) s.write(t, b, i * 512);
  }
  run_options in_unit = lines("fifo", 1);
  in_unit.hardware = {.used = true, .cycles = {}, .prefetch = 0};
  const program p = program_of(s);
  const result r = sim::simulate(p, m, in_unit);
  ASSERT_TRUE(r.lines->energy);
  const sim::part_energies& e = *r.lines->energy;
  EXPECT_DOUBLE_EQ(e.first, 18e-3);
  EXPECT_DOUBLE_EQ(e.second, 18 + 18 + 14);  // looked up, arrived, written back
  EXPECT_DOUBLE_EQ(e.directory, 1e2 * (18 + 14));
  EXPECT_DOUBLE_EQ(e.memory, 1e4 * (18 + 14));
  EXPECT_DOUBLE_EQ(e.unit, 1e6 * static_cast<double>(r.unit_operations));
  EXPECT_EQ(e.network, 0);
  EXPECT_DOUBLE_EQ(e.sum(), e.first + e.second + e.directory + e.memory + e.unit);

  m.energies.unit_operation.reset();
  EXPECT_FALSE(sim::simulate(p, m, in_unit).lines->energy);
  EXPECT_EQ(sim::missing_energies(m, true), "energy.unit_operation");
  EXPECT_TRUE(sim::simulate(p, m, lines("fifo", 1)).lines->energy) << "which queues in software do not need";
  m.energies = {};
  EXPECT_THAT(sim::missing_energies(m, false), HasSubstr("energy.flit_hop, energy.first_access"));
}

}  // namespace
