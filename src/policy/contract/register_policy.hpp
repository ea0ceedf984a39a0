// How a program or a library adds a policy to those that KITH_POLICY and --policy accept.
//
//   template <class World>
//   class mine : public kith::policy<World> {
//    public:
//     static constexpr kith::policy_entry about{.name = "mine", .summary = "what it does in one line"};
//     mine(const kith::policy_context&, const kith::policy_options&);
//     ...
//   };
//   kith::register_policy<mine>();
//
// docs/policies.md says more: options, queues, and policies in a shared library.
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "queue/native/world.hpp"
#include "queue/sequential/world.hpp"

#include <memory>

namespace kith {

/// The version of the contract in these headers. A shared library of policies returns the one it was compiled
/// with.
inline constexpr int policy_interface = 5;
/// Such a library defines this function with C linkage. It registers the policies and returns policy_interface.
using policy_library_entry = int();
inline constexpr const char* policy_library_symbol = "kith_register_policies";

template <class World>
using policy_maker = std::unique_ptr<policy<World>> (*)(const policy_context&, const policy_options&);

/// Adds the policy under its name, for native runs and the simulator, until the process ends. What `about` refers
/// to must live as long. Throws kith::error if a policy of that name exists, or if the name has characters other
/// than letters, digits and '-'. Thread-safe.
void register_policy(const policy_entry& about, policy_maker<native::world> native,
                     policy_maker<sequential::world> sequential);

template <class Policy, class World>
std::unique_ptr<policy<World>> build_policy(const policy_context& context, const policy_options& given) {
  return std::make_unique<Policy>(context, given);
}

/// The same for a class template with the world as its parameter and a static member `about`.
template <template <class> class Policy>
void register_policy() {
  register_policy(Policy<native::world>::about, build_policy<Policy<native::world>, native::world>,
                  build_policy<Policy<sequential::world>, sequential::world>);
}

}  // namespace kith
