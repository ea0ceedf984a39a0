// Which of the tasks that initialise data fill the same array.
//
// Not in the papers. One type often fills several arrays, one after the other: the two buffers of a stencil, or the
// levels of a multigrid solver. Blocks at the same place in them are used together, so each array is to be dealt from
// its beginning.
#pragma once

#include "memory/view.hpp"
#include "policy/auto/filled_memory.hpp"
#include "policy/auto/placed_data.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// Tasks that fill one array, in the order of creation; or all of one type, if its arrays are not to be told apart.
struct initial_array {
  std::vector<std::size_t> tasks;    // their indices among all
  std::vector<std::uint64_t> bytes;  // of each task

  std::int64_t size() const noexcept { return static_cast<std::int64_t>(tasks.size()); }
};

/// Groups the tasks that initialise data by type, and by array if a type's arrays can be told apart.
class initial_arrays {
 public:
  /// `least`: a type whose arrays have fewer tasks in the mean is not taken apart.
  initial_arrays(const memory_view& memory, std::int64_t least) : memory_(memory), least_(least) {}

  std::vector<initial_array> operator()(std::span<task* const> all) const {
    std::vector<type> types;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto known = std::ranges::find(types, all[i]->type, &type::number);
      type& of = known != types.end() ? *known : types.emplace_back(type{all[i]->type, {}});
      add(of, *all[i], i);
    }
    std::vector<initial_array> found;
    for (const type& of : types) {
      const bool apart = are_arrays(of);
      if (!apart) found.emplace_back();
      for (const piece& p : of.pieces) {
        if (apart) found.emplace_back();
        initial_array& to = found.back();
        to.tasks.insert(to.tasks.end(), p.blocks.tasks.begin(), p.blocks.tasks.end());
        to.bytes.insert(to.bytes.end(), p.blocks.bytes.begin(), p.blocks.bytes.end());
      }
    }
    return found;
  }

 private:
  /// Blocks that were filled one after the other, and the memory from the first to the last.
  struct piece {
    initial_array blocks;
    filled_memory memory;

    std::int64_t size() const noexcept { return blocks.size(); }
  };
  struct type {
    std::uint16_t number;
    std::vector<piece> pieces;
  };

  void add(type& of, const task& t, std::size_t index) const {
    const filled_memory::block fills = filled_memory::first_data(t, memory_);
    std::vector<piece>& all = of.pieces;
    if (!all.empty() && all.back().memory.continues_with(fills)) {
      all.back().memory.add(fills);
    } else {
      all.push_back({{}, filled_memory(fills)});
    }
    piece& last = all.back();
    last.blocks.tasks.push_back(index);
    last.blocks.bytes.push_back(placed_bytes(t));
  }
  /// Whether the pieces are arrays of which blocks at the same place seem to belong together: two successive ones have
  /// equally many blocks. If most are short, or some lie between the blocks of others, they rather are parts of one
  /// array, such as columns of a matrix that is stored by rows.
  bool are_arrays(const type& of) const {
    std::int64_t tasks = 0;
    std::vector<std::pair<std::uintptr_t, std::uint64_t>> ranges;
    for (const piece& p : of.pieces) {
      tasks += p.size();
      ranges.emplace_back(p.memory.begin(), p.memory.end());
    }
    std::ranges::sort(ranges);
    return tasks >= least_ * static_cast<std::int64_t>(of.pieces.size()) &&
           std::ranges::adjacent_find(of.pieces, {}, &piece::size) != of.pieces.end() &&
           std::ranges::adjacent_find(ranges, [](const auto& a, const auto& b) { return a.second > b.first; }) ==
               ranges.end();
  }

  const memory_view& memory_;
  const std::int64_t least_;
};

}  // namespace kith
