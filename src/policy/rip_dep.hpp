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
  static constexpr auto options = rip<World>::common_options;
  static constexpr policy_entry about{
      .name = "rip-dep",
      .paper = "RIP",
      .section = "4.3.1",
      .summary = "the first tasks are partitioned as a graph; later ones as dep",
      .options = options,
  };

  rip_dep(const policy_context& s, const policy_options& given)
      : rip<World>(s, given, rip<World>::first_window(given)) {}
};

}  // namespace kith
