// The runs that the RIP paper's comparison is made of: its programs, policies and windows on a modelled machine.
#pragma once

#include "engine/sim/simulation.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::tools {

/// The policies that are compared, by the names of their rows. What everything is measured by is one of them.
std::span<const char* const> rip_series();
inline constexpr std::string_view rip_baseline = "dep";

/// A program as it runs on a machine, with the windows that the paper chose for it.
struct rip_program {
  sim::program recorded;
  std::vector<std::string> policies;  // in the order of rip_series(), but for the options of node queues
};

/// Recorded dry, initialisation and computation in one graph, at a size for so many nodes and cores.
rip_program rip_program_on(const std::string& name, const machine_model&);

/// How it is run.
struct rip_variant {
  const char* name = "";
  sim::ablations with = {};
  /// Of those that have a queue for each node. Which of its ready tasks comes first is not printed; in the order of
  /// creation wavefronts keep moving.
  const char* queues = "order=created";
};

/// Means over the seeds.
struct rip_means {
  double seconds = 0, traffic = 0, balance = 0, overhead = 0, partition = 0;
};

/// In the order of rip_series(). `way` is the switch whose bytes are the traffic: data and control messages, which the
/// paper's counters see. tell(share) comes from any thread.
std::vector<rip_means> rip_means_of(const rip_program&, const machine_model&, std::string_view way, const rip_variant&,
                                    int seeds, const std::function<void(double)>& tell);

}  // namespace kith::tools
