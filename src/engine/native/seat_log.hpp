// What one seat writes to a recording.
//
// Cost while the program runs: three time stamps and 32 bytes for a task's creation; two time stamps and mostly
// 16 bytes for its execution; 16 bytes for each access; one time stamp and 32 bytes for the end of a task whose
// body ended before its children. Only a seat writes its log; outside_seat::creating guards that of the outside.
#pragma once

#include "base/counters.hpp"
#include "base/id.hpp"
#include "engine/native/counts.hpp"
#include "events/log.hpp"
#include "queue/job.hpp"
#include "task/task.hpp"

#include <kith/detail/argument.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::native {

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

}  // namespace kith::native
