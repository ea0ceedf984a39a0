// The gain of a program from a scheduler in hardware: runs for `kith what-if --hardware`.
#pragma once

#include "engine/sim/simulation.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kith::tools {

struct what_if_question {
  std::vector<std::string> policies;  // in hardware
  std::string software;               // the policy in software to compare with
  sim::run_options base;
  int budget = 0;  // runs of the search for the best order; 0: none
};

struct what_if_row {
  std::string policy, organisation;  // deques, global; software; offline
  double seconds = 0;
  double speedup = 0, over_software = 0;   // over fifo in hardware, over the policy in software
  std::optional<double> in_software = {};  // speedup of the same policy with its queues in software
  std::optional<double> first_misses = {}, second_misses = {}, network = {},
                        energy = {};  // percent of those of fifo in hardware
};

struct what_if_answer {
  std::vector<what_if_row> rows;  // software, policies in hardware, then the oracle if there is one
  std::size_t best = 0;           // row of the fastest policy in hardware
  int runs = 0;                   // of the search
  std::string from;               // as order_found::from
};

/// fifo, random and source; token and reference with deques, and with one queue.
std::vector<std::string> hardware_policies();

/// Chooses fidelity line if the program has addresses and the machine has private caches; else block, with blocks of a
/// page and memory that is dealt page by page.
void choose_fidelity(sim::program&, const machine_model&, sim::run_options&);

/// Throws kith::error if the machine has no scheduling unit, and what simulate() throws.
what_if_answer ask_hardware(const sim::program&, const machine_model&, const what_if_question&,
                            const std::function<void(const char*, double)>& tell = {});

}  // namespace kith::tools
