// One queue for each memory node, and when its workers may look elsewhere: what the placing policies have in common.
#pragma once

#include "policy/home_queue.hpp"
#include "policy/settings.hpp"
#include "queue/look.hpp"

#include <vector>

namespace kith {

template <class World>
class node_queues {
 public:
  using worker = typename World::worker;

  /// Takes the options `order` (ready | created), `steal` (off | nearest) and `backlog`: with stealing, a node is
  /// robbed only while more than `backlog` tasks wait there.
  node_queues(const surroundings& s, settings& options)
      : steals_(options.take("steal", false, {{"off", false}, {"nearest", true}})),
        backlog_(options.take_number("backlog", 0, 0, 1 << 20)),
        probes_(static_cast<std::size_t>(s.workers.size())) {
    const team& workers = s.workers;
    const queue_order order =
        options.take("order", queue_order::fifo, {{"ready", queue_order::fifo}, {"created", queue_order::created}});
    for (int n = 0; n < workers.nodes(); ++n) {
      served_by_.push_back(workers.served_by(node_id(n)));
      queues_.push_back(make_queue<World>(s, node_id(n), order));
      if (steals_) queues_.back()->add_thieves(workers.everybody(), backlog_);
    }
    for (int n = 0; n < workers.nodes(); ++n) rounds_.push_back(workers.nodes_by_distance(node_id(n)));
  }

  int size() const noexcept { return static_cast<int>(queues_.size()); }
  /// Tasks for node n: they wait where n's data is served from.
  shared_queue<World>& operator[](node_id n) const noexcept { return *queues_[served_by_[n.index()].index()]; }

  /// The own node's queue; with stealing also, one a call, the others by distance.
  look next(worker& by) {
    const std::vector<node_id>& round = rounds_[by.node.index()];
    std::size_t& probe = probes_[by.id.index()].next;
    shared_queue<World>& q = *queues_[round[probe].index()];
    task* t = probe == 0 ? q.pop(by) : q.size() > backlog_ ? q.steal(by) : nullptr;
    probe = t != nullptr || !steals_ || probe + 1 == round.size() ? 0 : probe + 1;
    return look::at(t, probe == 0 ? look::empty : look::retry);
  }

 private:
  struct alignas(apart) cursor {
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
