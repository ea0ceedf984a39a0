// Why a policy may have sent a task to where it ran, as the policy explains it (policy/contract/explainer.hpp).
// For why.cpp.
#pragma once

#include "analysis/why.hpp"

#include <string>
#include <vector>

namespace kith::analysis {

/// Sentences, the most important first. REQUIRES: all of `e` except the reasons is filled in.
std::vector<std::string> reasons_for(const recording&, const explanation& e, const data_costs&);

}  // namespace kith::analysis
