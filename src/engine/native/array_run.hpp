// One run of a graph that is kept as arrays (node_arrays.hpp): no task for a node, and no call of the policy.
//
// The worker that runs the graph owns the run. Workers that look for work in vain take part as helpers: for them a run
// is a half of a join (fork_join.cpp), so it never keeps the code below it from continuing. Each worker has a
// node_deque: its ready nodes, and its piece of those without predecessors. It runs a node, counts its successors down,
// runs the first that is ready next, and pushes the others. Where homes are known, a node that is ready goes to the
// workers of its home, which look among themselves first. Invariants:
//  N1  A node is in at most one list (a worker's deque, a list of arrivals, a piece of sources), or one worker holds
//      it.
//  N2  left_ counts the nodes that have not ended, or whose end is not reported. A worker reports when it finds no node
//      of its own, so the worker that reports the last one has seen all others.
//  N3  Helpers enter under the lock of active_runs (active_runs.hpp), and count in inside_. The owner first takes the
//      run off the list, and then waits until inside_ is zero; a helper that has left does not touch the run.
//  N4  A worker that makes nodes available wakes one that sleeps (docs/sleep.md), and so does a helper that enters
//      while there are sources. Before it sleeps, a worker looks at all runs (take_half), and the owner at its own.
#pragma once

#include "base/id.hpp"
#include "engine/native/node_arrays.hpp"
#include "queue/native/deque.hpp"
#include "task/scope.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace kith::native {

class engine;
class worker;

class array_run {
 public:
  /// A worker's part of a run. Kept by the graph, so that the deques need not grow again.
  struct alignas(false_sharing_range) node_deque {
    work_deque<node_arrays::step> ready;
    // The worker's own:
    std::uint32_t taken_at = 0, taken_end = 0;  // short sources that it has taken, and will run itself
    bool waited = false;                        // it has left a victim's short nodes alone once
    // Read by others:
    alignas(false_sharing_range) std::uint32_t sources_end = 0;  // the end of its piece of node_arrays::sources
    atomic<std::uint32_t> sources_at{0};                         // the first of these that is not taken
    atomic<bool> is_short{false};                                // its nodes are too short to be stolen one by one
  };
  using node_deques = std::deque<node_deque>;

  /// Nodes are children of the running task of `owner`, in `scope`. REQUIRES: the arrays are linked, not empty and not
  /// run by another thread meanwhile; `kept` is used by no other run.
  array_run(node_arrays& graph, node_deques& kept, worker& owner, detail::scope& scope);
  /// Runs all nodes; returns when they have ended. If the scope is cancelled, those that have not started are skipped.
  void run();

  /// As helper `w`, runs nodes until none is found, or other code of `w` must continue.
  void help(worker& w) noexcept;
  /// Whether there may be a node that the worker can take.
  bool has_work(const worker& w) const noexcept;
  /// Called under the lock of active_runs.
  void enter() noexcept { inside_.fetch_add(1, relaxed); }
  task* runs_in() const noexcept { return runs_in_; }
  worker_id owner() const noexcept { return owner_id_; }

 private:
  using node = node_arrays::node;
  using step = node_arrays::step;
  struct alignas(false_sharing_range) list {
    atomic<node> head{node_arrays::none};
  };

  void deal_sources();
  bool has_sources() const noexcept;
  bool work(worker& w);
  template <bool Alone>
  bool run_nodes(worker& w);
  void execute(worker& w, const step& s, std::uint32_t& skipped);
  template <bool Alone>
  step* end(worker& w, node_deque& mine, const step& ended);
  template <bool Alone>
  void offer(worker& w, node_deque& mine, node n);
  void put(list& in, node n) noexcept;
  step* take_all(list& from, node_deque& mine) noexcept;
  template <bool Alone>
  step* take_own(worker& w, node_deque& mine) noexcept;
  step* take_sources(node_deque& from, node_deque& mine) noexcept;
  step* steal(const worker& w, node_deque& mine, bool anywhere) noexcept;
  step* steal_from(node_deque& victim, node_deque& mine) noexcept;
  void report(worker& w, std::uint32_t ended, std::uint32_t skipped) noexcept;
  bool is_over() const noexcept { return left_.load(acquire) == 0; }  // pairs with report()
  void push(node_deque& mine, node n) noexcept;

  node_arrays& graph_;
  node_deques& deques_;
  worker& owner_;
  const worker_id owner_id_;
  task* const runs_in_;  // the task that the nodes are children of; null: the root
  detail::scope& scope_;
  const bool alone_;              // the engine has one worker: no other thread takes part
  const bool by_home_;            // homes are known and differ
  node top_ = node_arrays::none;  // the newest ready node, if alone
  std::vector<list> arrivals_;    // ready nodes for each memory node, put there from elsewhere
  alignas(false_sharing_range) atomic<std::uint32_t> left_;
  alignas(false_sharing_range) atomic<std::uint32_t> inside_{0};
};

/// Whether a run needs no tasks: nothing is recorded, no gate or dry run decides, no node has a priority, and on
/// several memory nodes the nodes' homes are known.
bool may_run_arrays(const worker& w, const node_arrays& graph, bool has_priorities) noexcept;
/// Runs all nodes as children of the running task, and throws the first failure. REQUIRES: as array_run().
void run_arrays(worker& w, node_arrays& graph, array_run::node_deques& kept);
/// Notes as each node's home where its task ran. REQUIRES: all nodes have run as tasks.
void learn_homes(const worker& w, node_arrays& graph);

}  // namespace kith::native
