// A scope: the tasks that are waited for together, with what orders them and what went wrong among them.
//
// The children of one task, a group, or everything submitted from outside. Scopes are recycled and their memory is
// never given back, so that a late look at an ended scope reads stale values, never freed memory. Who may call what:
// the owner (the thread that runs the parent task) creates, waits and leaves; any worker ends tasks. A group's tasks create
// as well, without accesses, and count as C4 says. Invariants:
//  C1  created - ended_here - ended_elsewhere = tasks that have not ended, or whose end is not yet reported. Workers
//      report at the latest before they sleep or run a task of another scope.
//  C2  Reporting comes before looking at `waiting`; setting `waiting` comes before looking at the counts
//      (both sides through sleepers: docs/sleep.md).
//  C3  The failure is written before the failing task's end is reported.
//  C4  In a phased scope any worker begins tasks and runs of tasks. It takes them off the ends that it has not reported
//      yet, and borrows more in advance, so that no worker's unreported sum is ever negative: the scope is seen empty
//      only when nothing of it is queued or runs.
//  C5  A task whose body has ended leaves its children to be counted: leave() makes ended_elsewhere `left - unfinished`,
//      and nobody counts in ended_here any more. The addition that makes it `left` is the last one, and whoever made it
//      ends the task.
//  C6  A scope that was left, with one unfinished task, may be taken out of the chain of parents: the scope of that task's
//      children takes its place (leave_in_place_of). Who walks up therefore looks at a scope, then makes sure that it is
//      still the parent of the one before.
#pragma once

#include "base/atomic.hpp"
#include "base/id.hpp"
#include "task/dependences.hpp"
#include "task/seat.hpp"
#include "task/task.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <vector>

namespace kith {

namespace detail {

class scope {
 public:
  // ---- the owner's lines
  seat* creator = nullptr;           // whose slots new tasks are taken from
  std::uint64_t serial = 0;          // changes whenever the scope was found empty: what was seen before orders nothing
  atomic<std::uint64_t> created{0};  // written by the owner alone, like the next; others may look
  atomic<std::uint64_t> ended_here{0};  // ... ended by the owner itself
  std::uint64_t bytes_created = 0;      // of accesses, less those of tasks that the owner ended
  std::uint32_t sequence = 0;
  std::uint64_t throttle_at = 0;  // created - ended_here at which the creator looks whether it has to help
  std::uint64_t identity = 0;     // of a graph, where identities are kept
  bool listed = false;            // children are listed, so that the owner may claim them
  bool leveled = false;           // ... but have several priorities: the policy is asked first
  address_map by_address;
  block_pool blocks;
  std::vector<reference> children;
  std::size_t children_bound = 64;  // entries at which stale ones are dropped

  // ---- everybody's line
  alignas(false_sharing_range) atomic<std::uint64_t> ended_elsewhere{0};
  atomic<std::uint64_t> bytes_ended{0};
  atomic<std::uint32_t> waiting{0};  // 1 + worker that waits until the scope is empty, 0: none

  // ---- read by all, seldom written
  alignas(false_sharing_range) atomic<const seat*> counts_here{
      nullptr};                    // whose ends are counted in ended_here; null once it is left
  atomic<scope*> parent{nullptr};  // the scope of the task (or group) this one belongs to; null for roots
  mutable atomic<bool> cancelled{false};
  atomic<bool> failed{false};
  bool independent = false;                 // submitted from outside: tasks are not cancelled by each other
  bool phased = false;                      // of a keyed graph: what is counted are the runs of its nodes, see C4
  bool held = false;                        // of the task that left: its closure is to be destroyed when it ends
  mutable atomic<std::uint64_t> judged{0};  // the count of cancellations at which is_cancelled() last looked around
  atomic<std::uint64_t> owner{0};           // the task whose children these are, packed; 0: a root's
  atomic<task*> leaver{nullptr};  // that task, once its body has ended and its children have not; null if they
                                  // were left alone

  /// Tasks not known to have ended. By the owner; by others, who may see it too large.
  std::uint64_t unfinished() const noexcept {
    // Ends before beginnings: what is created meanwhile counts. acquire: pairs with unreported_ends::report().
    const std::uint64_t elsewhere = ended_elsewhere.load(acquire);
    return not_ended_here() - elsewhere;
  }
  std::uint64_t not_ended_here() const noexcept {
    const std::uint64_t here = ended_here.load(acquire);  // pairs with count_ended_here()
    return created.load(relaxed) - here;
  }
  std::uint64_t unfinished_bytes() const noexcept { return bytes_created - bytes_ended.load(relaxed); }
  void count_created() noexcept { created.store(created.load(relaxed) + 1, relaxed); }
  void count_ended_here() noexcept { ended_here.store(ended_here.load(relaxed) + 1, release); }

  /// The body of `t`, whose children these are, has ended: from here on whoever ends the last of them ends `t`. True if
  /// none was unfinished; else `t` may have ended already. By the owner.
  bool leave(task& t, bool closure_held) noexcept;
  /// As leave(), where `before` was left for the end of a task whose last unfinished child now leaves this scope: the two
  /// ends are one. REQUIRES: nobody but the caller has an end of `before` to report.
  bool leave_in_place_of(scope& before) noexcept;
  /// The tasks that have not ended are cancelled and will never start; nothing waits for them. True if there are none; else
  /// the scope is given back when they have ended. By the owner.
  bool leave_alone() noexcept;
  /// Drops what only a creator needs. By the owner, who creates no more.
  void forget_names();

  /// True if this scope, or one around it, was cancelled. One look, unless something was cancelled since the last time.
  bool is_cancelled() const noexcept {
    return cancelled.load(relaxed) || (judged.load(relaxed) != cancellations.load(relaxed) && judge());
  }
  /// Tasks of this scope, and of scopes inside it, do not start any more. Any thread.
  void cancel() noexcept;
  /// True if this is `around`, or at most `levels` below it. The scope's tasks must be alive.
  bool is_within(const scope& around, int levels) const noexcept;
  /// True if this is a scope of the task's children, or at most `levels` below one.
  bool is_below(reference task, int levels) const noexcept;

  /// Keeps the first failure and cancels the scope. Any thread.
  void fail(std::exception_ptr why) noexcept;
  /// The failure, taken out; null if there was none. By the owner, when no task is left.
  std::exception_ptr take_failure() noexcept;

  /// Called by the owner when a wait has found the scope empty: what was seen before no longer orders anything.
  void emptied();

 private:
  /// Walks up until visit(scope) is true (then: true), or there are no more.
  template <class Visit>
  bool any_around(const Visit& visit) const noexcept;
  bool judge() const noexcept;
  bool leave_as_told() noexcept;

  static inline atomic<std::uint64_t> cancellations{1};  // of the process

  std::mutex failing_;
  std::exception_ptr failure_;
};

}  // namespace detail

/// A fresh scope of this seat. By the seat's thread.
detail::scope& take_scope(seat& creator, detail::scope* parent);
/// Gives it back. By the seat's thread. REQUIRES: no task of it is unfinished.
void give_scope(detail::scope&);
/// Gives a scope that was left to another seat, whose thread calls. REQUIRES: as above.
void give_scope_to(seat& taker, detail::scope&);

}  // namespace kith
