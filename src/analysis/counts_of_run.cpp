#include "analysis/counts_of_run.hpp"

#include "recording/counts.hpp"
#include "replay/schedule.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kith::analysis {

std::size_t take_counts(recording& to, const recording& from) {
  const std::vector<std::uint64_t> mine = identities_of(to), theirs = identities_of(from);
  std::unordered_map<std::uint64_t, std::int32_t> known;
  for (std::size_t t = 0; t < mine.size(); ++t) {
    if (!to.tasks[t].has(recorded_task::fence)) known.emplace(mine[t], static_cast<std::int32_t>(t));
  }
  std::vector<std::int32_t> same(theirs.size(), -1);
  std::size_t found = 0, others = 0;
  for (std::size_t t = 0; t < theirs.size(); ++t) {
    if (from.tasks[t].has(recorded_task::fence)) continue;
    const auto at = known.find(theirs[t]);
    same[t] = at == known.end() ? -1 : at->second;
    ++(at == known.end() ? others : found);
  }
  others += known.size() - found;
  if (others != 0) return others;
  to.counts.clear();
  add_counts(to.counts, from.counts, same);
  sort_counts(to.counts);
  for (const auto& [key, value] : from.meta) {
    if (key.starts_with("counters")) to.meta[key] = value;
  }
  return 0;
}

}  // namespace kith::analysis
