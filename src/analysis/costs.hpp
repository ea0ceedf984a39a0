// What it takes to bring data from one node to another, on an idle machine with cold caches. For whoever compares nodes.
//
// The rule is that of the simulator's fidelity *block* (docs/simulation.md) without contention and caches: the longest of
// the core's own rate, stretched by distance; the controller of the source; each link on the way.
#pragma once

#include "engine/sim/links.hpp"
#include "machine/model.hpp"
#include "recording/recording.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace kith::analysis {

class data_costs {
 public:
  /// On a machine that is described. Throws kith::error if it has fewer nodes than the recording.
  data_costs(const recording&, const machine_model&);
  /// With the distances that the recording has, if it has them.
  explicit data_costs(const recording&);

  /// Nanoseconds for a core of node `at`. None without a described machine.
  std::optional<double> nanoseconds(std::size_t from, std::size_t at, std::uint64_t bytes) const;
  /// 10 is local. None if distances are not known.
  std::optional<int> distance(std::size_t from, std::size_t at) const;
  /// What distances are of; empty: nothing is known.
  const std::string& source() const noexcept { return source_; }

 private:
  std::optional<machine_model> model_;
  std::optional<sim::interconnect> links_;
  std::vector<std::vector<int>> distances_;
  std::string source_;
};

/// `machine` (a name or a file), or without it the described machine that the recording names, or its distances alone.
/// Throws kith::error as above, and for a machine that cannot be read.
data_costs costs_for(const recording&, const std::string& machine);

}  // namespace kith::analysis
