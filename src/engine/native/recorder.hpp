// The recording of a run: one log for each seat, assembled when the engine ends. One more log holds the allocations and
// marks of threads that are no workers.
#pragma once

#include "engine/native/seat_log.hpp"
#include "recording/parts.hpp"
#include "task/region.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>

namespace kith::native {

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

}  // namespace kith::native
