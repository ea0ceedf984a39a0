// The recording of a run: one log for each seat, assembled when the engine ends.
//
// Cost while the program runs: three time stamps and 32 bytes for a task's creation; two time stamps and mostly
// 16 bytes for its execution; 16 bytes for each access; one time stamp and 32 bytes for the end of a task whose
// body ended before its children. Only a seat writes its log; outside_seat::creating guards that of the
// outside. One more log holds the allocations and marks of threads that are no workers.
#pragma once

#include "base/access_tracer.hpp"
#include "engine/native/counts.hpp"
#include "events/log.hpp"
#include "queue/job.hpp"
#include "recording/parts.hpp"
#include "task/region.hpp"
#include "task/task.hpp"

#include <kith/detail/argument.hpp>

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kith::native {

class native_seat;

/// One seat's log, and the types already named in it.
class seat_log : public log {
 public:
  using log::log;

  /// A copy of a created task's description: the task may already have run, and its slot may be in use again.
  struct created_task {
    reference task;
    std::uint64_t parent = 0;  // packed; root tasks have index 0
    std::uint64_t scope = 0;
    std::uint64_t began = 0;
    std::uint8_t flags = 0;
    const detail::declared& what;
    std::uint64_t key = 0;           // of a node: the hash of its key
    const void* children = nullptr;  // the scope that handles may belong to
  };
  void created(const created_task&);
  void needs(std::uint64_t task, std::uint64_t before) noexcept {
    append({.kind = log_kind::needs, .large = task}, {before, 0});
  }
  /// Records that a task was given an argument. `by_owner`: by the owner of its scope.
  void delivered(std::uint64_t task, std::size_t number, const detail::argument& what, std::uint64_t deliverer,
                 bool by_owner) noexcept;
  void executed(std::uint64_t task, std::uint64_t began, std::uint64_t ended, std::uint8_t flags) noexcept;
  /// Records that the last child of the task has ended, after its body.
  void completed(std::uint64_t task) noexcept;
  /// Ticks of further runs of the task: with its data out of the caches, in the last level, and in the nearest cache.
  void sampled(std::uint64_t task, std::uint64_t cold, std::uint64_t warm, std::uint64_t hot) noexcept;
  /// What was counted while the task's own code ran.
  void counted(std::uint64_t task, counter_set what, const body_counts& counts) noexcept;
  void waited(std::uint64_t task, std::uint64_t scope, std::uint64_t began) noexcept;
  void idle(std::uint64_t began) noexcept;
  void job(std::uint64_t began, const job_size&) noexcept;
  /// From `at` (in ticks) on, `bytes` of the region at this address are on the node.
  void home(const void* address, std::uint64_t bytes, node_id node, std::uint64_t at) noexcept {
    append({.kind = log_kind::home,
            .middle = static_cast<std::uint32_t>(node.value),
            .large = reinterpret_cast<std::uint64_t>(address)},
           {bytes, at});
  }
  /// Records that a run begins; returns the time. executed() records its end.
  std::uint64_t root(std::uint64_t task, std::uint16_t type);

 private:
  void name_type(std::uint16_t type);
  void account(std::uint64_t task, std::uint64_t spent) noexcept;
  void settle() noexcept;

  std::vector<bool> named_;
  // The last values written: the end of an execution, in ticks; the scope and creator of tasks.
  std::uint64_t run_ended_ = 0, scope_ = 0, parent_ = 0;
  // Ticks that recording took in the creating task and that are not yet written; they do not count as the task's time.
  std::uint64_t charged_ = 0, spent_ = 0;
};

class recorder {
 public:
  /// Makes the folder `file`.parts with a log for each of `seats` and one more, and the text `about`. With
  /// KITH_RECORD_PARTS no existing folder is replaced: the next number is used. Throws kith::error.
  recorder(const std::string& file, std::uint32_t seats, const std::map<std::string, std::string>& about,
           bool has_counts = false);
  /// Starts to record what tasks touch as well. REQUIRES: the program was built for that. Throws kith::error if the
  /// file cannot be made.
  void trace_accesses();
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  seat_log& log_of(std::size_t seat) { return logs_[seat]; }
  /// The log for allocations and marks of threads that are no workers. Guarded by the engine.
  log& of_no_seat() { return logs_.back(); }
  /// The folder of the logs; others may add to them.
  std::string parts() const { return parts_.path(); }
  /// Leaves the parts unassembled when the recording ends; the caller assembles them.
  void keep_parts() noexcept { parts_stay_ = true; }
  /// The part of the recording that has addresses; null if it has none.
  void* addresses() const noexcept { return addresses_; }
  /// Records the final homes of the regions. Called when all workers have stopped.
  void keep_homes(const region_table& regions);

  /// Called in a child of fork(): the files belong to the parent, and further records are dropped.
  void cut_off() noexcept;

  /// The file of the finished recording.
  const std::string& file() const noexcept { return parts_.file(); }

 private:
  bool parts_stay_;  // the parts are assembled by the command that started the program, which shows its progress
  parts_folder parts_;
  std::deque<seat_log> logs_;
  void* addresses_ = nullptr;
};

/// While it lives, what the calling thread touches belongs to a task.
class traced_body {
 public:
  /// `addresses`: null: nothing is done. `task` 0: what is touched belongs to no task.
  traced_body(void* addresses, std::uint64_t task) : tracer_(addresses != nullptr ? the_access_tracer() : nullptr) {
    if (tracer_ != nullptr) outer_ = tracer_->enter(addresses, task);
  }
  ~traced_body() {
    if (tracer_ != nullptr) tracer_->leave(outer_);
  }
  traced_body(const traced_body&) = delete;
  traced_body& operator=(const traced_body&) = delete;

 private:
  const access_tracer* const tracer_;
  void* outer_ = nullptr;
};

/// While it lives, a body runs whose counts are recorded, unless the worker does not count.
class counted_body {
 public:
  /// `task` 0: what is counted belongs to no task. `ended` gets the time of the end, before the counters are read.
  counted_body(worker_counts& counts, seat_log* log, std::uint64_t task, std::uint64_t& ended) noexcept
      : counts_(counts.on() ? &counts : nullptr), log_(log), task_(task), ended_(ended) {
    if (counts_ != nullptr) outer_ = counts_->give_to(task != 0 ? &mine_ : nullptr);
  }
  ~counted_body() {
    if (counts_ == nullptr) return;
    ended_ = ticks();
    counts_->give_to(outer_);
    if (task_ == 0) return;
    if (const counter_set known = settle(mine_, counts_->counted(), counts_->in_turns()); !known.empty())
      log_->counted(task_, known, mine_);
  }
  counted_body(const counted_body&) = delete;
  counted_body& operator=(const counted_body&) = delete;

 private:
  worker_counts* const counts_;
  seat_log* const log_;
  const std::uint64_t task_;
  std::uint64_t& ended_;
  body_counts* outer_ = nullptr;
  body_counts mine_;
};

}  // namespace kith::native
