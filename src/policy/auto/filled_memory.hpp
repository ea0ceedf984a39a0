// The memory of one array, as tasks fill its blocks one after the other.
//
// Not in the papers. Addresses tell where an array ends: its blocks are filled upwards, and the next one begins below
// it, or far above. One that begins right above it is not recognised.
#pragma once

#include "memory/view.hpp"
#include "policy/auto/placed_data.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <cstdint>

namespace kith {

/// Memory from the first to the last of the blocks that were filled.
class filled_memory {
 public:
  struct block {
    std::uintptr_t address;
    std::uint64_t bytes;
  };
  /// The first of a task's data that can have a home.
  static block first_data(const task& t, const memory_view& memory) {
    for (kept_access a : t.access_list()) {
      if (has_home(a)) return {reinterpret_cast<std::uintptr_t>(memory.region_of(a).address), a.bytes()};
    }
    return {0, 0};
  }

  explicit filled_memory(const block& first) noexcept
      : begin_(first.address), end_(first.address + first.bytes), filled_(first.bytes) {}
  /// Whether the block seems to belong to the same array.
  bool continues_with(const block& b) const noexcept {
    return b.address >= begin_ && b.address - begin_ <= most_sparse * (filled_ + b.bytes);
  }
  void add(const block& b) noexcept {
    end_ = std::max<std::uint64_t>(end_, b.address + b.bytes);
    filled_ += b.bytes;
  }
  std::uintptr_t begin() const noexcept { return begin_; }
  std::uint64_t end() const noexcept { return end_; }

 private:
  static constexpr std::uint64_t most_sparse = 16;  // the length of an array, over what is filled of it

  std::uintptr_t begin_;
  std::uint64_t end_;
  std::uint64_t filled_;  // bytes
};

}  // namespace kith
