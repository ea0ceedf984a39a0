// The results of a run as rows, printed as JSON or as a table.
#pragma once

#include "systems.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace kith::bench {

/// A value, and the state of the machine before and after it.
struct sample {
  double value;
  machine_state before, after;
  /// The slower of the two states.
  distance state() const { return std::max(before.kind(), after.kind()); }
};

/// Adds median, min, max, rounds, the distance of the cores, the medians for each distance separately
/// ("states"), and how the samples were taken. REQUIRES: at least one sample.
void add_summary(nlohmann::ordered_json& row, const std::vector<sample>&, const options&);

/// Prints rows that have "workers" instead of a case.
void print_with_workers(const std::vector<nlohmann::ordered_json>& rows, const options&);

/// Prints {"rows": [...], and where and how they were measured}.
void print(const std::vector<nlohmann::ordered_json>& rows, const options&);

}  // namespace kith::bench
