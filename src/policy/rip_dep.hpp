// `rip-dep`: the first tasks are partitioned; all later ones follow their data.
//
// RIP paper, section 4.3.1. The window holds the first `window` + `first` tasks, or those created before the
// first wait. With window=auto it ends when data was written three times in the mean: once to initialise it, and
// in two rounds on it. (The paper, section 4.5, advises the initialisation and the first phases, and leaves the
// number to the user.)
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/rip.hpp"

namespace kith {

template <class World>
class rip_dep final : public rip<World> {
 public:
  static constexpr auto options = rip<World>::common_options;
  [[gnu::cold]] static void explain(explainer& e) {
    if (explain_as_steal<World>(e)) return;
    const placement_facts& f = e.facts;
    if (!f.windows.empty() && f.created_before < f.windows.front().tasks) {
      const placement_facts::window& w = f.windows.front();
      e.say_of_policy("it is one of the first " + e.text(w.tasks) +
                      " tasks, whose graph was partitioned onto the nodes (" + e.text(w.dependences) +
                      " dependences, by " + e.worker_text(w.worker) + "): it runs where its part is");
      return;
    }
    if (f.nodes.size() > 1) {
      e.say_of_policy(f.windows.empty() ? "no window was partitioned in this run"
                                        : "it was created after the first " + e.text(f.windows.front().tasks) +
                                              " tasks, which were partitioned; later ones go by their data");
    }
    explain_easy_placement(e);
  }

  static constexpr policy_entry about{
      .name = "rip-dep",
      .paper = "RIP",
      .section = "4.3.1",
      .summary = "the first tasks are partitioned as a graph; later ones as dep",
      .options = options,
      .explain = explain,
  };

  rip_dep(const policy_context& context, const policy_options& given)
      : rip<World>(context, given, rip<World>::first_window(given)) {}
};

}  // namespace kith
