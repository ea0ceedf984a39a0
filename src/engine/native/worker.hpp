// A worker: the state of one thread of the engine, and its operations on tasks.
//
// All members are for the worker's own thread, unless their comments say otherwise. The life of a task is in
// create.cpp, declare.cpp, task_run.cpp, task_end.cpp and report.cpp, in this order. wait.cpp has how a worker waits;
// step.hpp, search.cpp and park.cpp how it finds what to run meanwhile, or sleeps; suspend.cpp and stack_limit.cpp how
// it leaves the stack of a wait; throttle.cpp what a creator does at the throttle.
#pragma once

#include "base/clock.hpp"
#include "engine/life/search_order.hpp"
#include "engine/native/active_runs.hpp"
#include "engine/native/binding.hpp"
#include "engine/native/counts.hpp"
#include "engine/native/lane.hpp"
#include "engine/native/pending_wait.hpp"
#include "engine/native/seat.hpp"
#include "engine/native/stacks.hpp"
#include "memory/home_check.hpp"
#include "memory/page_mover.hpp"
#include "policy/contract/policy.hpp"
#include "queue/native/inbox.hpp"
#include "queue/native/world.hpp"
#include "task/scope.hpp"
#include "task/unreported_ends.hpp"

#include <kith/detail/continuation.hpp>
#include <kith/detail/promise.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith::native {

class worker;

extern thread_local constinit worker* worker_of_this_thread [[gnu::tls_model("initial-exec")]];  // worker::current()

/// Which tasks that are ready at their creation run there, as far as the engine decides without the policy.
enum class creation_rule : std::uint8_t { none, short_ones, all };

class worker : public native_seat, public worker_view {
 public:
  worker(native::engine& owner, worker_id self, node_id at, thread_affinity on);

  /// The calling thread's worker; null if it is none.
  static worker* current() noexcept { return worker_of_this_thread; }
  /// The same; where there is none, throws an error that names the call of the user.
  static worker& current_for(std::string_view call);
  /// As current_for(), for a call that runs tasks: refused in the body of a graph that is captured.
  static worker& current_to_run(std::string_view call);
  /// Whether the running code is such a body, whose tasks do not run yet.
  bool captures() const noexcept { return children_scope != nullptr && children_scope->sink != nullptr; }
  /// Makes the calling thread a worker while it lives, or begins a fresh stack of one that it is.
  class on_stack {
   public:
    explicit on_stack(worker&) noexcept;
    ~on_stack();
    on_stack(const on_stack&) = delete;
    on_stack& operator=(const on_stack&) = delete;

   private:
    friend class worker;
    worker* const who_;
    on_stack* const below_;
    worker* const before_;
  };
  /// The worker of this engine whose frames are on the calling thread's stack, perhaps below those of workers of other
  /// engines; null if there is none.
  static worker* find_on_stack(const native::engine&) noexcept;
  /// Forgets which workers the thread is: in a child of fork() there are none.
  static void forget_thread() noexcept;

  // ---- tasks (task_run.cpp, task_end.cpp, report.cpp)

  /// Runs the task (unless another worker took it, or its scope was cancelled) and ends it. Returns the task to
  /// run next, if the policy names one.
  task* run(task& t);
  /// Runs a task on top of its creator, and requeues what run() returns; requeues the task itself if too little
  /// stack is left.
  void run_at_creation(task& t);
  /// Whether a task runs at its creation, if it is ready, without a call of the policy.
  [[gnu::always_inline]] bool may_run_at_creation(const task& t) const noexcept;
  /// Whether a new task may be a plain call of its creator: the policy neither places nor orders tasks, none is
  /// recorded, and the stack has room.
  bool may_call_tasks() const noexcept { return at_creation != creation_rule::none && log == nullptr && may_nest(); }
  /// Whether what could run without a task must be one: it is recorded, or a recorded order is imposed.
  bool needs_tasks() const noexcept;
  /// Runs such a task. No other thread knows it, and it was not listed.
  void run_unseen(task& t);
  /// Called when such a task has predecessors. Its creator soon runs what is queued, so that later tasks are ready at
  /// their creation.
  void request_help(detail::scope& s) noexcept;
  /// Hands tasks to the policy. prepare_ready() must have returned true for them.
  task* make_ready(std::span<task* const> tasks, ready_reason why);
  /// The scope of the running task's children. Made at the first call.
  detail::scope& children() { return children_scope != nullptr ? *children_scope : open_children(); }
  /// Waits for the running task's children, if there are any, and throws their first failure.
  void wait_for_children();
  /// Calls policy::waiting() if the running task has created children.
  void tell_waiting() noexcept;
  /// Calls policy::waiting() because tasks of `s` are waited for, or left. `s` keeps what it throws, for its waiter.
  void tell_waiting(detail::scope& s) noexcept;
  /// Waits for the running task's children and gives their scope back. Returns their first failure, if any.
  std::exception_ptr end_children();
  /// Calls f(context), then waits for the tasks that it created. Returns the first failure, if any.
  std::exception_ptr run_apart(void* context, void (*f)(void*));
  /// As run_apart(), for a worker from find_on_stack().
  std::exception_ptr run_on_top(void* context, void (*f)(void*));
  /// What follows runs as the body of a child, here and now: its waits are for what it creates itself. The result is
  /// for leave_child(), which ends this; what the child has left unfinished, the running task does not end before.
  detail::scope* enter_child() noexcept;
  void leave_child(detail::scope* outer);
  /// Reports the ends of tasks that were held back. Must be called before sleeping, at the latest.
  void report();
  /// Counts runs of a phased scope that are about to be queued (C4 of scope.hpp). Must come before other workers can
  /// see them.
  void count_begun(detail::scope& s, std::uint64_t runs);

  /// While it lives, code of this task runs, here and now, and what that creates belongs to the task. Null: code of a
  /// root, which has no scope.
  class runs_as {
   public:
    runs_as(worker& on, task* t) noexcept
        : on_(on),
          running_(std::exchange(on.running, t)),
          scope_(std::exchange(on.task_scope, t != nullptr ? t->scope : nullptr)),
          children_(std::exchange(on.children_scope, nullptr)) {}
    ~runs_as() {
      on_.running = running_;
      on_.task_scope = scope_;
      on_.children_scope = children_;
    }
    runs_as(const runs_as&) = delete;
    runs_as& operator=(const runs_as&) = delete;

   private:
    worker& on_;
    task* const running_;
    detail::scope *const scope_, *const children_;
  };

  // ---- what the running node of a keyed graph has found, for use after its run (keyed.cpp)
  struct exploration {
    std::vector<task*> found;  // new nodes
    std::size_t edges = 0;     // predecessors of the node itself
  } explored;
  /// Discards a node, or a pending task, that never became ready. No other thread may know it any more.
  void discard(task& t);

  // ---- waiting (wait.cpp)

  /// Runs tasks, `first` first if it is not null, until the scope is empty. `name` is the call that the user
  /// made. Throws kith::error if no stack is left, and what a policy throws; `s` is then null if tasks are left. The
  /// scope of a graph keeps what a policy throws, and is waited for all the same.
  void wait_for(detail::scope*& s, const char* name, task* first = nullptr);
  /// Runs tasks until done() is true. The thread that makes it true must wake this worker (through sleepers)
  /// afterwards. `awaited` is the task that will make it true, if known. Throws kith::error if it fails at the
  /// limit of stacks.
  template <class Done>
  void work_until(const Done& done, const char* name, reference awaited, detail::at_stack_limit limit) {
    pending_wait w(done);
    w.name = name;
    w.awaited = awaited;
    w.unrefusable = limit == detail::at_stack_limit::exceed;
    work_until(w, nullptr);
  }
  /// As work_until(), where tasks of `s`, which is the running task's, may run on top of the wait.
  template <class Done>
  void work_in_until(detail::scope& s, const Done& done, const char* name) {
    pending_wait w(done);
    w.name = name;
    w.scope = &s;
    w.may_claim_children = s.listed;
    w.unrefusable = true;
    work_until(w, nullptr);
  }
  /// As work_until(), at the bottom of a thread's stack, where any task may run.
  template <class Done>
  void serve_until(const Done& done) {
    pending_wait w(done);
    w.runs_any_task = true;
    work_until(w, nullptr);
  }
  /// Sleeps until woken, after sleepers::announce() and a look in vain, or after begin_asleep(). `left_some`: there is
  /// work that it may take later.
  wake_reason sleep(bool left_some);
  /// Ends all suspended waits. Called before the thread leaves this worker, because stacks do not change threads.
  void finish_suspended();
  /// Drops the dead entries. Called when the engine ends and no task is left to run.
  void drop_dead_entries();
  /// The scope's owner is at the throttle: runs tasks until it may continue.
  void help(detail::scope& s);
  /// As help(), before a task of a group creates one in it.
  void help_to_fill(detail::scope& s);
  /// Gives back a task that this worker was to run next. Runs it if this worker claimed it, because a claimed
  /// task cannot be given back.
  void requeue(task* t);
  /// Queues a ready task that count_begun() has counted, not on top of the running one, which may wait for others of
  /// its group. Runs it if the policy has no memory for it.
  void queue_begun(task& t);

  // ---- joins (fork_join.cpp)

  /// Pushes the half in the running stack's lane, and offers halves to other workers. False if that is full.
  bool offer(detail::half& h) noexcept;
  /// Gives the running stack another lane, null for none; returns the one that it had.
  lane* swap_lane(lane* other) noexcept;
  /// Returns when the half, which another worker or another stack has taken, has ended; runs other things meanwhile.
  void wait_for(const detail::half& h);

  // ---- coroutines (coroutine.cpp)

  /// As offer(), for the continuation of a coroutine.
  detail::join_by offer_rest(detail::coroutine_continuation& c) noexcept;
  /// Runs the coroutine that the root waits for, on this stack and where it is stolen to.
  void run_coroutine(detail::coroutine_root& root, detail::coroutine_promise& first);
  /// Called when a half of the continuation has ended on this stack. Returns the coroutine if this strand continues it,
  /// else null.
  detail::coroutine_promise* arrive(detail::awaiting& at) noexcept;
  /// A spare stack of frames. Throws std::bad_alloc.
  detail::frame_stack& take_frame_stack() { return spare_frames_.take(); }

  /// Sets a flag of the worker while it lives.
  class raised_flag {
   public:
    explicit raised_flag(bool& flag) noexcept : flag_(flag), before_(std::exchange(flag, true)) {}
    ~raised_flag() { flag_ = before_; }
    raised_flag(const raised_flag&) = delete;
    raised_flag& operator=(const raised_flag&) = delete;

   private:
    bool& flag_;
    const bool before_;
  };
  /// While the result lives, this worker's waits run only what they are for, on this stack, however deeply that waits
  /// itself.
  [[nodiscard]] raised_flag stay_on_stack() noexcept { return raised_flag(stays_); }
  /// While the result lives, this worker starts no tasks at their creation: the running one may hold a lock that they
  /// want.
  [[nodiscard]] raised_flag queue_what_is_created() noexcept { return raised_flag(on_creator_); }

  const thread_affinity binding;
  /// What the engine has decided once the policy was known.
  bool runs_plainly = false;  // nothing is recorded, skipped or replayed, no homes are tracked, no bytes throttled:
                              // tasks only run and end
  creation_rule at_creation = creation_rule::none;

  inbox<task> addressed;  // tasks that only this worker runs; any thread adds to them (addressed.hpp)

  /// How many of this worker's waits are for a completion; any thread reads it (completion::complete()).
  atomic<int> awaits{0};

  /// The name of the running task, or of the root, in recordings.
  std::uint64_t running_ref() const noexcept;

  // ---- what runs now
  std::uint64_t root_name = 0;  // packed; used while no task runs
  worker_counts counts;         // for recordings
  task* running = nullptr;
  detail::scope* task_scope = nullptr;  // of the running task
  detail::scope* children_scope = nullptr;
  std::uintptr_t stack_limit = 0;  // of the current stack: nesting_limit()

  void start_busy() noexcept {
    since_ = ticks();
    steals_before_ = sums[event::steal];
  }
  void stop_busy() noexcept {
    if (!mover_.empty()) [[unlikely]]
      move_pages();
    if (!homes_.empty()) [[unlikely]]
      check_homes();
    sums.add(event::busy, ticks() - since_);
    steals_before_ = sums[event::steal];
  }

 private:
  static on_stack* exchange_stack(on_stack* with) noexcept;
  worker* turn_to_thread() noexcept;
  static void turn_back(worker* before) noexcept;

  // ---- the run of a task (task_run.cpp)
  bool take(task& t);
  bool is_plain(const task& t) const noexcept;
  detail::scope& open_children();
  task* run_in_full(task& t, bool timed);
  void turn_to(detail::scope& s);
  detail::outcome execute(task& t, bool timed);
  detail::outcome execute_in_full(task& t, bool timed);
  template <class Call>
  detail::outcome run_body(task& t, const Call& call);
  detail::outcome leave_children_behind(detail::scope& s, detail::outcome how);
  void note_time(const task& t, std::uint64_t took);
  detail::outcome run_recorded(task& t, std::uint64_t& began);
  void note_executed(task& t, std::uint64_t began, std::uint8_t noted);
  // ---- homes of what it accesses (homes.cpp)
  void count_accesses(task& t, std::uint64_t began);
  void note_home(region& r, std::uint64_t began);
  void move_pages();
  void check_homes();
  // ---- the end of a task (task_end.cpp; end_phase: keyed.cpp)
  task* end_run_in_full(task& t, detail::outcome how);
  task* end_phase(task& t, detail::outcome how);
  bool leave(task& t, detail::scope& children, bool held);
  bool destroy_closure(task& t);
  bool end_is_of_child(task& t, detail::scope& outer, bool held);
  task* end(task& t);
  task* end_with_successors(task& t, std::uint32_t first);
  void release_from(std::uint32_t first);
  void add_released(task* before, task& r);
  void pass_turns(task& t);
  bool end_internal();
  task* start_released(task* last, bool more);
  task* end_run_with_batch(task& t, task* last);
  task* end_left(task* next);
  void fail_late(task& t, std::exception_ptr why, bool held);
  void retire(task& t);
  void give_slot(task& t);
  void give_slot_back(task& t);
  std::uint64_t throttled_bytes(const task& t) const noexcept;
  // ---- how the scope of a task learns of its end (report.cpp)
  /// True if that was the last end of a scope that was left; the caller must then call end_left().
  [[gnu::always_inline]] bool ended_in(detail::scope& s, std::uint64_t bytes) {
    if (s.counts_here.load(relaxed) != this) [[unlikely]]
      return ended_elsewhere_in(s, bytes);
    s.count_ended_here();
    s.bytes_created -= bytes;
    return false;
  }
  bool ended_elsewhere_in(detail::scope& s, std::uint64_t bytes);
  void report_one();
  // ---- waits (wait.cpp, step.hpp, throttle.cpp)
  void work_until(pending_wait& w, task* first);
  bool help_until_few(detail::scope& s, bool on_top);
  bool may_run_here(const task& t, const pending_wait& w) const noexcept;
  bool is_below(const task& t, const pending_wait& w) const noexcept;
  task* run_measured(task& t);
  task* run_sampled(task& t);
  /// Whether the stack has room for another task.
  [[gnu::always_inline]] bool may_nest() const noexcept {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > stack_limit;
  }
  // ---- stacks that wait (suspend.cpp)
  suspended_wait* ready_to_go_on(bool look_at_all = false, bool idle = false);
  bool may_leave_stack(const pending_wait& w) const noexcept;
  bool go_elsewhere(pending_wait& w, task* t);
  void go_on_with(pending_wait& w);
  suspended_stack& serve_fresh_stack();
  template <class Switch>
  bool suspend(pending_wait& w, const Switch& leave_stack);
  // ---- waits for which no stack is left (stack_limit.cpp)
  void refuse_stack(pending_wait& w, detail::scope* children);
  bool refuse_newest_suspended();
  task* find_past_others(const pending_wait& w, bool has_room);
  bool give_up(const pending_wait& w);
  bool only_unstarted_left(const pending_wait& w) const noexcept;
  void abandon(detail::scope& s);
  // ---- fork_join.cpp
  bool open_lane() noexcept;
  detail::fork_lane* this_lane() const noexcept;
  void set_lane(lane* l) noexcept;
  void close_lane() noexcept;
  task* joins_at(const lane& l, detail::split_deque<detail::half>::slot_pointer at) const noexcept;
  std::uint32_t wanted_halves() const noexcept;
  void wake_for_halves() noexcept;
  bool take_half(const pending_wait& w, bool everywhere) noexcept;
  bool take_run(bool wait_for_lock) noexcept;  // active_runs.cpp
  void run_taken_half(pending_wait& w);
  void run_half();
  bool ensure_spare_lane() noexcept;
  // ---- coroutine.cpp
  void prepare(detail::half& offered, detail::split_deque<detail::half>::slot_pointer at) noexcept;
  void run_continuation(detail::coroutine_continuation& c);
  void continue_strand(const detail::strand& in, detail::coroutine_promise* next) noexcept;
  void end_root(const detail::strand& in) noexcept;
  void hold_frames(detail::frame_stack* held) noexcept;
  // ---- what to run next (find.hpp, search.cpp)
  task* find(const pending_wait& w);
  task* find_anywhere();
  task* find_child_first(const pending_wait& w);
  task* found_none(poll_result answer);
  task* claim_child(detail::scope& s, bool all);
  task* claim_adopted(std::size_t down_to);
  bool claim(task& t);
  bool is_alive(reference r) const noexcept;
  task* take_addressed() noexcept;  // addressed.cpp
  task* drain_inbox();
  void run_job();
  void note_found() noexcept;
  void note_first_task(std::uint64_t run) noexcept;
  // ---- nothing was found (park.cpp)
  class rest;
  task* search_or_park(pending_wait& w);
  task* search(pending_wait& w, const rest& resting, wake_reason& woken);
  bool pauses_before_next_look(int failed_searches, bool& surplus);
  enum class last_look : std::uint8_t { nothing, job, something };
  void stay_awake() noexcept;
  last_look announce_and_look(const pending_wait& w, bool surplus, task*& t, bool& left_some);
  task* look_everywhere(const pending_wait& w, bool& left_some);
  wake_reason sleep_in_order();

  static constexpr std::uint32_t measure_interval = 16;  // untimed tasks between two that are timed
  static constexpr std::uint32_t inbox_interval = 4;     // of these samples, every fourth looks into the inbox

  std::uint64_t body_ended_ = 0;       // in ticks, of a counted body that has just ended; else 0
  bool resting_ = false;               // the worker's time does not count as busy
  bool runs_all_at_throttle_ = false;  // at the throttle, runs all that is queued
  bool on_creator_ = false;            // a short task runs at its creation: tasks that it creates are queued
  bool stays_ = false;                 // its waits keep to their stack (stay_on_stack())
  bool answered_later_ = false;        // the policy found nothing last time, and answered `later`
  task* claimed_ = nullptr;            // claimed, to be run next
  // Unfinished children of tasks whose bodies have ended, newest last. They are claimed before the queues are
  // asked, so that a tree without waits runs depth-first under every policy.
  std::vector<reference> adopted_;
  std::size_t adopted_bound_ = 256;         // entries at which stale ones are dropped
  std::vector<suspended_wait*> suspended_;  // oldest first
  life::suspended_turn suspended_turn_;
  task* carried_ = nullptr;                     // the first task for a fresh stack
  detail::scope* left_children_ = nullptr;      // of the task whose body has just ended
  bool nothing_held_ = false;                   // that task's closure needs no destruction
  std::vector<detail::scope*> left_and_empty_;  // scopes that are empty; the tasks that left them must be ended
  bool ending_left_ = false;
  std::vector<task*> batch_;            // tasks that one end made ready; empty between two ends
  std::vector<task*> internal_;         // internal tasks that the same end made ready
  detail::scope* reporting_ = nullptr;  // the scope of unreported_; may be gone if that is empty
  unreported_ends unreported_;
  std::uint64_t unreported_bytes_ = 0;
  page_mover mover_;
  home_check homes_;
  stack_switcher stacks_;
  on_stack* entry_ = nullptr;           // where a thread became this worker
  std::vector<std::uint64_t> by_node_;  // scratch
  std::uint64_t since_ = 0;             // when the current busy period began
  std::uint64_t steals_before_ = 0;     // its count of steals when it last began to look for work
  std::uint64_t run_seen_ = 0;          // the run whose first steal was recorded
  std::uint64_t unthrottled_ = 0;       // tasks that it may create in a group before it checks the throttle
  std::uint32_t until_measure_ = 0;
  std::uint32_t until_inbox_ = 0;
  std::uint32_t mean_ticks_ = 10000;
  lane* lane_ = nullptr;  // of the running stack; null: none yet
  taken_half half_;       // to be run next
  detail::spare_frame_stacks spare_frames_;
  std::size_t last_victim_ = 0;  // the worker whose lanes were looked at last
  friend class array_run;
  std::deque<run_helper> helpers_;  // a deque, so that addresses stay valid
  lane_pool lanes_;                 // other workers look through them
};

}  // namespace kith::native
