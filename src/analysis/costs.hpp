// The cost of bringing data from one node to another, on an idle machine with cold caches. For code that compares
// nodes.
//
// The rule is that of the simulator's fidelity *block* (docs/simulation.md) without contention and caches. The cost
// is the longest of: the core's own rate, stretched by distance; the controller of the source; each link on the way.
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
  /// For a described machine. Throws kith::error if it has fewer nodes than the recording.
  data_costs(const recording&, const machine_model&);
  /// Uses the distances in the recording, if there are any.
  explicit data_costs(const recording&);

  /// Nanoseconds for a core of node `at`. None without a described machine.
  std::optional<double> nanoseconds(std::size_t from, std::size_t at, std::uint64_t bytes) const;
  /// 10 is local. None if distances are not known.
  std::optional<int> distance(std::size_t from, std::size_t at) const;
  /// The machine that the distances belong to; empty if they are not known.
  const std::string& source() const noexcept { return source_; }

 private:
  std::optional<machine_model> model_;
  std::optional<sim::interconnect> links_;
  std::vector<std::vector<int>> distances_;
  std::string source_;
};

/// The costs on `machine` (a name or a file). If that is empty: on the described machine that the recording names,
/// else with only the recording's distances. Throws kith::error as above, and for a machine that cannot be read.
data_costs costs_for(const recording&, const std::string& machine);

}  // namespace kith::analysis
