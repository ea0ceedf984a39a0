// Machines, settings and programs of tests of the fidelity line.
#pragma once

#include "support/touching.hpp"

#include "engine/sim/simulation.hpp"

#include <cstdint>
#include <string>

namespace kith::test {

using sim::program;
using sim::run_options;

/// Only accesses take time.
inline machine_model chip() {
  machine_model m = model_by_name("cmp-32");
  m.costs = {};
  m.metadata_bytes = 0;
  m.line.access_cycles = 2;
  return m;
}
/// With 512 bytes of L1 and 2 KiB of L2.
inline machine_model small_chip() {
  machine_model m = chip();
  m.line.first = {512, 2, 2};
  m.line.second = {2048, 4, 20};
  return m;
}

inline run_options lines(const std::string& policy, int workers) {
  run_options s;
  s.policy = policy;
  s.workers = workers;
  s.fidelity = sim::fidelity::line;
  s.noise = false;
  return s;
}

inline program program_of(touching_script& s, std::uint32_t sets = 1) {
  program p = sim::program_of(s.finish());
  p.lines = sim::line_streams_of(p.recorded, sets);
  return p;
}

/// Two tasks, one after the other, by turns: both write the same bytes, or each its own.
inline program by_turns(std::uint64_t distance, int turns, std::uint32_t sets = 1) {
  touching_script s;
  const std::uint32_t b = s.block(4096);
  const std::int32_t one = s.task(1000), other = s.task(1000);
  for (int i = 0; i < turns; ++i) {
    s.write(one, b, 0);
    s.write(other, b, distance);
    // So long that neither is ahead of the other by as much as a worker may be.
    for (std::uint64_t k = 0; k < 40; ++k) {
      s.read(one, b, 1024 + 64 * (k % 2));
      s.read(other, b, 2048 + 64 * (k % 2));
    }
  }
  return program_of(s, sets);
}

}  // namespace kith::test
