#include "policy/contract/explainer.hpp"

#include <algorithm>

namespace kith {

bool explainer::say_origin() {
  if (!facts.stolen || !facts.stolen->ran_next) return false;
  const placement_facts::steal& s = *facts.stolen;
  say("stolen: " + worker_text(facts.worker) + " took work from " +
      (s.victim >= 0 ? worker_text(s.victim) + " on node " + text(s.victim_node) : "a queue of several workers") + " " +
      text(s.before_ns) + " ns before, and ran this task next");
  return true;
}

void explainer::say_queue(const std::string& queue) {
  if (!say_origin()) say("no steal came right before it: " + worker_text(facts.worker) + " had it in " + queue);
}

void explainer::compare_with(std::int32_t wanted_node) {
  if (wanted_node == facts.node_ran_on) return;
  if (facts.nodes[static_cast<std::size_t>(wanted_node)].workers == 0) {
    say("node " + text(wanted_node) + " has no workers: the nearest that has serves it");
    return;
  }
  if (say_origin()) return;
  const std::string where = "it ran on node " + text(facts.node_ran_on);
  if (options.has("steal") && options.is("steal", "nearest")) {
    say(where + ": another node's worker had nothing to do");
  } else {
    say(where + " all the same" +
        (facts.may_be_claimed ? ": a worker that waits for it may claim it past its queue"
                              : ", which the rule does not explain"));
  }
}

std::int32_t explainer::inhabited_nodes() const {
  return static_cast<std::int32_t>(
      std::ranges::count_if(facts.nodes, [](const placement_facts::node& n) { return n.workers > 0; }));
}

std::string explainer::nodes_text(const std::vector<std::int32_t>& nodes) {
  std::string names;
  for (const std::int32_t n : nodes) names += (names.empty() ? "" : ", ") + std::to_string(n);
  return (nodes.size() == 1 ? "node " : "nodes ") + names;
}

}  // namespace kith
