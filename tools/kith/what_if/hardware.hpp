// The gain of a program from a scheduler in hardware: runs for `kith what-if --hardware`.
#pragma once

#include "engine/sim/simulation.hpp"
#include "sim/runs.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace kith::tools {

struct what_if_question {
  std::vector<std::string> policies;  // in hardware
  std::string software;               // the policy in software to compare with
  sim::run_options base;              // with the first seed
  int seeds = 1;                      // runs of each policy
  std::optional<int> budget = {};     // runs of the search for the best order; 0: no search; nothing: by their length
};

/// Over the seeds. Each run is compared with the one of the same seed.
struct what_if_row {
  std::string policy, organisation;        // deques, global; software; offline
  sample seconds, speedup, over_software;  // over fifo in hardware, over the policy in software
  std::optional<sample> in_software = {};  // speedup of the same policy with its queues in software
  std::optional<sample> first_misses = {}, second_misses = {}, network = {},
                        energy = {};  // percent of those of fifo in hardware
};

struct what_if_answer {
  std::vector<what_if_row> rows;  // software, policies in hardware, then the oracle if there is one
  std::size_t best = 0;           // row of the policy in hardware that is the fastest in the mean
  int seeds_won = 0;              // with which no policy in hardware is faster than that
  int runs = 0;                   // of the search
  std::string from;               // as order_found::from, or the best policy if the order found is slower in the mean
};

/// fifo, random and source; token and reference with deques, and with one queue.
std::vector<std::string> hardware_policies();

/// Chooses fidelity line if the program has addresses and the machine has private caches; else block, with blocks of a
/// page and memory that is dealt page by page.
void choose_fidelity(sim::program&, const machine_model&, sim::run_options&);

/// Throws kith::error if the machine has no scheduling unit, and what simulate() throws. tell() may be called by any
/// thread.
what_if_answer ask_hardware(const sim::program&, const machine_model&, const what_if_question&,
                            const std::function<void(const char*, double)>& tell = {});

}  // namespace kith::tools
