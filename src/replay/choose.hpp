// Makes the policy that a text asks for: one of the list, or `replay`.
#pragma once

#include "policy/list.hpp"
#include "replay/gate.hpp"

#include <memory>
#include <string>
#include <vector>

namespace kith {

template <class World>
struct chosen_policy {
  std::unique_ptr<kith::policy<World>> policy;
  kith::gate<World>* gate = nullptr;  // the same object if it is a gate, else null
};

/// As make_policy(), with `replay` in addition. Throws what make_policy() throws, and kith::error if the recording
/// cannot be followed.
template <class World>
chosen_policy<World> choose_policy(const std::string& text, const policy_context& context);

/// Throws kith::error for a text that choose_policy() refuses in every context: an unknown name, option or value.
void check_policy(const std::string& text);

/// The policies that choose_policy() knows: the list, then `replay`.
std::vector<policy_entry> choosable_policies();

}  // namespace kith
