// A worker: the state of one thread of the engine, and what it does with tasks.
//
// All members are for the worker's own thread, unless they say otherwise. worker.cpp holds the life of a task
// (create.cpp its beginning), wait.cpp what a worker does while it has nothing to do.
#pragma once

#include "base/clock.hpp"
#include "engine/native/seat.hpp"
#include "memory/page_mover.hpp"
#include "policy/policy.hpp"
#include "queue/native/world.hpp"
#include "task/held_back.hpp"
#include "task/scope.hpp"

#include <cstdint>
#include <type_traits>
#include <vector>

namespace kith::native {

class worker : public native_seat, public worker_view {
 public:
  worker(engine& owner, worker_id self, node_id at, int on_cpu);

  /// The worker that the calling thread is; null if none.
  static worker* current() noexcept;
  /// Makes the calling thread this worker; returns the one it was before.
  worker* take_thread() noexcept;
  static void leave_thread(worker* before) noexcept;

  // ---- tasks (worker.cpp)

  /// Runs the task (unless somebody else took it, or its scope was cancelled) and ends it. Returns what to run next, if
  /// the policy says so.
  task* run(task& t);
  /// As run(), and whatever is to be run next, until done() or nothing is.
  void run_at_creation(task& t);
  /// Hands tasks to the policy that prepare_ready() has let through.
  task* make_ready(std::span<task* const> tasks, moment why);
  /// The scope of the running task's children; made when it is first asked for.
  detail::scope& children();
  /// Waits for the running task's children, if there are any, and throws their first failure.
  void wait_for_children();
  /// The policy learns that the creator of children waits.
  void tell_waiting();
  /// The body is over: waits for what it created and gives that scope back. The first failure, if there was one.
  std::exception_ptr end_children();
  /// Reports the ends of tasks that were held back. Before sleeping, at the latest.
  void report();
  /// Counts runs of nodes of a phased scope that are about to be queued (C4). Before anybody can see them.
  void count_begun(detail::scope& s, std::uint64_t runs);

  // ---- what the running node of a keyed graph has said, for the moment after its run (keyed.cpp)
  struct phase {
    std::vector<task*> found;  // new nodes
    std::uint32_t edges = 0;   // of the node itself
  } said;
  /// Takes back a node that will never run: nobody else knows it any more.
  void discard(task& t);

  // ---- waiting (wait.cpp)

  /// Runs tasks, this one first if there is one, until the scope is empty.
  void wait_for(detail::scope& s, task* first = nullptr);
  /// Runs tasks until done() is true. Whoever makes it true wakes this worker (through sleepers) afterwards.
  template <class Done>
  void work_until(const Done& done) {
    work_until([](const void* d) { return (*static_cast<const Done*>(d))(); }, &done, nullptr, nullptr);
  }
  /// Runs tasks until the creator may go on. False if nothing could be run.
  void help(detail::scope& s);

  const int cpu;  // bound to it while it works; -1: not bound

  worker* below = nullptr;  // the worker of another engine that the thread is as well, further down its stack

  /// The running task, or the root, as recordings name it.
  std::uint64_t running_ref() const noexcept;

  // ---- what runs now
  std::uint64_t root = 0;  // packed, where no task runs
  task* running = nullptr;
  detail::scope* task_scope = nullptr;  // of the running task
  detail::scope* children_scope = nullptr;
  std::uintptr_t stack_limit = 0;  // lowest address of the thread's stack that may be used

  void start_busy() noexcept { since_ = ticks(); }
  void stop_busy() noexcept {
    if (!mover_.empty()) [[unlikely]]
      move_pages();
    sums.add(event::busy, ticks() - since_);
  }

 private:
  bool take(task& t);
  detail::outcome execute(task& t);
  void tell_time(const task& t, std::uint64_t took);
  detail::outcome run_recorded(task& t, std::uint64_t& began);
  void note_executed(task& t, std::uint64_t began, std::uint8_t noted);
  void count_accesses(task& t, std::uint64_t began);
  void note_home(region& r, std::uint64_t began);
  node_id mostly_at(const region& r, std::uint64_t bytes);
  void move_pages();
  task* end(task& t);
  task* end_phase(task& t, detail::outcome how);
  task* end_with_successors(task& t, std::uint32_t first);
  void retire(task& t);
  void give_slot(slot_index i);
  void ended_in(detail::scope& s, std::uint64_t bytes);
  std::uint64_t throttled_bytes(const task& t) const noexcept;
  /// Whether there is stack for another task; `at_last`: if the worker would have to sleep otherwise.
  bool may_nest(bool at_last = false) const noexcept;
  using predicate = bool (*)(const void*);
  void work_until(predicate done, const void* what, detail::scope* waited, task* first);
  task* find(detail::scope* waited);
  task* find_anywhere();
  task* find_of(const detail::scope& s);
  task* claim_child(detail::scope& s, bool all);
  bool claim(task& t);
  task* rest(predicate done, const void* what, detail::scope* waited);
  wake_reason sleep_in_order();
  task* look_everywhere(predicate done, const void* what, detail::scope* waited);
  void requeue(task* t);
  task* run_measured(task& t);
  task* drain_inbox();
  void run_job();
  void note_first_steal() noexcept;

  bool resting_ = false;         // its time does not count as busy
  bool timing_ = false;          // the policy wants to know how long the next task takes
  bool no_hurry_ = false;        // the policy's last answer was `later`
  task* claimed_ = nullptr;      // taken past its queue, to be run next
  std::vector<task*> batch_;     // tasks that one completion made ready
  std::vector<task*> internal_;  // internal tasks that the same completion made ready
  detail::scope* reporting_ = nullptr;
  held_back unreported_;
  std::uint64_t unreported_bytes_ = 0;
  page_mover mover_;
  std::vector<std::uint64_t> by_node_;  // scratch
  std::uint64_t since_ = 0;             // when the present busy or idle spell began
  std::uint64_t steals_seen_ = 0;
  std::uint64_t run_seen_ = 0;  // the run whose first steal was recorded
  std::uint32_t until_measure_ = 0;
  std::uint32_t until_inbox_ = 0;
  std::uint32_t mean_ticks_ = 10000;
};

}  // namespace kith::native
