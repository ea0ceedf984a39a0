// Where a task's data is: its bytes, by node. Used by `dep`, `numa`, `home-cache` and derived colors.
#pragma once

#include "memory/view.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace kith {

/// Which of a task's accesses count.
enum class counted : std::uint8_t {
  all,
  inputs,  // those that read
};

class data_weights {
 public:
  /// Bytes by node; the last entry is data without a home.
  using room_type = std::vector<std::uint64_t>;

  explicit data_weights(const memory_view& memory)
      : memory_(memory), nodes_(static_cast<std::size_t>(memory.nodes())) {}

  room_type room() const { return room_type(nodes_ + 1); }
  std::size_t homeless() const noexcept { return nodes_; }

  /// Fills `bytes`, which room() made.
  void weigh(const task& t, room_type& bytes, counted what = counted::all) const {
    std::fill(bytes.begin(), bytes.end(), 0);
    const std::span<std::uint64_t> by_node(bytes.data(), nodes_);
    for (kept_access a : t.access_list()) {
      if (what == counted::all || a.how != mode::out) bytes[homeless()] += memory_.add_bytes(a, by_node);
    }
  }

  /// The node with the most bytes, the lowest of equals; none if no data has a home.
  node_id heaviest_home(const task& t, room_type& bytes) const {
    weigh(t, bytes);
    const auto heaviest = std::max_element(bytes.begin(), bytes.end() - 1);
    return *heaviest == 0 ? node_id() : node_id(static_cast<int>(heaviest - bytes.begin()));
  }

 private:
  const memory_view memory_;
  std::size_t nodes_;
};

}  // namespace kith
