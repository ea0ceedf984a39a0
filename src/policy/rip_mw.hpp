// `rip-mw`: all tasks are partitioned, in windows that overlap.
//
// RIP paper, section 4.3.2. The first window has `window` + `first` tasks. Each later one begins with the last
// `intersection` tasks of the one before, whose parts are fixed, and is filled up to `window`; a wait closes it early. It is
// partitioned by graph growing around the fixed vertices, as in the paper, or by SCOTCH (moving=scotch-fixed), which makes
// little of them. Tasks from outside and nodes of graphs follow their data. Not in the paper: without `intersection`,
// half a window; with window=auto, windows that end as that of `rip-dep`.
#pragma once

#include "policy/rip.hpp"

namespace kith {

template <class World>
class rip_mw final : public rip<World> {
 public:
  rip_mw(const policy_context& s, policy_options& options) : rip<World>(s, options, rules_of(options)) {}

 private:
  static partition::window_rules rules_of(policy_options& options) {
    using partition::method;
    partition::window_rules rules = rip<World>::take_window(options);
    const std::int64_t common = options.take_number_or("intersection", "half", -1, 0, 1 << 24);
    rules.moving = true;
    rules.half_intersection = common < 0;
    rules.intersection = common < 0 ? 0 : static_cast<std::size_t>(common);
    if (rules.size != 0 && rules.intersection >= rules.size)
      throw error("policy 'rip-mw': intersection=" + std::to_string(common) +
                  " with window=" + std::to_string(rules.size) + ": expected less than the window");
    rules.next_method =
        options.take("moving", method::greedy, {{"greedy", method::greedy}, {"scotch-fixed", method::scotch}});
    return rules;
  }
};

}  // namespace kith
