// Counts remote accesses. A task counts once, at the node of its color, else at that of its largest access; each access
// that reads also counts once. Used by both engines. docs/glossary.md defines the figure under "remote access".
#pragma once

#include "memory/view.hpp"
#include "policy/contract/team.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::life {

class remote_count {
 public:
  explicit remote_count(node_id here) noexcept : here_(here), own_(here) {}

  /// `at` is the region's node; none means several nodes, which is remote. With by_colors, reads are counted by
  /// color instead.
  void access(const kept_access& a, node_id at, bool by_colors) noexcept {
    if (a.bytes() > largest_) {
      largest_ = a.bytes();
      own_ = at;
    }
    if (a.how != mode::out && a.bytes() != 0 && !by_colors) read_from(at);
  }
  void read_from(node_id at) noexcept {
    ++all_;
    remote_ += at != here_;
  }
  /// Makes the task belong to this node, whatever its accesses are.
  void task_belongs_to(node_id at) noexcept { own_ = at; }

  std::uint64_t remote() const noexcept { return remote_ + (own_ != here_ ? 1 : 0); }
  std::uint64_t local() const noexcept { return all() - remote(); }
  std::uint64_t all() const noexcept { return all_ + 1; }

 private:
  node_id here_, own_;
  std::uint64_t remote_ = 0, all_ = 0, largest_ = 0;
};

/// The node of the color's worker; none if there is no such worker.
inline node_id node_of_color(const team& workers, std::int32_t color) {
  return color >= 0 && color < workers.size() ? workers.node_of(worker_id(color)) : node_id();
}

/// The node that the first `bytes` bytes of a region on several nodes count for: `here` if at least half of
/// them are there, else none. `by_node` is scratch.
inline node_id mostly_at(const memory_view& memory, const region& r, std::uint64_t bytes, node_id here,
                         std::vector<std::uint64_t>& by_node) {
  by_node.assign(static_cast<std::size_t>(memory.nodes()), 0);
  memory.add_bytes(r, bytes, by_node);
  return by_node[here.index()] * 2 >= bytes ? here : node_id();
}

}  // namespace kith::life
