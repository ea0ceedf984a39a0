// The recording of a run: a log for each seat, put together when the engine ends.
//
// Cost while it runs: three time stamps and 32 bytes for a task's creation, two and mostly 16 for its execution, 16 for each
// access; one and 32 for the end of a task that left children behind. Each seat's log is its own; the outside's is
// guarded by outside_seat::creating. Memory and marks of threads that are no workers have a log beside them.
#pragma once

#include "queue/job.hpp"
#include "recording/log.hpp"
#include "recording/parts.hpp"
#include "task/region.hpp"
#include "task/task.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kith::native {

class native_seat;

/// One seat's log, and the types it has named in it.
class seat_log : public log {
 public:
  using log::log;

  /// What is created: after that, the task may have run and its slot be in use again.
  struct created_task {
    reference task;
    std::uint64_t parent = 0;  // packed; root tasks have index 0
    std::uint64_t scope = 0;
    std::uint64_t began = 0;
    std::uint8_t flags = 0;
    const detail::hints& h;
    std::span<const detail::access_record> accesses;
    std::span<const task_ref> before;
    std::uint64_t key = 0;           // of a node: its hash
    const void* children = nullptr;  // the scope, where handles may be its own
  };
  void created(const created_task&);
  void needs(std::uint64_t task, std::uint64_t before) noexcept {
    append({.kind = log_kind::needs, .large = task}, {before, 0});
  }
  void executed(std::uint64_t task, std::uint64_t began, std::uint64_t ended, std::uint8_t flags) noexcept;
  /// The last child of the task has ended, after its body.
  void completed(std::uint64_t task) noexcept;
  /// Ticks of further runs of the task: data out of the caches, in the last level, in the nearest one.
  void sampled(std::uint64_t task, std::uint64_t cold, std::uint64_t warm, std::uint64_t hot) noexcept;
  void waited(std::uint64_t task, std::uint64_t scope, std::uint64_t began) noexcept;
  void idle(std::uint64_t began) noexcept;
  void job(std::uint64_t began, const job_size&) noexcept;
  /// From `at` (ticks) on, so many bytes of the region at the address are on the node.
  void home(const void* address, std::uint64_t bytes, node_id node, std::uint64_t at) noexcept {
    append({.kind = log_kind::home,
            .middle = static_cast<std::uint32_t>(node.value),
            .large = reinterpret_cast<std::uint64_t>(address)},
           {bytes, at});
  }
  /// A run begins; returns when. Its end is told by executed().
  std::uint64_t root(std::uint64_t task) noexcept;

 private:
  void account(std::uint64_t task, std::uint64_t spent) noexcept;
  void settle() noexcept;

  std::vector<bool> named_;
  // What was told last: the end of a run, in ticks; the scope and creator of tasks.
  std::uint64_t run_ended_ = 0, scope_ = 0, parent_ = 0;
  // What recording has cost the task that creates, in ticks, and is not yet written down: it is none of the task's time.
  std::uint64_t charged_ = 0, spent_ = 0;
};

class recorder {
 public:
  /// Makes the folder `file`.parts with a log for each of `seats` and one more, and the text `about` beside them. With
  /// KITH_RECORD_PARTS no folder is replaced: the next number is taken. Throws kith::error.
  recorder(const std::string& file, std::uint32_t seats, const std::map<std::string, std::string>& about);
  ~recorder();
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  seat_log& log_of(std::size_t seat) { return logs_[seat]; }
  /// What threads that are no workers do besides creating tasks: memory, marks. Guarded by the engine.
  log& of_no_seat() { return logs_.back(); }
  /// Where the regions ended up. When all workers have stopped.
  void keep_homes(const region_table& regions);

  /// In a child of fork(): the files are the parent's, and what is told from now on goes nowhere.
  void cut_off() noexcept;

  /// The recording that it becomes.
  const std::string& file() const noexcept { return parts_.file(); }

 private:
  const bool parts_stay_;  // whoever started the program puts them together, and shows how far it is
  parts_folder parts_;
  std::deque<seat_log> logs_;
};

}  // namespace kith::native
