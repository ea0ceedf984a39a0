// THE list of policies, for both worlds: each is one file, and one line in list.cpp.
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"

#include <memory>
#include <string>
#include <vector>

namespace kith {

/// The policies of the list, in its order, then those that were registered (contract/register_policy.hpp). Any thread.
std::vector<policy_entry> policy_list();

/// Builds the policy that `text` ("name:key=value,...") asks for, in native::world or plain::world. Throws kith::error for
/// an unknown name (with the names there are), an unknown option or a wrong value. Any thread.
template <class World>
std::unique_ptr<policy<World>> make_policy(const std::string& text, const policy_context& context);

}  // namespace kith
