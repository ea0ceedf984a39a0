// How a program or a library adds a policy to those that KITH_POLICY and --policy know.
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
// docs/policies.md goes on from here: options, queues, and policies in a shared library.
#pragma once

#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "queue/native/world.hpp"
#include "queue/plain/world.hpp"

#include <memory>

namespace kith {

/// Which contract these headers are: a shared library of policies says which one it was compiled with.
inline constexpr int policy_interface = 1;
/// What such a library defines, with C linkage: it registers its policies and returns policy_interface.
using policy_library_entry = int();
inline constexpr const char* policy_library_symbol = "kith_register_policies";

template <class World>
using policy_maker = std::unique_ptr<policy<World>> (*)(const policy_context&, const policy_options&);

/// Makes the policy known under its name, natively and in the simulator, until the process ends; what `about` refers to lives
/// as long. Throws kith::error if there is a policy of that name, or if the name has characters other than letters, digits
/// and '-'. Any thread.
void register_policy(const policy_entry& about, policy_maker<native::world> native, policy_maker<plain::world> plain);

template <class Policy, class World>
std::unique_ptr<policy<World>> build_policy(const policy_context& context, const policy_options& given) {
  return std::make_unique<Policy>(context, given);
}

/// The same for a class template over the world, with a static member `about`.
template <template <class> class Policy>
void register_policy() {
  register_policy(Policy<native::world>::about, build_policy<Policy<native::world>, native::world>,
                  build_policy<Policy<plain::world>, plain::world>);
}

}  // namespace kith
