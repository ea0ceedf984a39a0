// The touches of each task, from a recording with addresses.
#pragma once

#include "recording/address_stream.hpp"
#include "recording/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kith {

/// One touch of a task.
struct touch {
  const recorded_site* site;
  const recorded_block* block;
  std::uint64_t offset;  // in the block; on the task's own stack: below where the body began
  std::uint64_t bytes;

  bool reads() const noexcept { return site->mode != recorded_site::writes; }
  bool writes() const noexcept { return site->mode != recorded_site::reads; }
};

/// The bound on the lines of 64 bytes that a recorded run can have touched. Without it, a forged file of a few bytes
/// could name so many lines that reading or simulating them takes days. A native run is bounded by time: no core
/// touches more than 32 lines in a nanosecond, so the run has at most that for each nanosecond of its workers and
/// tasks. The times of a simulated run are those of a model, which may be faster, so it is bounded by 2^40 lines, as
/// any run is.
struct touch_limit {
  explicit touch_limit(const recording& r);

  std::uint64_t lines = 0;
  std::string text() const;  // with its reason

 private:
  std::uint64_t nanoseconds_ = 0;  // 0: not bounded by time
};

/// Reads streams. Not for several threads at once.
class touch_reader {
 public:
  explicit touch_reader(const recording& r);

  /// Calls each(touch) for each touch of the task, in order. Throws kith::error if its stream is damaged, or if with it
  /// there are more lines than the run can have touched. (A task that is read again, or after a later one, is compared
  /// with the limit, and not added to the others.) Costs O(touches).
  template <class Each>
  void read(std::size_t task, Each&& each) {
    const std::uint64_t touches = gather(task);
    if (touches == 0 && bytes_.empty()) return;
    bool known = true;
    std::uint64_t lines = task < read_ ? 0 : lines_;
    const char* const wrong = reader_.read(bytes_, touches, [&](const stream_touch& t) {
      if (t.block >= r_.blocks.size()) {
        known = false;
        return;
      }
      const recorded_site& s = r_.sites[t.site];
      const std::uint64_t bytes = s.bytes != 0 ? s.bytes : t.bytes;
      lines += 1 + bytes / 64;
      if (lines > limit_.lines) refuse_lines(task, t.site, bytes);
      each(touch{&s, &r_.blocks[t.block], t.offset, bytes});
    });
    if (wrong != nullptr || !known) refuse(task, wrong != nullptr ? wrong : "it names a block that is not there");
    if (task >= read_) {
      lines_ = lines;
      read_ = task + 1;
    }
  }

 private:
  std::uint64_t gather(std::size_t task);
  [[noreturn]] void refuse(std::size_t task, const std::string& what) const;
  [[noreturn]] void refuse_lines(std::size_t task, std::uint32_t site, std::uint64_t bytes) const;

  const recording& r_;
  stream_reader reader_;
  const touch_limit limit_;
  std::uint64_t lines_ = 0;  // of the tasks before `read_`
  std::size_t read_ = 0;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace kith
