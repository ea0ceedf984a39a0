// Which of the tasks that initialise data fill the same array.
//
// Not in the papers. One type often fills several arrays, one after the other: the two buffers of a stencil, or the
// levels of a multigrid solver. Blocks at the same place in them are used together, so each array is to be dealt from
// its beginning. What an array is, the addresses tell: its blocks are filled upwards, with gaps at most.
#pragma once

#include "memory/view.hpp"
#include "policy/auto/placed_data.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

namespace kith {

/// Tasks that fill one array, in the order of creation; or all of one type, if its arrays are not to be told apart.
struct initial_array {
  std::vector<std::size_t> tasks;    // their indices among all
  std::vector<std::uint64_t> bytes;  // of each task

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(tasks.size()); }
};

/// Groups tasks that initialise data.
class initial_arrays {
 public:
  /// A type whose arrays have fewer tasks than `least` in the mean is left in one piece.
  initial_arrays(const memory_view& memory, std::int64_t least) : memory_(memory), least_(least) {}

  std::vector<initial_array> operator()(std::span<task* const> all) const {
    std::vector<type> types;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto known = std::ranges::find(types, all[i]->type, &type::number);
      type& of = known != types.end() ? *known : types.emplace_back(type{all[i]->type, 0, {}, 0, 0});
      add(of, *all[i], i);
    }
    std::vector<initial_array> found;
    for (type& of : types) {
      if (are_alike(of)) {
        std::ranges::move(of.arrays, std::back_inserter(found));
      } else {
        found.push_back(joined(of.arrays));
      }
    }
    return found;
  }

 private:
  struct type {
    std::uint16_t number;
    std::int64_t tasks = 0;
    std::vector<initial_array> arrays;
    std::uintptr_t begin = 0;  // of the last array
    std::uint64_t filled = 0;  // bytes of it
  };
  static constexpr std::uint64_t sparse = 16;  // an array has no gaps that make it so many times as long

  void add(type& of, const task& t, std::size_t index) const {
    const std::uintptr_t at = address_of(t);
    const std::uint64_t bytes = placed_bytes(t);
    if (of.arrays.empty() || at < of.begin || at - of.begin > sparse * (of.filled + bytes)) {
      of.arrays.emplace_back();
      of.begin = at;
      of.filled = 0;
    }
    ++of.tasks;
    of.filled += bytes;
    of.arrays.back().tasks.push_back(index);
    of.arrays.back().bytes.push_back(bytes);
  }
  /// Where the task's first data begins.
  std::uintptr_t address_of(const task& t) const {
    for (kept_access a : t.access_list()) {
      if (has_home(a)) return reinterpret_cast<std::uintptr_t>(memory_.region_of(a).address);
    }
    return 0;
  }
  /// Whether blocks at the same place in the type's arrays seem to belong together: two successive arrays have equally
  /// many. If most are short, they rather are parts of one.
  bool are_alike(const type& of) const {
    return std::ranges::adjacent_find(of.arrays, {}, &initial_array::size) != of.arrays.end() &&
           of.tasks >= least_ * static_cast<std::int64_t>(of.arrays.size());
  }
  static initial_array joined(const std::vector<initial_array>& parts) {
    initial_array whole;
    for (const initial_array& part : parts) {
      whole.tasks.insert(whole.tasks.end(), part.tasks.begin(), part.tasks.end());
      whole.bytes.insert(whole.bytes.end(), part.bytes.begin(), part.bytes.end());
    }
    return whole;
  }

  const memory_view& memory_;
  const std::int64_t least_;
};

}  // namespace kith
