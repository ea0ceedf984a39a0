// A team: the threads of one parallel region.
//
// A team with an engine has as many members as that has workers: member i is run by worker i, and so are the explicit
// tasks that this worker finds. A team without one has one member, on the thread that made it, and its explicit tasks
// run at once, where they are created.
#pragma once

#include "base/atomic.hpp"
#include "base/spin_mutex.hpp"
#include "openmp/blocked_threads.hpp"
#include "openmp/context.hpp"
#include "openmp/work_share.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kith::native {
class engine;
}

namespace kith::openmp {

/// A member writes its own with each chunk of a loop, so no two of them share a line.
struct alignas(false_sharing_range) member {
  int number = 0;
  share_position shares;                    // where it is among the team's work-sharing constructs
  std::shared_ptr<posted_iterations> nest;  // of LLVM's programs: the loops with depend(sink) that it is in
};

class team {
 public:
  /// The team of a thread that no region has, or that begins anew as if none had it.
  explicit team(const icv_set&);
  /// A team that the running code makes. `on`: the engine whose workers run it; null: the calling thread alone.
  team(int threads, const context& maker, native::engine* on);
  team(const team&) = delete;
  team& operator=(const team&) = delete;

  /// What the member begins with.
  context context_of(int number) noexcept;

  /// Waits until all members have called it and all their explicit tasks have ended; runs tasks meanwhile. Only for
  /// members. Members see what the others did before it.
  void barrier();
  /// As barrier(), but returns true, at once, if the region is cancelled.
  bool barrier_or_cancelled();
  /// Called by each member at its end: waits for its explicit tasks.
  void end();

  /// Keeps the environment as long as the team lives. Thread-safe.
  const data_environment& keep(std::unique_ptr<const data_environment>);

  // ---- detached tasks, in a team without workers
  /// Called when the body of one has ended, and its event is not fulfilled.
  void add_event() noexcept { open_events_.fetch_add(1, relaxed); }
  /// Called when that event is fulfilled, by any thread. The team may be gone when it returns.
  void end_event() noexcept;
  /// Waits until all of these are fulfilled.
  void await_events() noexcept;

  /// Whether a task of this group (null: of none) must not begin any more.
  bool is_task_cancelled(const task_group* of) const noexcept;
  /// Cancels the region: its members leave it at their next cancellation point, and its tasks do not begin any more.
  void cancel() noexcept;
  bool is_cancelled() const noexcept { return cancelled_.load(relaxed); }
  /// The same for the work-sharing construct that the members are in, until their next barrier.
  void cancel_share() noexcept { share_cancelled_.store(true, relaxed); }
  bool is_share_cancelled() const noexcept { return share_cancelled_.load(relaxed); }

  /// Called by each member when it begins.
  void begin() noexcept { begun_.fetch_add(1, relaxed); }
  /// Waits until all members have begun. A worker that found an explicit task before would begin late.
  void await_members() noexcept {
    if (begun_.load(relaxed) != size) [[unlikely]]
      spin_until_begun();
  }

  /// Whether workers run its tasks. Not so in a child of fork() in the region: it has one thread, which is none.
  bool has_workers() const noexcept;

  const int size;
  team* const outer;       // null: the team of a thread that no region has
  const int outer_thread;  // the number in `outer` of the thread that made it
  const int level;         // the number of parallel regions around its members, with its own
  const int active_level;  // the number of these that have several threads
  native::engine* const engine;
  const data_environment environment;  // of its members when they begin
  task_group* group_of_all = nullptr;  // that its members begin in: of a region with reductions over tasks
  std::vector<member> members;
  work_shares shares;
  blocked_threads blocked;  // members that wait for what another one does in a construct

 private:
  void meet(bool until_cancelled);
  void spin_until_begun() const noexcept;

  spin_mutex keeping_;
  std::vector<std::unique_ptr<const data_environment>> kept_;
  atomic<std::uint32_t> open_events_{0};
  atomic<bool> cancelled_{false}, share_cancelled_{false};
  atomic<int> begun_{0};
  alignas(false_sharing_range) atomic<int> arrived_{0};           // members that are at the barrier
  alignas(false_sharing_range) atomic<std::uint32_t> passed_{0};  // how often all have met there
};

}  // namespace kith::openmp
