// What a run found, as rows: printed as JSON, or as a table for people.
#pragma once

#include "systems.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace kith::bench {

/// A value and the state of the machine around it.
struct sample {
  double value;
  machine_state before, after;
  /// The slower of the two states.
  distance state() const { return std::max(before.kind(), after.kind()); }
};

/// median, min, max, rounds, the cores' distance, and the medians of each distance apart ("states"), and how they were
/// taken. At least one sample.
void add_summary(nlohmann::ordered_json& row, const std::vector<sample>&, const options&);

/// {"rows": [...], and where and how they were measured}
void print(const std::vector<nlohmann::ordered_json>& rows, const options&);

}  // namespace kith::bench
