// A worker: the state of one thread of the engine, and what it does with tasks.
//
// All members are for the worker's own thread, unless they say otherwise. worker.cpp holds the life of a task
// (create.cpp its beginning, task_end.cpp its end), wait.cpp how a worker waits, search.cpp how it looks for tasks and
// sleeps.
#pragma once

#include "base/clock.hpp"
#include "engine/life/search_order.hpp"
#include "engine/native/binding.hpp"
#include "engine/native/seat.hpp"
#include "engine/native/stacks.hpp"
#include "memory/home_check.hpp"
#include "memory/page_mover.hpp"
#include "policy/contract/policy.hpp"
#include "queue/native/world.hpp"
#include "task/scope.hpp"
#include "task/unreported_ends.hpp"

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace kith::native {

struct suspended_wait;

/// What a worker waits for. It stands on the waiting stack.
struct pending_wait {
  using predicate = bool (*)(const void*);
  pending_wait(predicate until, const void* argument) noexcept : done(until), what(argument) {}

  predicate done;
  const void* what;
  const char* name = "";           // as the user called it
  detail::scope* scope = nullptr;  // whose tasks are waited for, if it is one
  reference awaited;               // the task whose end is waited for, where it is known
  bool anything = false;           // any task may run on top: nothing is below that could have to go on
  bool fresh = false;              // of a stack that ends when some other wait may go on
  bool helping = false;            // it goes on when there is nothing to run, too
  bool refused = false;            // no stack was left: it ends with the refusal
  std::string refusal;
  std::size_t adopted_from = 0;     // entries of worker::adopted_ that are older
  suspended_wait* other = nullptr;  // found: it may go on

  bool is_done() const { return done(what); }
};

class worker : public native_seat, public worker_view {
 public:
  worker(native::engine& owner, worker_id self, node_id at, thread_place on);

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
  task* make_ready(std::span<task* const> tasks, ready_reason why);
  /// The scope of the running task's children; made when it is first asked for.
  detail::scope& children();
  /// Waits for the running task's children, if there are any, and throws their first failure.
  void wait_for_children();
  /// The policy learns that the creator of children waits.
  void tell_waiting();
  /// Waits for what was created here and gives that scope back. The first failure, if there was one.
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

  /// Runs tasks, this one first if there is one, until the scope is empty. `name`: of the wait, as the user called it.
  /// Throws kith::error if no stack is left for that; `s` is null then if tasks are left that will never start.
  void wait_for(detail::scope*& s, const char* name, task* first = nullptr);
  /// Runs tasks until done() is true. Whoever makes it true wakes this worker (through sleepers) afterwards. `awaited`: the
  /// task that will, if it is known.
  template <class Done>
  void work_until(const Done& done, const char* name, reference awaited = {}) {
    pending_wait w{[](const void* d) { return (*static_cast<const Done*>(d))(); }, &done};
    w.name = name;
    w.awaited = awaited;
    work_until(w, nullptr);
  }
  /// As work_until(), at the bottom of a thread's stack: whatever is found may run there.
  template <class Done>
  void serve_until(const Done& done) {
    pending_wait w{[](const void* d) { return (*static_cast<const Done*>(d))(); }, &done};
    w.anything = true;
    work_until(w, nullptr);
  }
  /// Before the thread leaves this worker: stacks do not change threads, so what waits on one here ends first.
  void finish_suspended();
  /// Drops the entries of tasks that were taken past their queue. When the engine ends, and nothing is left to run.
  void drop_dead_entries();
  /// The scope's owner is at the throttle: runs tasks until it may go on.
  void help(detail::scope& s);
  /// As help(), before a task of the scope makes one in it.
  void help_to_fill(detail::scope& s);
  /// Gives back a task that this worker was to run next; one that it claimed has no way back.
  void requeue(task* t);

  const thread_place place;

  worker* below = nullptr;  // the worker of another engine that the thread is as well, further down its stack

  /// The running task, or the root, as recordings name it.
  std::uint64_t running_ref() const noexcept;

  // ---- what runs now
  std::uint64_t root = 0;  // packed, where no task runs
  task* running = nullptr;
  detail::scope* task_scope = nullptr;  // of the running task
  detail::scope* children_scope = nullptr;
  std::uintptr_t stack_limit = 0;  // lowest address of the stack that runs

  void start_busy() noexcept { since_ = ticks(); }
  void stop_busy() noexcept {
    if (!mover_.empty()) [[unlikely]]
      move_pages();
    if (!homes_.empty()) [[unlikely]]
      check_homes();
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
  void move_pages();
  void check_homes();
  // task_end.cpp
  bool leave(task& t, detail::scope& children, bool held);
  bool end_is_of_child(task& t, detail::scope& outer, bool held);
  void fail_late(task& t, std::exception_ptr why, bool held);
  task* end_left(task* next);
  task* end(task& t);
  task* end_phase(task& t, detail::outcome how);
  task* end_with_successors(task& t, std::uint32_t first);
  void retire(task& t);
  void give_slot(slot_index i);
  /// True if that was the end of a scope that was left: end_left() has to follow.
  [[gnu::always_inline]] bool ended_in(detail::scope& s, std::uint64_t bytes) {
    if (s.counts_here.load(relaxed) != this) [[unlikely]]
      return ended_elsewhere_in(s, bytes);
    s.count_ended_here();
    s.bytes_created -= bytes;
    return false;
  }
  bool ended_elsewhere_in(detail::scope& s, std::uint64_t bytes);
  std::uint64_t throttled_bytes(const task& t) const noexcept;
  void report_one();
  /// Whether there is stack for another task.
  [[gnu::always_inline]] bool may_nest() const noexcept {
    constexpr std::uintptr_t reserve = std::uintptr_t{256} * 1024;
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > stack_limit + reserve;
  }
  bool is_below(const task& t, const pending_wait& w) const noexcept;
  bool may_run_here(const task& t, const pending_wait& w) const noexcept;
  void work_until(pending_wait& w, task* first);
  // ---- stacks that wait (wait.cpp)
  suspended_wait* ready_to_go_on(bool look_at_all = false, bool idle = false);
  bool go_elsewhere(pending_wait& w, task* t);
  void go_on_with(pending_wait& w);
  suspended_stack& serve_fresh_stack();
  void refuse_stack(pending_wait& w, detail::scope* children);
  bool refuse_newest_suspended();
  bool give_up(const pending_wait& w);
  bool only_unstarted_left(const pending_wait& w) const noexcept;
  void leave_alone(detail::scope& s);
  template <class Switch>
  bool suspend(pending_wait& w, const Switch& leave_stack);
  bool help_until_few(detail::scope& s, bool on_top);
  // ---- search.cpp
  task* find(const pending_wait& w);
  task* find_anywhere();
  task* claim_child(detail::scope& s, bool all);
  task* claim_adopted(std::size_t down_to);
  bool claim(task& t);
  bool is_alive(reference r) const noexcept;
  task* search_or_park(pending_wait& w);
  wake_reason sleep_in_order();
  task* look_everywhere(const pending_wait& w);
  task* run_measured(task& t);
  task* drain_inbox();
  void run_job();
  void note_first_steal() noexcept;

  bool resting_ = false;     // its time does not count as busy
  bool timing_ = false;      // the policy wants to know how long the next task takes
  bool no_hurry_ = false;    // the policy's last answer was `later`
  task* claimed_ = nullptr;  // taken past its queue, to be run next
  // Children that tasks left behind when their bodies ended, newest last: they are claimed before the queues are asked, so
  // that a tree without waits is run in depth under every policy.
  std::vector<reference> adopted_;
  std::size_t adopted_bound_ = 256;         // entries at which stale ones are dropped
  std::vector<suspended_wait*> suspended_;  // oldest first
  life::suspended_turn suspended_turn_;
  task* carried_ = nullptr;                     // to be run first on a fresh stack
  detail::scope* left_children_ = nullptr;      // of the task whose body has just ended
  bool nothing_held_ = false;                   // ... and its closure needs no destruction
  std::vector<detail::scope*> left_and_empty_;  // whose tasks are to be ended
  bool ending_left_ = false;
  std::vector<task*> batch_;     // tasks that one completion made ready
  std::vector<task*> internal_;  // internal tasks that the same completion made ready
  detail::scope* reporting_ = nullptr;
  unreported_ends unreported_;
  std::uint64_t unreported_bytes_ = 0;
  page_mover mover_;
  home_check homes_;
  stack_switcher stacks_;
  std::vector<std::uint64_t> by_node_;  // scratch
  std::uint64_t since_ = 0;             // when the present busy or idle spell began
  std::uint64_t steals_seen_ = 0;
  std::uint64_t run_seen_ = 0;     // the run whose first steal was recorded
  std::uint64_t unthrottled_ = 0;  // tasks that it may make in a group before it looks at the throttle
  std::uint32_t until_measure_ = 0;
  std::uint32_t until_inbox_ = 0;
  std::uint32_t mean_ticks_ = 10000;
};

}  // namespace kith::native
