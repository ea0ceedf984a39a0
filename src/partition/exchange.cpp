// Exchanges the places of whole parts of equal capacity, so that parts with many bytes between them get near each
// other.
#include "partition/methods.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kith::partition {

void exchange_parts(const request& r, std::vector<std::int32_t>& parts) {
  const auto k = static_cast<std::size_t>(r.onto.parts());
  std::vector<std::int64_t> between(k * k, 0);
  std::vector<bool> movable(k, true);
  for (std::int32_t v = 0; v < r.graph.vertices(); ++v) {
    const auto p = static_cast<std::size_t>(parts[static_cast<std::size_t>(v)]);
    if (!r.fixed.empty() && r.fixed[static_cast<std::size_t>(v)] >= 0) movable[p] = false;
    for (const graph::arc& a : r.graph.around(v))
      between[p * k + static_cast<std::size_t>(parts[static_cast<std::size_t>(a.to)])] += a.weight;
  }
  std::vector<std::int32_t> place(k);
  for (std::size_t p = 0; p < k; ++p) place[p] = static_cast<std::int32_t>(p);
  const auto cost_of_part = [&](std::size_t p, std::size_t but) {
    std::int64_t cost = 0;
    for (std::size_t q = 0; q < k; ++q) {
      if (q != p && q != but) cost += between[p * k + q] * r.onto.between(place[p], place[q]);
    }
    return cost;
  };
  for (bool better = true; better;) {
    better = false;
    for (std::size_t p = 0; p < k; ++p) {
      for (std::size_t q = p + 1; q < k; ++q) {
        if (!movable[p] || !movable[q] || r.onto.capacity[p] != r.onto.capacity[q]) continue;
        const std::int64_t before = cost_of_part(p, q) + cost_of_part(q, p);
        std::swap(place[p], place[q]);
        if (cost_of_part(p, q) + cost_of_part(q, p) < before) {
          better = true;
        } else {
          std::swap(place[p], place[q]);
        }
      }
    }
  }
  for (std::int32_t& p : parts) p = place[static_cast<std::size_t>(p)];
}

}  // namespace kith::partition
