// The runs of the RIP paper's comparison: its programs, policies and windows on a modelled machine.
#pragma once

#include "engine/sim/simulation.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::tools {

struct reproduction;

/// The names of the compared policies, which are the names of the rows. The baseline is one of them.
std::span<const char* const> rip_series();
inline constexpr std::string_view rip_baseline = "dep";

/// A program as it runs on a machine, with the windows that the paper chose for it.
struct rip_program {
  sim::program recorded;
  std::vector<std::string> policies;  // in the order of rip_series(), without the options of node queues
};

/// Recorded dry, with initialisation and computation in one graph, at a size that fits the machine's nodes and cores.
/// `changed`: arguments, with their values, that are not the comparison's.
rip_program rip_program_on(const std::string& name, const machine_model&, const std::vector<std::string>& changed = {});

/// How a program is run.
struct rip_variant {
  const char* name = "";
  sim::model_parts parts = {};
  /// Options of the policies that have a queue for each node. The paper does not say which ready task comes
  /// first; in the order of creation, wavefronts keep moving.
  const char* queues = "order=created";
};

/// Means over the seeds.
struct rip_means {
  double seconds = 0, traffic = 0, balance = 0, overhead = 0, partition = 0, migrated = 0;
};

/// The paper's means are over all its programs; `--only` may have left some out.
bool has_all_programs(const reproduction&);
double geometric_mean(const std::vector<double>&);

/// In the order of the program's policies. `way` is the switch whose bytes are the traffic: data and control
/// messages, which the paper's counters include. tell(share) may be called by any thread.
std::vector<rip_means> rip_means_of(const rip_program&, const machine_model&, std::string_view way, const rip_variant&,
                                    int seeds, const std::function<void(double)>& tell);

}  // namespace kith::tools
