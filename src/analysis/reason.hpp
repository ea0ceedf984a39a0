// Why a policy may have sent a task where it ran, as the policy explains it (policy/contract/explainer.hpp). For why.cpp.
#pragma once

#include "analysis/why.hpp"

#include <string>
#include <vector>

namespace kith::analysis {

/// Sentences, the most important first. All of `e` but the reasons is filled in.
std::vector<std::string> reasons_for(const recording&, const explanation& e, const data_costs&);

}  // namespace kith::analysis
