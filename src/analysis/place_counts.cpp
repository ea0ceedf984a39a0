#include "analysis/place_counts.hpp"

#include <algorithm>

namespace kith::analysis {

std::vector<place_count> counts_of_places(const recording& r) {
  std::vector<place_count> all(r.places.size());
  for (std::size_t p = 0; p < all.size(); ++p) {
    const recorded_place& place = r.places[p];
    all[p].host = place.host;
    all[p].workers = place.workers;
    all[p].error_ns = place.error_ns;
    for (std::uint32_t w = place.first_worker; w < place.first_worker + place.workers; ++w)
      all[p].nodes.push_back(r.worker_node[w]);
    std::ranges::sort(all[p].nodes);
    const auto more = std::ranges::unique(all[p].nodes);
    all[p].nodes.erase(more.begin(), more.end());
  }
  for (const recorded_task& t : r.tasks) {
    const std::int32_t at = r.place_of(t.worker);
    if (at < 0 || t.has(recorded_task::root) || t.has(recorded_task::fence)) continue;
    ++all[static_cast<std::size_t>(at)].tasks;
    all[static_cast<std::size_t>(at)].work_ns += t.work_ns;
  }
  std::vector<std::vector<std::uint64_t>> travelled(all.size());
  for (const recorded_message& m : r.messages) {
    ++all[m.source].messages;
    all[m.source].bytes += m.bytes;
    if (m.received != 0) travelled[m.source].push_back(m.received - m.sent);
    if (m.kind == recorded_message::spawn && m.task >= 0) ++all[m.destination].came;
  }
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (travelled[p].empty()) continue;
    const auto half = travelled[p].begin() + static_cast<std::ptrdiff_t>(travelled[p].size() / 2);
    std::ranges::nth_element(travelled[p], half);
    all[p].travelled_ns = *half;
  }
  return all;
}

}  // namespace kith::analysis
