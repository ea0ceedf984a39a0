// `rip-dep`: the first tasks are partitioned, all later ones follow their data.
//
// RIP paper, section 4.3.1. The window is the first `window` + `first` tasks, or what there is at the first wait. With
// window=auto it ends by itself once data was written three times in the mean: what initialises it and two rounds on it
// (the paper advises the initialisation and the first phases, section 4.5, and leaves the number to the user).
#pragma once

#include "policy/rip.hpp"

namespace kith {

template <class World>
class rip_dep final : public rip<World> {
 public:
  rip_dep(const policy_context& s, policy_options& options)
      : rip<World>(s, options, rip<World>::take_window(options)) {}
};

}  // namespace kith
