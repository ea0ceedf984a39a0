// THE list of policies, for both worlds: each is one file, and one line in list.cpp.
#pragma once

#include "policy/policy.hpp"

#include <memory>
#include <span>
#include <string>

namespace kith {

/// What is said about a policy, without building it.
struct policy_entry {
  const char* name;
  const char* paper;  // NabbitC, MIR, RIP, ADS, HW (token and reference scheduling)
  const char* section;
  const char* summary;
  const char* options;  // "key=a|b", the default first
  bool priorities;      // honours task priorities
  bool needs_file = false;
};

/// The policies of the list, in its order.
std::span<const policy_entry> policy_list();

/// Builds the policy that `text` ("name:key=value,...") asks for, in native::world or plain::world. Throws kith::error for
/// an unknown name (with the names there are), an unknown option or a wrong value.
template <class World>
std::unique_ptr<policy<World>> make_policy(const std::string& text, const policy_context& s);

}  // namespace kith
