// Searches offline for a good order of a recorded program's tasks on a modelled machine: the bound with which the
// policies of `kith what-if` are compared.
//
// A bounded local search. It starts from the best schedules of policies, in hardware and in software, and from
// schedules made for the caches (each task on the core that would end it first, if a core's cache keeps the regions
// that its tasks used last). Then it changes the best one by some moves at a time, simulates the result with its queues
// in hardware, and keeps it if it is faster. The order found exists, so it is a lower bound of what a scheduler can
// gain; better orders may exist.
//
// The same input gives the same result on every computer: candidates are made in rounds of a fixed size.
#pragma once

#include "engine/sim/simulation.hpp"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kith::tools {

/// A policy whose schedule a search starts from.
struct order_start {
  std::string policy;
  bool in_hardware = true;

  std::string name() const { return in_hardware ? policy : policy + " in software"; }
};

struct order_found {
  sim::plan order;   // the fastest; without tasks if the budget was spent on the starts
  std::string from;  // name() of the start that it was changed from; "data": a schedule made for the caches
  int runs = 0;      // simulations
};

/// `base`: the settings of all runs, with one seed. `starts`: at least one, the fastest first. `budget`: simulations,
/// those of the starts included; at least one for each start. tell(done) may be called by any thread.
order_found search_order(const sim::program&, const machine_model&, const sim::run_options& base,
                         std::span<const order_start> starts, int budget, const std::function<void(int)>& tell = {});

}  // namespace kith::tools
