// Why a policy may have sent a task where it ran: its rule, held against what the recording has. For why.cpp.
//
// A recording has no decisions, only what came of them. What follows from the rule and the homes is said as such; what
// does not fit the rule is said, too.
#pragma once

#include "analysis/why.hpp"

#include <string>
#include <vector>

namespace kith::analysis {

/// Sentences, the most important first. All of `e` but the reasons is filled in.
std::vector<std::string> reasons_for(const recording&, const explanation& e);

}  // namespace kith::analysis
