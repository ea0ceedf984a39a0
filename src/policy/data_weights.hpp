// Where a task's data is: its bytes, by home. What `dep` and derived colors have in common.
#pragma once

#include "task/region.hpp"
#include "task/task.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kith {

class data_weights {
 public:
  /// Bytes by node; the last entry is data without a home.
  using room_type = std::vector<std::uint64_t>;

  data_weights(const region_table& regions, int nodes) : regions_(regions), nodes_(static_cast<std::size_t>(nodes)) {}

  room_type room() const { return room_type(nodes_ + 1); }
  std::size_t homeless() const noexcept { return nodes_; }

  /// Fills `bytes`, which room() has made.
  void weigh(const task& t, room_type& bytes) const {
    std::fill(bytes.begin(), bytes.end(), 0);
    for (kept_access a : t.access_list()) {
      const node_id home = regions_[a.region].home_node();
      bytes[home ? home.index() : homeless()] += a.bytes();
    }
  }

  /// The node with most bytes, the lowest among equals; none if nothing has a home.
  node_id heaviest_home(const task& t, room_type& bytes) const {
    weigh(t, bytes);
    const auto heaviest = std::max_element(bytes.begin(), bytes.end() - 1);
    return *heaviest == 0 ? node_id() : node_id(static_cast<int>(heaviest - bytes.begin()));
  }

 private:
  const region_table& regions_;
  std::size_t nodes_;
};

}  // namespace kith
