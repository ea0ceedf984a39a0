// The list of policies, for both worlds. Each policy is one file, and one line in list.cpp.
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace kith {

/// The policies of the list, in its order, then the registered ones (contract/register_policy.hpp). Thread-safe.
std::vector<policy_entry> policy_list();

/// Builds the policy that `text` ("name:key=value,...") names, for native::world or sequential::world. Throws
/// kith::error for an unknown name (and lists the known ones), an unknown option or a wrong value. Thread-safe.
template <class World>
std::unique_ptr<policy<World>> make_policy(const std::string& text, const policy_context& context);

}  // namespace kith
