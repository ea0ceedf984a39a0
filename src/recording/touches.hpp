// What each task touched, from a recording with addresses.
#pragma once

#include "recording/address_stream.hpp"
#include "recording/recording.hpp"

#include <cstddef>
#include <cstdint>
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

/// Reads streams. Not for several threads at once.
class touch_reader {
 public:
  explicit touch_reader(const recording& r);

  /// Calls each(touch) for what the task touched, in order. Throws kith::error if its stream is damaged. Costs
  /// O(touches).
  template <class Each>
  void read(std::size_t task, Each&& each) {
    const std::uint64_t touches = gather(task);
    if (touches == 0 && bytes_.empty()) return;
    bool known = true;
    const char* const wrong = reader_.read(bytes_, touches, [&](const stream_touch& t) {
      if (t.block >= r_.blocks.size()) {
        known = false;
        return;
      }
      const recorded_site& s = r_.sites[t.site];
      each(touch{&s, &r_.blocks[t.block], t.offset, s.bytes != 0 ? s.bytes : t.bytes});
    });
    if (wrong != nullptr || !known) refuse(task, wrong != nullptr ? wrong : "it names a block that is not there");
  }

 private:
  std::uint64_t gather(std::size_t task);
  [[noreturn]] static void refuse(std::size_t task, const char* what);

  const recording& r_;
  stream_reader reader_;
  std::vector<std::uint8_t> bytes_;
};

}  // namespace kith
