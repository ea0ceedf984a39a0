// What the engine offers to keyed and static graphs: nodes are tasks of a scope of their own.
#pragma once

#include <kith/task.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>

namespace kith::detail {

/// Everything of one node but its closure.
struct node_draft {
  task_ref task;
  std::uint64_t key;  // its hash: the same in every run
  task_code code;
  hints h;
  std::span<const access_record> accesses;
  bool explores = true;  // runs twice, and says first what it waits for
  bool colored = false;  // remote accesses are counted by colors (count_colors), not by accesses
};

/// The scope of one exploration: its nodes are tasks that run twice. Made, waited for and destroyed by one task;
/// everything else by any worker that runs one of its nodes.
class node_scope {
 public:
  node_scope();
  ~node_scope();
  node_scope(const node_scope&) = delete;
  node_scope& operator=(const node_scope&) = delete;

  /// A name for a node that is about to be made; others may wait for it from now on.
  task_ref reserve();
  /// Makes it; returns the place of its closure, which the caller constructs. Then it can be handed over.
  /// Throws std::bad_alloc, if `accesses` or the closure need more room than the task has, and kith::error for
  /// commutative accesses.
  void* fill(const node_draft&, std::size_t closure_bytes, std::size_t closure_align);
  /// Starts with these nodes, and waits until nothing of the scope can go on. Once more with those that were held.
  /// Throws kith::error if no stack is left to wait on; then, too, nothing can go on.
  void run(std::span<const task_ref> first);
  void fail(std::exception_ptr why) noexcept;
  std::exception_ptr take_failure() noexcept;
  /// Whether the task has not ended. After run().
  bool lives(task_ref) const noexcept;
  /// Takes back a task that will never run. After run().
  void discard(task_ref) noexcept;
  int workers() const noexcept;
  /// Whether homes, and so remote accesses, are counted.
  bool counts_remote() const noexcept;
  bool records() const noexcept;
  /// In the recording: `task` starts after `before`. By the worker that makes the task.
  void note_need(task_ref task, task_ref before) noexcept;
  bool dry() const noexcept;

 private:
  scope* scope_;
};

/// What a node does while it explores, or generates, collected for the engine. One at a time on a worker.
class node_phase {
 public:
  /// `most`: how many nodes may be found.
  explicit node_phase(std::size_t most);
  /// `self` (the running node) starts after `before` has ended.
  void after(task_ref self, task_ref before);
  void found(task_ref made) noexcept;
  /// The running node, which needs none, waits until run() is called with it.
  void hold() noexcept { ++edges_; }  // one that nobody will count down
  /// The engine takes over. Exactly once, and last.
  void end() noexcept;

 private:
  std::uint32_t edges_ = 0;
};

/// The worker that calls, 0 to workers-1.
int worker_here() noexcept;
/// Counts the accesses of the running node to the results of nodes of these colors.
void count_colors(std::span<const std::int32_t>) noexcept;

}  // namespace kith::detail
