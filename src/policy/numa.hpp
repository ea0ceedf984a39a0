// `numa`: a task goes where its input is read at least cost; any worker may take a task whose input is small or
// evenly spread.
//
// MIR thesis, section 3.3 (and the algorithms of its journal version); artifact. Each node has two queues: *main* for
// placed tasks, *alternative* for the others. A worker takes first from its own node's queues, the alternative one
// before the main one; then from any alternative queue; last from the main queue of another node, while more tasks wait
// there than workers of that node x hops to it. Differences: hops are ranks of the distance (the artifact's own lists
// are not sorted by it); evenness is judged by the real standard deviation; the own queues are checked before each
// probe of another queue; thieves are woken only for tasks that they may take.
#pragma once

#include "policy/contract/explainer.hpp"
#include "policy/contract/policy.hpp"
#include "policy/contract/policy_entry.hpp"
#include "policy/contract/policy_options.hpp"
#include "policy/home_queue.hpp"
#include "policy/input_cost.hpp"
#include "policy/one_node.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

namespace kith {

template <class World>
class numa_policy final : public policy<World> {
 public:
  using worker = typename World::worker;

  // `order=created`, `keep=on` and `queue=auto` are not in the papers.
  static constexpr std::array options{
      number_or("footprint", "auto", 0, std::int64_t{1} << 40,
                "inputs of fewer bytes are small; auto: a core's share of the last-level cache"),
      number("even", 1, 0, 100, "percent of the mean by which the nodes' bytes may deviate and still be spread evenly"),
      one_of("reads", "in|all", "what is input: accesses that read, or all"),
      one_of("ties", "turn|first", "between nodes of equal cost: turn by turn, or always the first"),
      one_of("alternative", "on|off",
             "off: tasks that are not placed go to their creator's main queue (first version)"),
      number_or("backlog", "cores", 0, 1 << 20, "tasks for each hop that a main queue keeps for its own node"),
      ready_order,
      one_of("keep", "off|on", "on: a worker that makes tasks ready continues with one that may run on its node"),
      queue_option,
  };
  [[gnu::cold]] static void explain(explainer& e) {
    if (explain_as_steal<World>(e)) return;
    const placement_facts& f = e.facts;
    if (e.inhabited_nodes() <= 1) {
      e.say_of_policy("one node has all workers");
      return;
    }
    const std::vector<std::uint64_t> bytes = input_by_node(f, e.options.word("reads", {counted::inputs, counted::all}));
    const std::uint64_t input = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
    const std::optional<std::int64_t> footprint = e.options.number_or_word("footprint");
    const auto inhabited = [&](std::size_t n) { return f.nodes[n].workers > 0; };
    if (input == 0) {
      e.say_of_policy(
          "it has no input that lies anywhere yet: the first worker that asks runs it, its creator's node before "
          "others");
    } else if (footprint && input < static_cast<std::uint64_t>(*footprint)) {
      e.say_of_policy("its input, " + e.text(input) + " bytes, is less than footprint=" + std::to_string(*footprint) +
                      ": the first worker that asks runs it");
    } else if (is_even(bytes, e.options.number("even"), inhabited)) {
      e.say_of_policy("its input is spread evenly over the nodes: the first worker that asks runs it");
    } else {
      explain_cheapest(e, bytes);
      if (!footprint)
        e.say(
            "an input smaller than a core's share of the last-level cache, which is not recorded, lets any worker run "
            "it");
      return;
    }
    e.say_origin();
  }

  static constexpr policy_entry about{
      .name = "numa",
      .paper = "MIR",
      .section = "3.3",
      .summary = "a task runs where its input is read at least cost, or anywhere if that is small or spread evenly",
      .options = options,
      .explain = explain,
  };

  numa_policy(const policy_context& context, const policy_options& given)
      : team_(context.workers),
        input_(context, given.word("reads", {counted::inputs, counted::all})),
        footprint_(given.number_or_word("footprint").value_or(-1)),
        even_(given.number("even")),
        rotate_(given.is("ties", "turn")),
        alternative_(given.is("alternative", "on")),
        keep_(given.is("keep", "on")) {
    const queue_order order = order_in(given);
    const std::int64_t backlog = given.number_or_word("backlog").value_or(-1);
    for (int n = 0; n < team_.nodes(); ++n) {
      small_.push_back(footprint_ >= 0 ? static_cast<std::uint64_t>(footprint_) : team_.cache_share(node_id(n)));
      for (auto* queues : {&main_, &alternatives_}) queues->push_back(make_queue<World>(context, node_id(n), order));
      alternatives_.back()->add_thieves(team_.everybody(), 0);
      rounds_.push_back(round_from(node_id(n), backlog));
      let_steal(node_id(n), backlog);
    }
    for (int w = 0; w < team_.size(); ++w) {
      const auto at = std::ranges::find(team_.inhabited(), team_.node_of(worker_id(w)));
      turn_of_.push_back(static_cast<std::size_t>(at - team_.inhabited().begin()));
      states_.push_back({input_.room()});
    }
  }

  typename policy<World>::data_needs needs() const override { return {.homes = team_.nodes() > 1}; }
  bool leaves_short_tasks() const override { return team_.nodes() == 1; }

  task* ready(std::span<task* const> tasks, worker& self, ready_reason why) override {
    task* kept = nullptr;
    for (task* t : tasks) {
      const node_id n = choose_node(*t, self);
      if (keep_ && why == ready_reason::completion && kept == nullptr && (!n || n == self.node)) {
        kept = t;
      } else if (n) {
        main_[n.index()]->push(*t, self);
      } else {
        (alternative_ ? alternatives_ : main_)[self.node.index()]->push(*t, self);
      }
    }
    return kept;
  }

  poll_result next(worker& self) override {
    std::size_t& probe = states_[self.id.index()].probe;
    task* t = alternatives_[self.node.index()]->pop(self);
    if (t == nullptr) t = main_[self.node.index()]->pop(self);
    const round& r = rounds_[self.node.index()];
    const std::size_t others = r.cyclic.size();
    if (t == nullptr && others != 0) {
      if (probe < others) {
        t = rob(*alternatives_[r.cyclic[probe].index()], 0, self);
      } else {
        const auto& [from, backlog] = r.nearest[probe - others];
        t = rob(*main_[from.index()], backlog, self);
      }
      if (t == nullptr && ++probe < 2 * others) return {poll_result::retry};
    }
    probe = 0;
    return poll_result::at(t, poll_result::empty);
  }

 private:
  struct alignas(false_sharing_range) worker_state {
    input_cost::room_type bytes;
    std::size_t turn = 0;   // which worker's node is the first in the next comparison of costs
    std::size_t probe = 0;  // position in the round
  };
  /// Where a node's workers look if they find nothing at home.
  struct round {
    std::vector<node_id> cyclic;                            // alternative queues
    std::vector<std::pair<node_id, std::int64_t>> nearest;  // main queues, and how many tasks must stay there
  };

  /// The node for the task; none if any worker may take it.
  node_id choose_node(const task& t, worker& self) {
    if (team_.nodes() == 1 || t.access_list().size() == 0) return {};
    worker_state& mine = states_[self.id.index()];
    input_.weigh(t, mine.bytes);
    const std::uint64_t all = input_.sum(mine.bytes);
    if (all == 0 || all < small_[self.node.index()] || input_.uniform(mine.bytes, even_)) return {};
    const std::size_t first = rotate_ ? turn_of_[mine.turn++ % turn_of_.size()] : 0;
    return input_.cheapest(mine.bytes, first);
  }

  static task* rob(shared_queue<World>& q, std::int64_t backlog, worker& self) {
    return q.size() > backlog ? q.steal(self) : nullptr;
  }

  std::int64_t backlog_of(node_id thief, node_id victim, std::int64_t each) const {
    const auto cores = static_cast<std::int64_t>(team_.workers_at(victim).size());
    return (each < 0 ? cores : each) * team_.hops(thief, victim);
  }
  round round_from(node_id n, std::int64_t each) const {
    round r;
    const std::vector<node_id>& all = team_.inhabited();
    const auto next = std::ranges::upper_bound(all, n);
    r.cyclic.assign(next, all.end());
    r.cyclic.insert(r.cyclic.end(), all.begin(), next);
    std::erase(r.cyclic, n);
    for (node_id m : team_.nodes_by_distance(n)) {
      if (m != n) r.nearest.emplace_back(m, backlog_of(n, m, each));
    }
    return r;
  }
  /// Sets which nodes may rob the last main queue, and from which backlog on. Those with the smallest backlog are woken
  /// first.
  void let_steal(node_id n, std::int64_t each) {
    std::map<std::int64_t, worker_set> thieves;
    for (node_id m : team_.inhabited()) {
      if (m == n) continue;
      for (worker_id w : team_.workers_at(m)) thieves[backlog_of(m, n, each)].insert(w);
    }
    for (auto& [backlog, who] : thieves) main_.back()->add_thieves(std::move(who), backlog);
  }

  const team& team_;
  input_cost input_;
  std::int64_t footprint_;
  std::int64_t even_;
  bool rotate_, alternative_, keep_;
  std::vector<std::uint64_t> small_;                    // by node of the asking worker: smaller inputs are not placed
  std::vector<home_queue<World>> main_, alternatives_;  // by node
  std::vector<round> rounds_;
  std::vector<std::size_t> turn_of_;  // by worker: the position of its node among those with workers
  std::vector<worker_state> states_;
};

}  // namespace kith
