// `rip-mw`: all tasks are partitioned, in windows that overlap.
//
// RIP paper, section 4.3.2. The first window has `window` + `first` tasks. Each later one begins with the last
// `intersection` tasks of the one before, whose parts are fixed, and is filled up to `window`; a wait closes it
// early. It is partitioned by graph growing around the fixed vertices, as in the paper, or by SCOTCH
// (moving=scotch-fixed), which makes little use of them. Tasks from outside and nodes of graphs follow their
// data. Not in the paper: the default for `intersection`, half a window; and, with window=auto, windows that end
// as that of `rip-dep` does.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/rip.hpp"

namespace kith {

template <class World>
class rip_mw final : public rip<World> {
 public:
  static constexpr auto options = joined(
      rip<World>::common_options,
      std::array{number_or("intersection", "half", 0, 1 << 24, "tasks that a window shares with the one before it"),
                 one_of("moving", "greedy|scotch-fixed",
                        "what partitions later windows, around the tasks that are placed already")});
  [[gnu::cold]] static void explain(explainer& e) {
    if (explain_as_steal<World>(e)) return;
    std::uint64_t before = 0;
    for (const placement_facts::window& w : e.facts.windows) before += w.ended_before ? 1 : 0;
    if (before == 0) {
      explain_easy_placement(e);
      return;
    }
    e.say_of_policy("it runs where its part of a window's graph is; " + e.text(before) + " of " +
                    e.text(e.facts.windows.size()) + " windows were partitioned before it started");
    e.say("which window it was in is not recorded; outside windows, tasks go by their data");
  }

  static constexpr policy_entry about{
      .name = "rip-mw",
      .paper = "RIP",
      .section = "4.3.2",
      .summary = "all tasks are partitioned, in windows that overlap",
      .options = options,
      .explain = explain,
  };

  rip_mw(const policy_context& context, const policy_options& given) : rip<World>(context, given, rules_of(given)) {}

 private:
  static partition::window_rules rules_of(const policy_options& given) {
    using partition::method;
    partition::window_rules rules = rip<World>::first_window(given);
    const std::int64_t common = given.number_or_word("intersection").value_or(-1);
    rules.moving = true;
    rules.half_intersection = common < 0;
    rules.intersection = common < 0 ? 0 : static_cast<std::size_t>(common);
    if (rules.size != 0 && rules.intersection >= rules.size)
      given.refuse("intersection", "fewer than the window, which has " + std::to_string(rules.size));
    rules.next_method = given.word("moving", {method::greedy, method::scotch});
    return rules;
  }
};

}  // namespace kith
