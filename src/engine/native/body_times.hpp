// How long the bodies of tasks take, by their code: a task that is shorter than its way to another worker runs at its
// creation (create.cpp).
//
// One table for an engine. Each entry is one word, written by workers that have timed a body (one in 17) and read
// at creations. An entry belongs to the code that was timed last of those with its index, so two codes that share it
// count as unknown, and their tasks are queued. Invariant:
//  B1  Code is short only after several samples. The tasks before are queued, so one of them that waits for what its
//      creator does later does not keep its creator from doing it.
#pragma once

#include "base/atomic.hpp"

#include <kith/detail/creation.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace kith::native {

class body_times {
 public:
  /// Whether bodies of this code are short. Any thread.
  [[gnu::always_inline]] bool is_short(detail::task_code code) const noexcept {
    const std::uint64_t e = at(code).load(relaxed);
    return (e & short_mark) != 0 && (e >> name_shift) == name(code);
  }

  /// Adds a sample: a body took `ticks`. Its code becomes short when the mean falls below `limit`, and stays short up
  /// to 5/3 of `limit`. Any thread may call; of two concurrent samples of an entry, one is lost.
  void took(detail::task_code code, std::uint64_t ticks, std::uint64_t limit) noexcept {
    atomic<std::uint64_t>& e = at(code);
    const std::uint64_t old = e.load(relaxed);
    const bool known = (old >> name_shift) == name(code);
    const std::uint64_t before = known ? old & mean_mask : unknown;
    const std::uint64_t mean = (before * 3 + std::min<std::uint64_t>(ticks, mean_mask)) / 4;
    const bool was_short = known && (old & short_mark) != 0;
    const std::uint64_t now =
        name(code) << name_shift | (mean < (was_short ? limit + limit * 2 / 3 : limit) ? short_mark : 0) | mean;
    if (now != old) e.store(now, relaxed);
  }

 private:
  static constexpr unsigned name_shift = 16;  // code addresses have 48 bits
  static constexpr std::uint64_t short_mark = 1 << 15, mean_mask = short_mark - 1;
  static constexpr std::uint64_t unknown = 2000;  // the mean before the first sample
  static constexpr std::size_t entries = 256;

  static std::uint64_t name(detail::task_code code) noexcept {
    return reinterpret_cast<std::uint64_t>(code) & (~std::uint64_t{0} >> name_shift);
  }
  static std::size_t entry_of(detail::task_code code) noexcept {
    return (name(code) >> 4 ^ name(code) >> 12) % entries;  // functions are aligned to 16 bytes
  }
  atomic<std::uint64_t>& at(detail::task_code code) noexcept { return means_[entry_of(code)]; }
  const atomic<std::uint64_t>& at(detail::task_code code) const noexcept { return means_[entry_of(code)]; }

  std::array<atomic<std::uint64_t>, entries> means_{};
};

}  // namespace kith::native
