// The engine's interface for keyed and static graphs. Their nodes are tasks in a scope of their own.
#pragma once

#include <kith/task.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

namespace kith::detail {

/// Everything about one node except its closure.
struct node_draft {
  task_ref task;
  std::uint64_t key;  // its hash, the same in every run
  task_code code;
  hints h;
  std::span<const access_record> accesses;
  bool explores = true;  // runs twice; the first run names what it waits for
  bool colored = false;  // remote accesses are counted by color (count_colors), not by access
};

/// The scope of one exploration. One task makes it, waits for it and destroys it; any worker that runs one of its
/// nodes may call the other functions, unless noted.
class node_scope {
 public:
  node_scope();
  ~node_scope();
  node_scope(const node_scope&) = delete;
  node_scope& operator=(const node_scope&) = delete;

  /// A name for a node that will be made. Other nodes may wait for it from here on.
  task_ref reserve();
  /// Makes the node and returns the address where the caller must construct its closure. The node can then be handed
  /// over. If `accesses` or the closure need more room than the task has, it may throw std::bad_alloc. Throws
  /// kith::error for commutative accesses.
  void* fill(const node_draft&, std::size_t closure_bytes, std::size_t closure_align);
  /// Starts these nodes and waits until no node of the scope can continue. Called a second time for held nodes.
  /// Throws kith::error if no stack is left to wait on; no node can continue then, either.
  void run(std::span<const task_ref> first);
  void fail(std::exception_ptr why) noexcept;
  std::exception_ptr take_failure() noexcept;
  /// Whether the task has not ended. Call it after run().
  bool lives(task_ref) const noexcept;
  /// Discards a task that will never run. Call it after run().
  void discard(task_ref) noexcept;
  int workers() const noexcept;
  /// Whether the runtime tracks homes, and so counts remote accesses.
  bool counts_remote() const noexcept;
  bool records() const noexcept;
  /// Records that `task` starts after `before`. Called by the worker that makes the task.
  void note_need(task_ref task, task_ref before) noexcept;
  bool dry() const noexcept;

 private:
  scope* scope_;
};

/// Collects for the engine what a node does while it explores or generates. A worker has one at a time.
class node_phase {
 public:
  /// At most `most` nodes may be found.
  explicit node_phase(std::size_t most);
  /// Makes `self` (the running node) start after `before` has ended.
  void after(task_ref self, task_ref before);
  void found(task_ref made) noexcept;
  /// Makes the running node, which has no predecessors, wait until run() is called with it.
  void hold() noexcept { ++edges_; }  // an edge that no predecessor counts down
  /// Hands the node over to the engine. Must be called exactly once, and last.
  void end() noexcept;

 private:
  std::size_t edges_ = 0;
};

/// The calling worker, 0 to workers-1.
int worker_here() noexcept;
/// Counts the accesses of the running node to the results of nodes of these colors.
void count_colors(std::span<const std::int32_t>) noexcept;

}  // namespace kith::detail
