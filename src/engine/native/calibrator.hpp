// Calibration: some tasks of a recorded run are run again, with their data out of the caches (cold), in the last level
// (warm) and in the nearest cache (hot).
//
// The first run of a sampled task is the real one; what it wrote is restored after the others. Samples are spread over
// the whole run, by type and size. Needs one worker only, because no other task may see the states in between.
#pragma once

#include "base/clock.hpp"
#include "task/region.hpp"
#include "task/task.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace kith::native {

class worker;

class calibrator {
 public:
  /// `most` is the number of samples of each type and size; `own_bytes` the size of a core's private caches.
  calibrator(const region_table& regions, int most, std::size_t own_bytes)
      : regions_(regions), most_(most), own_bytes_(own_bytes) {}

  /// Whether to sample the task: its accesses can be saved, and its group (type and size) is due.
  bool takes(const task& t);

  /// Runs the task instead of a call of task::code. Returns `unable` if nothing was done. Throws what the real
  /// run throws.
  detail::outcome run(worker& self, task& t);

  struct sample {
    std::uint64_t began = 0, ended = 0;         // the real run, in ticks
    std::uint64_t cold = 0, warm = 0, hot = 0;  // ticks of the further runs; 0: not measured
  };
  /// The sample of this task, if it was the last one run. Can be taken once.
  std::optional<sample> take_sample(const task& t) {
    return std::exchange(sampled_, nullptr) == &t ? std::optional(last_) : std::nullopt;
  }

 private:
  struct piece {
    std::byte* at;
    std::size_t bytes;
    mode how;
    std::vector<std::byte> before, after;
  };
  struct sample_group {
    std::uint64_t seen = 0, next = 3, step = 3;
    int samples = 0;
  };
  void give_up(const task& t);
  void measure(task& t);
  void restore_before();
  void restore_after();
  void evict();
  void displace();
  void fetch() const;
  std::uint64_t timed(task& t) const;

  const region_table& regions_;
  const int most_;
  const std::size_t own_bytes_;
  std::map<std::pair<std::uint16_t, int>, sample_group> groups_;
  std::vector<bool> never_;        // by type: not sampled, since it creates tasks or cannot be run twice
  std::vector<piece> pieces_;      // of the current task
  const task* sampled_ = nullptr;  // the task of the last sample
  sample last_;
  std::vector<std::byte> others_;  // read to fill the core's private caches
  std::vector<std::byte> pages_;   // read to displace address translations
  std::vector<std::byte> all_;     // read to displace data from all caches, where it cannot be flushed
};

}  // namespace kith::native
