// By which type of task thieves judge a node's queue: they cannot look into it, and whether a theft pays depends on the
// type of the task that they would get.
//
// It is that of the task queued last. If the task that would be taken has another type and does not pay, it becomes
// that type and, after that, the type of each task that the node takes.
#pragma once

#include "base/atomic.hpp"
#include "policy/contract/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith {

/// Any worker may call anything. Types are written only if they change, nearly never.
template <class World>
class judged_types {
 public:
  explicit judged_types(int nodes) : nodes_(static_cast<std::size_t>(nodes)) {}

  /// The type of the task queued last at the node, and that by which thieves judge its queue.
  std::uint16_t last(node_id n) const { return nodes_[n.index()].last.load(relaxed); }
  std::uint16_t judged(node_id n) const { return nodes_[n.index()].judged.load(relaxed); }

  /// Called when a task of this type was queued at the node.
  void queued(node_id n, std::uint16_t type) {
    set(nodes_[n.index()].last, type);
    set(nodes_[n.index()].judged, type);
  }
  /// Called when the node has taken a task of this type.
  void taken(node_id n, std::uint16_t type) {
    if (judged(n) != last(n)) set(nodes_[n.index()].judged, type);
  }
  /// Called when a theft of a task of this type, which is the next there, would not pay.
  void refused(node_id n, std::uint16_t type) { set(nodes_[n.index()].judged, type); }

 private:
  using shared_type = typename World::template shared<std::uint16_t>;
  struct alignas(false_sharing_range) state {
    shared_type last{0}, judged{0};
  };

  static void set(shared_type& to, std::uint16_t type) {
    if (to.load(relaxed) != type) to.store(type, relaxed);
  }

  std::vector<state> nodes_;
};

}  // namespace kith
