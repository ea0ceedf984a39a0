// The native engine: its threads, its policy, and what they share.
#pragma once

#include "base/sleepers.hpp"
#include "base/stall_check.hpp"
#include "engine/life/policy_calls.hpp"
#include "engine/native/alarm_clock.hpp"
#include "engine/native/body_times.hpp"
#include "engine/native/calibrator.hpp"
#include "engine/native/core_distance.hpp"
#include "engine/native/outside.hpp"
#include "engine/native/recorder.hpp"
#include "engine/native/thread.hpp"
#include "engine/native/worker.hpp"
#include "machine/cpu_claims.hpp"
#include "machine/limits.hpp"
#include "machine/machine.hpp"
#include "memory/memory_space.hpp"
#include "policy/contract/team.hpp"
#include "queue/native/inbox.hpp"
#include "task/identities.hpp"
#include "task/region.hpp"

#include <kith/runtime.hpp>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace kith::native {

/// The options, with every default resolved.
struct engine_options {
  std::string policy;
  std::uint32_t throttle = 0;        // 0: no bound
  std::uint64_t throttle_bytes = 0;  // 0: no bound
  int inline_limit = 0;              // -1: short tasks run at their creation
  int spin = 0;
  int awake = 0;  // workers that are awake at once, where there are more than CPUs (docs/sleep.md); 0: no bound
  std::size_t stack_bytes = 0;
  std::size_t stacks = 0;  // the most suspended waits of a worker
  std::uint64_t seed = 0;
  bool check_handles = false;
  bool dry = false;                            // tasks with a stated cost are not run
  std::string record;                          // the file; empty: nothing is recorded
  bool record_addresses = false;               // also record what tasks touch
  counter_set record_counters;                 // the events to count for each task
  distribution memory = distribution::system;  // of allocations that name no distribution
  int calibrate = 0;                           // how many tasks of each type and size are timed cold and hot
  bool migrate = false;                        // pages of written data move to the node that writes them
  std::shared_ptr<cpu_claims> claims = {};     // claims on the CPUs that workers are bound to; may be null
};

class engine {
 public:
  engine(machine on, const worker_plan& plan, engine_options);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Runs a root task (kith::runtime::run()), in recordings of this type if the caller becomes worker 0.
  void run_root(void* context, void (*f)(void*), std::uint16_t type = 0);
  kith::statistics statistics() const;
  void reset_statistics();

  slot_cache& slots_of(std::uint16_t seat) noexcept {
    return seat < workers.size() ? workers[seat].slots : outside.slots;
  }
  /// Creates a task from a thread that is no worker.
  template <class F>
  void submit_outside(F&& f) {
    start_stand_in();
    std::lock_guard lock(outside.creating);
    detail::create(outside.open(), std::forward<F>(f));
    outside.notify();  // before the lock is given back: ~outside_seat() waits for that
  }
  /// Called in a child of fork(), by the fork handler. After it nothing of the parent's is touched (inherited.hpp).
  void cut_off(kith::policy<world>& nothing) noexcept;
  bool inherited() const noexcept { return cut_off_; }
  /// Throws kith::error that names the call if this engine was inherited by fork().
  void refuse_inherited(const char* call) const;
  /// Names this moment in the recording, if there is one. Thread-safe.
  void mark(const std::string& text);
  /// Null if nothing is recorded.
  recorder* recording() const noexcept { return recorder_.get(); }
  /// The file of the recording (kith::runtime::recorded_in()).
  std::string recorded_in() const { return recorder_ ? recorder_->file() : std::string(); }
  /// The arguments from which the policy is built.
  policy_context context_of_policy();
  /// As kith::allocate (memory.cpp).
  void* allocate(std::size_t bytes, distribution how);
  void start_stand_in();
  std::unique_lock<std::mutex> take_seat_0();
  /// Gives the workers a task that became ready outside of them.
  void arrive(task& t) noexcept;
  /// Called when the count of a scope that no worker owns has changed.
  void outside_changed() noexcept;

  const std::uint64_t number;  // from 1 on; unique among the engines of this process
  const machine hardware;
  const engine_options options;
  slot_space space;
  slot_identities identities{space};  // kept if there is a gate
  region_table regions;
  sleepers parked;
  alignas(false_sharing_range) atomic<int> looking{0};  // workers that look for work in vain, and do not sleep
  atomic<bool> forking{false};                          // there are lanes from which halves can be taken
  active_runs graph_runs;                               // the runs of graphs that other workers may help with
  alignas(false_sharing_range) stall_check together;    // workers sleep through it if there is a gate
  alarm_clock alarms{parked};
  team workers_where;
  core_distance distance;  // between the workers' cores
  body_times bodies;
  memory_space memory;
  std::deque<worker> workers;  // a deque, so that addresses stay valid
  outside_seat outside;
  policy_calls<world> policy;
  std::unique_ptr<native::calibrator> calibrator;  // null: tasks are not calibrated
  bool track_homes = false;                        // every access has a region, and its first touch is noted
  bool keeps_accesses = false;  // accesses are read after a task's creation, besides commutative ones
  inbox<task> arrivals;
  inbox<job<worker_view>> jobs;  // of the policy
  atomic<bool> stopping{false};
  atomic<std::uint64_t> run_number{0};  // of the current run, from 1 on
  atomic<std::uint64_t> run_began{0};   // in ticks

 private:
  void decide_paths() noexcept;
  void worker_main(worker& w);
  bool begins_asleep(const worker& w) const noexcept;
  void stand_in_main();
  void begin_run() noexcept;
  void end_run() noexcept;
  std::exception_ptr run_as_guest(void* context, void (*f)(void*), std::uint16_t type);

  void start_recording(const worker_plan& plan);
  void try_counters(std::map<std::string, std::string>& about);
  void begin_counting(worker& w) noexcept;
  void note(const memory_block& b, log_kind what);
  /// Where the stack of worker w should be.
  stack_home home_of_stack(const worker& w) const noexcept;

  std::unique_ptr<recorder> recorder_;
  counter_set counted_;                // for each task of the recording
  atomic<bool> told_of_fewer_{false};  // a worker could not open all of these
  std::mutex noting_;                  // guards the log of threads that are no workers; its holder takes no other lock
  std::uint64_t roots_ = 0;            // guarded by seat_0_
  std::vector<event_snapshot> baseline_;
  atomic<bool> guest_{false};  // a guest is worker 0
  std::mutex seat_0_;          // held by the thread that is worker 0: a guest in run_root, or the stand-in
  mutable std::mutex running_;
  int runs_ = 0;
  std::uint64_t run_ticks_ = 0;
  std::vector<thread> threads_;
  std::once_flag stand_in_started_;
  std::unique_ptr<thread> stand_in_;
  bool cut_off_ = false;
  friend class outside_seat;
};

// ---- small functions on every task's path

[[gnu::always_inline]] inline task* worker::make_ready(std::span<task* const> tasks, ready_reason why) {
  return engine.policy.ready(tasks, *this, why);
}

[[gnu::always_inline]] inline bool worker::may_run_at_creation(const task& t) const noexcept {
  constexpr std::uint8_t special = task::exclusive | task::skip;
  if (at_creation == creation_rule::none || (t.flags & special) != 0 || t.has_level()) return false;
  if (at_creation == creation_rule::short_ones && (on_creator_ || !engine.bodies.is_short(t.code))) return false;
  return may_nest();
}

[[gnu::always_inline]] inline void worker::give_slot(task& t) {
  if (slots.owns(t)) [[likely]] {
    slots.give_own(t);
  } else {
    give_slot_back(t);
  }
}

inline bool worker::needs_tasks() const noexcept { return log != nullptr || engine.policy.has_gate(); }

/// The bytes that the throttle on bytes counts for the task.
[[gnu::always_inline]] inline std::uint64_t worker::throttled_bytes(const task& t) const noexcept {
  std::uint64_t bytes = 0;
  if (engine.options.throttle_bytes != 0) [[unlikely]] {
    for (kept_access a : t.access_list()) bytes += a.bytes();
  }
  return bytes;
}

}  // namespace kith::native
