// A scope: tasks that are waited for together, with the state that orders them and their first failure.
//
// It holds the children of one task, a group, or all tasks submitted from outside. Scopes are recycled and their memory
// is never freed, so that a late reader of an ended scope sees stale values, never freed memory. Its owner is the
// parent task; below, `the owner` is the thread that runs this task. Who may call what: the owner creates, waits and
// leaves; any worker ends tasks. A group's tasks also create, without accesses, and count as C4 says. Invariants:
//  C1  created - ended_here - ended_elsewhere = tasks that have not ended, or whose end is not yet reported. A
//      worker reports at the latest before it sleeps or runs a task of another scope, those that run at their creation
//      aside.
//  C2  Reporting comes before looking at `waiting`; setting `waiting` comes before looking at the counts
//      (both sides through sleepers: docs/sleep.md).
//  C3  A task's failure is written before its end is reported.
//  C4  In a phased scope any worker may begin tasks and runs of tasks. It subtracts them from the ends that it
//      has not reported yet, and borrows more from the scope in advance, so that no worker's unreported sum is
//      ever negative. So the scope is seen empty only when none of its tasks is queued or runs.
//  C5  If a task's body ends before its children, leave() makes ended_elsewhere `left - unfinished`, and after that no
//      worker counts in ended_here. The addition that makes ended_elsewhere equal to `left` is the last one, and the
//      worker that made it ends the task.
//  C6  A scope that was left with one unfinished task may be taken out of the chain of parents: the scope of
//      that task's children takes its place (leave_in_place_of). So a thread that walks up the chain reads a
//      scope, and then checks that it is still the parent of the one before.
#pragma once

#include "base/atomic.hpp"
#include "base/id.hpp"
#include "task/cancellation.hpp"
#include "task/creation_sink.hpp"
#include "task/dependences.hpp"
#include "task/seat.hpp"
#include "task/task.hpp"

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace kith {

namespace detail {

class scope {
 public:
  // ---- the owner's lines
  kith::seat* seat = nullptr;        // new tasks take their slots from it
  std::uint64_t serial = 0;          // changes whenever the scope was found empty: earlier accesses then order nothing
  atomic<std::uint64_t> created{0};  // only the owner writes this and the next; any thread may read
  atomic<std::uint64_t> ended_here{0};  // tasks that the owner itself ended
  std::uint64_t bytes_created = 0;      // bytes of accesses, less those of tasks that the owner ended
  std::uint64_t throttle_at = 0;        // value of created - ended_here at which the owner checks whether it must help
  scope* next_spare = nullptr;          // while nobody uses it: the next such scope of the same seat, or of the pool
  creation_sink* sink = nullptr;        // throttle_at is 0 then
  std::uint64_t identity = 0;           // for a graph, if identities are kept
  bool listed = false;                  // children are listed, so that the owner may claim them
  bool leveled = false;                 // children have several priorities: the policy is asked before any is claimed
  address_map by_address;
  block_pool blocks;
  std::vector<reference> children;
  std::size_t children_bound = 64;  // entries at which stale ones are dropped

  // ---- the line that all workers write
  alignas(false_sharing_range) atomic<std::uint64_t> ended_elsewhere{0};
  atomic<std::uint64_t> bytes_ended{0};
  atomic<std::uint32_t> waiting{0};  // 1 + the worker that waits until the scope is empty; 0: none; or waiting_outside

  // ---- read by all workers, seldom written
  alignas(false_sharing_range) atomic<const kith::seat*> counts_here{
      nullptr};                    // the seat whose ends are counted in ended_here; null once the scope is left
  atomic<scope*> parent{nullptr};  // the scope that contains the task (or group) of this one; null for roots
  atomic<bool> failed{false};
  bool independent = false;        // submitted from outside: a failed task does not cancel the others
  bool of_parts = false;           // its tasks stand for parts of its owner (detail::group_of_parts)
  bool phased = false;             // for a keyed graph: counts the runs of its nodes (C4)
  bool held = false;               // the closure of the task that left must be destroyed when that task ends
  atomic<std::uint64_t> owner{0};  // the parent task, packed; 0 for a root's scope
  atomic<task*> left_by{nullptr};  // the parent task, between the end of its body and its own; null after abandon()

  /// The number of tasks not known to have ended. A thread other than the owner may see too large a value.
  std::uint64_t unfinished() const noexcept {
    // Reads ends before beginnings, so that tasks created meanwhile count. acquire: pairs with
    // unreported_ends::report().
    const std::uint64_t elsewhere = ended_elsewhere.load(acquire);
    return not_ended_here() - elsewhere;
  }
  std::uint64_t not_ended_here() const noexcept {
    const std::uint64_t here = ended_here.load(acquire);  // pairs with count_ended_here()
    return created.load(relaxed) - here;
  }
  std::uint64_t unfinished_bytes() const noexcept { return bytes_created - bytes_ended.load(relaxed); }
  /// Counts one more task; returns its index in the order of creation, which wraps.
  std::uint32_t count_created() noexcept {
    const std::uint64_t before = created.load(relaxed);
    created.store(before + 1, relaxed);
    return static_cast<std::uint32_t>(before);
  }
  /// release: pairs with not_ended_here(); a waiter on another thread sees what the tasks wrote.
  void count_ended_here() noexcept { ended_here.store(ended_here.load(relaxed) + 1, release); }

  /// Called by the owner when the body of the parent task `t` has ended: from here on the worker that ends the last
  /// child ends `t`. True if no child was unfinished; else `t` may have ended already.
  bool leave(task& t, bool closure_held) noexcept;
  /// As leave(), if `before` was left and its last unfinished task leaves this scope: the two ends become one.
  /// REQUIRES: only the caller has an end of `before` to report.
  bool leave_in_place_of(scope& before) noexcept;
  /// Leaves a scope whose unfinished tasks are cancelled and will never start; no task waits for them. True if
  /// there are none; else the scope is given back when they have ended. Called by the owner.
  bool abandon() noexcept;
  /// Drops what only the creation of tasks needs. Called by the owner, which must create no further tasks.
  void forget_names();

  /// True if this scope, or one around it, was cancelled. Takes one comparison, unless a scope was cancelled
  /// since the last call.
  bool is_cancelled() const noexcept {
    return cancelled_.is_set(cancellations, [this] { return look_around(); });
  }
  /// Tasks of this scope, and of scopes inside it, do not start after this. Thread-safe.
  void cancel() noexcept;
  /// REQUIRES: of_parts, and a task of it runs. The scope of the task that made the group; null: that is a root. The
  /// maker waits for the group, so its scope stays the parent (unlike C6).
  scope* of_maker() const noexcept { return parent.load(relaxed); }
  /// True if this is `around`, or at most `levels` below it. The scope must have live tasks.
  bool is_within(const scope& around, int levels) const noexcept;
  /// True if this is a scope of the task's children, or at most `levels` below one.
  bool is_below(reference task, int levels) const noexcept;

  /// Whether is(owner) holds for the parent task of this scope, or of one around it; the last call was then for that
  /// task. May call it before that for tasks that are not above this scope; their results do not count. The scope must
  /// have live tasks.
  bool any_owner(const std::function<bool(std::uint64_t)>& is) const;

  /// Keeps the first failure and cancels the scope (unless it is independent). Thread-safe.
  void fail(std::exception_ptr why) noexcept;
  /// Returns the failure and forgets it; null if there was none. Called by the owner, when no task is left.
  std::exception_ptr take_failure() noexcept;

  /// Called by the owner when a wait has found the scope empty: earlier accesses then order nothing.
  void emptied();

 private:
  /// Walks up the parents until visit(scope) is true, and returns true; false if there are no more.
  template <class Visit>
  bool any_around(const Visit& visit) const noexcept;
  bool look_around() const noexcept;
  bool leave_unfinished() noexcept;

  [[gnu::visibility("hidden")]] static inline cancellation::counter cancellations{1};  // in the process
  cancellation cancelled_;

  std::mutex failing_;
  std::exception_ptr failure_;
};

}  // namespace detail

/// A fresh scope of this seat. Called by the seat's thread.
detail::scope& take_scope(seat& from, detail::scope* parent);
/// Returns the scope to its seat. Called by the seat's thread. REQUIRES: no task of it is unfinished.
void give_scope(detail::scope&);
/// Gives a scope that was left to another seat. Called by that seat's thread. REQUIRES: no task of it is unfinished.
void give_scope_to(seat& taker, detail::scope&);

}  // namespace kith
