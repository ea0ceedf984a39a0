// Prints an explanation of `kith why`, for people and as JSON.
#pragma once

#include "analysis/why.hpp"

#include <nlohmann/json.hpp>

namespace kith::tools {

nlohmann::ordered_json explanation_json(const recording&, const analysis::explanation&, const analysis::data_costs&);
void print_explanation(const recording&, const analysis::explanation&, const analysis::data_costs&);

}  // namespace kith::tools
