// One queue for each memory node, and the rule by which its workers may look elsewhere. Shared by the RIP policies.
#pragma once

#include "policy/contract/policy_options.hpp"
#include "policy/home_queue.hpp"
#include "policy/one_node.hpp"
#include "policy/queue_rounds.hpp"

#include <vector>

namespace kith {

template <class World>
class node_queues {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{
      ready_order,
      one_of("steal", "off|nearest", "whether a node without tasks takes those of others, the nearest first"),
      number("backlog", 0, 0, 1 << 20, "with stealing, a node is robbed only while more tasks than these wait there"),
      queue_option,
  };

  node_queues(const policy_context& context, const policy_options& given)
      : steals_(given.is("steal", "nearest")), backlog_(given.number("backlog")), probes_(context.workers.size()) {
    const team& workers = context.workers;
    const queue_order order = order_in(given);
    for (int n = 0; n < workers.nodes(); ++n) {
      served_by_.push_back(workers.served_by(node_id(n)));
      queues_.push_back(make_queue<World>(context, node_id(n), order));
      if (steals_) queues_.back()->add_thieves(workers.everybody(), backlog_);
    }
    for (int n = 0; n < workers.nodes(); ++n) rounds_.push_back(workers.nodes_by_distance(node_id(n)));
  }

  int size() const noexcept { return static_cast<int>(queues_.size()); }
  /// The queue for tasks of node n: that of the node that serves n.
  shared_queue<World>& operator[](node_id n) const noexcept { return *queues_[served_by_[n.index()].index()]; }

  /// Takes from the own node's queue; with stealing, also from the others by distance, one per call.
  poll_result next(worker& self) {
    const std::vector<node_id>& round = rounds_[self.node.index()];
    const std::size_t place = probes_.place(self.id);
    shared_queue<World>& q = *queues_[round[place].index()];
    task* t = place == 0 ? q.pop(self) : q.size() > backlog_ ? q.steal(self) : nullptr;
    return probes_.looked(self.id, t, steals_ ? round.size() : 1);
  }

 private:
  bool steals_;
  std::int64_t backlog_;
  std::vector<home_queue<World>> queues_;  // by node; those of nodes without workers stay empty
  std::vector<node_id> served_by_;
  std::vector<std::vector<node_id>> rounds_;
  queue_rounds probes_;
};

}  // namespace kith
