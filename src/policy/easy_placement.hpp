// Places a task by its data: the rule of `dep`, which the other policies of the RIP paper fall back to.
//
// RIP paper, section 4.1. Bytes of all accesses are summed by home; bytes without a home count for a virtual
// node. The node with the most bytes wins; a tie is decided uniformly at random. If the virtual node wins, a node
// is drawn uniformly at random. The chosen node becomes the home of the data without one. Not in the paper: a
// region that is named twice counts once; a task without accesses goes to its creator's node; only nodes with
// workers are drawn and become homes.
#pragma once

#include "base/rng.hpp"
#include "events/event.hpp"
#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/data_weights.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace kith {

/// Says where the rule sent a task.
[[gnu::cold]] inline void explain_easy_placement(explainer& e) {
  const placement_facts& f = e.facts;
  if (f.data.empty()) {
    e.say_of_policy("it uses no data: it goes to the node of its creator");
    if (f.creator_worker >= 0) e.compare_with(f.creator_node);
    return;
  }
  if (f.nodes.size() == 1) {
    e.say_of_policy("there is one node");
    return;
  }
  std::uint64_t most = 0;
  for (const placement_facts::node& n : f.nodes) most = std::max(most, n.bytes);
  if (f.nowhere > most) {
    e.say_of_policy("most of its data (" + e.text(f.nowhere) + " of " + e.text(f.bytes) +
                    " bytes) had no home yet: a node was drawn, and became that data's home");
    return;
  }
  std::vector<std::int32_t> heaviest;
  for (std::size_t n = 0; n < f.nodes.size(); ++n) {
    if (f.nodes[n].bytes == most) heaviest.push_back(static_cast<std::int32_t>(n));
  }
  const std::string much = e.text(most) + " of " + e.text(f.bytes) + " bytes";
  if (heaviest.size() == 1 && f.nowhere != most) {
    e.say_of_policy("a task runs where most of its data is: " + e.nodes_text(heaviest) + " has " + much);
    e.compare_with(heaviest.front());
    return;
  }
  e.say_of_policy(e.nodes_text(heaviest) + (f.nowhere == most ? ", and no node yet, have " : " have ") + much +
                  " each: one was drawn");
  if (std::ranges::find(heaviest, f.node_ran_on) == heaviest.end() && f.nowhere != most)
    e.compare_with(heaviest.front());
}

template <class World>
class easy_placement {
 public:
  using worker = typename World::worker;

  explicit easy_placement(const policy_context& context)
      : team_(context.workers), memory_(context.memory), weights_(context.memory) {
    for (int w = 0; w < team_.size(); ++w) {
      states_.push_back({rng(context.seed, purpose::placement, static_cast<std::uint32_t>(w)), weights_.room()});
    }
  }

  /// The node for the task. All its data has a home afterwards.
  node_id operator()(task& t, worker& self) {
    if (team_.nodes() == 1) return node_id(0);
    if (t.access_list().size() == 0) return team_.node_of(t.creator(team_.size(), self.id));
    state& mine = states_[self.id.index()];
    const std::size_t virtual_node = weights_.homeless();
    weights_.weigh(t, mine.bytes);
    std::size_t best = draw_heaviest(mine);
    // A worker of the drawn node will touch the data first, so only nodes with workers are drawn.
    const std::vector<node_id>& drawn = team_.inhabited();
    if (best == virtual_node) best = drawn[mine.random.below(static_cast<std::uint32_t>(drawn.size()))].index();
    const node_id chosen = team_.served_by(node_id(static_cast<int>(best)));
    settle(t, chosen, self);
    return chosen;
  }

  /// Makes this node, where the task will run, the home of its data without one.
  void settle(task& t, node_id chosen, worker& self) {
    for (kept_access a : t.access_list()) {
      if (memory_.set_home(a, chosen)) self.meter(event::region_placed, {});
    }
  }

 private:
  struct alignas(false_sharing_range) state {
    rng random;
    data_weights::room_type bytes;  // the last entry is the virtual node
  };

  /// Draws uniformly among the heaviest nodes.
  static std::size_t draw_heaviest(state& s) {
    std::size_t best = 0, ties = 1;
    for (std::size_t n = 1; n < s.bytes.size(); ++n) {
      if (s.bytes[n] > s.bytes[best]) {
        best = n;
        ties = 1;
      } else if (s.bytes[n] == s.bytes[best] && s.random.below(static_cast<std::uint32_t>(++ties)) == 0) {
        best = n;
      }
    }
    return best;
  }

  const team& team_;
  const memory_view memory_;
  data_weights weights_;
  std::vector<state> states_;
};

}  // namespace kith
