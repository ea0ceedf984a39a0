// One queue for each memory node, and the rule by which its workers may look elsewhere. Shared by the RIP policies.
#pragma once

#include "policy/contract/policy_options.hpp"
#include "policy/home_queue.hpp"
#include "policy/one_node.hpp"
#include "queue/poll_result.hpp"

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

  node_queues(const policy_context& s, const policy_options& given)
      : steals_(given.is("steal", "nearest")),
        backlog_(given.number("backlog")),
        probes_(static_cast<std::size_t>(s.workers.size())) {
    const team& workers = s.workers;
    const queue_order order = order_in(given);
    for (int n = 0; n < workers.nodes(); ++n) {
      served_by_.push_back(workers.served_by(node_id(n)));
      queues_.push_back(make_queue<World>(s, node_id(n), order));
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
    std::size_t& probe = probes_[self.id.index()].next;
    shared_queue<World>& q = *queues_[round[probe].index()];
    task* t = probe == 0 ? q.pop(self) : q.size() > backlog_ ? q.steal(self) : nullptr;
    probe = t != nullptr || !steals_ || probe + 1 == round.size() ? 0 : probe + 1;
    return poll_result::at(t, probe == 0 ? poll_result::empty : poll_result::retry);
  }

 private:
  struct alignas(false_sharing_range) cursor {
    std::size_t next = 0;  // position in the round
  };
  bool steals_;
  std::int64_t backlog_;
  std::vector<home_queue<World>> queues_;  // by node; those of nodes without workers stay empty
  std::vector<node_id> served_by_;
  std::vector<std::vector<node_id>> rounds_;
  std::vector<cursor> probes_;
};

}  // namespace kith
