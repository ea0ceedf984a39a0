// The options of `kith sim`.
#pragma once

#include "command_line/command_line.hpp"
#include "engine/sim/simulation.hpp"

#include <string>
#include <vector>

namespace kith::tools {

struct sim_options {
  std::vector<std::string> files;
  std::string machine = "bullion-s16-8", policies, fidelity, data = "first-touch";
  std::string plot, output, gsu;
  std::vector<std::string> without, libraries;
  sim::run_options run;
  int seeds = 1, hosts = 0;
  double core_gbs = 10, access_cycles = -1, stagger = 0;
  bool together = false, l1_filter = false, json = false;
};

/// Declares the options of the command; `o` must outlive it.
void add_options(CLI::App& command, sim_options& o);

/// What the options say of a run. Throws kith::error for values that are wrong, or that do not go together.
sim::run_options run_options_of(const sim_options& o);

/// The name of the option's value.
const char* fidelity_name(sim::fidelity how);

}  // namespace kith::tools
