// Keyed graphs whose nodes have values. All nodes are found before the first one computes, so their scope is
// waited for twice.
#pragma once

#include "recording/recording.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace kith {

/// By scope: when all nodes of such a graph had been found; no value for other scopes.
inline std::vector<std::optional<std::uint64_t>> times_found_first(const recording& r) {
  std::vector<std::optional<std::uint64_t>> found;
  for (const recorded_task& t : r.tasks) {
    if (t.has(recorded_task::keyed) && t.scope >= found.size()) found.resize(t.scope + std::size_t{1});
  }
  std::vector<std::uint32_t> waits(found.size());
  for (const recorded_wait& w : r.waits) {
    if (w.scope >= found.size()) continue;
    ++waits[w.scope];
    found[w.scope] = std::min(w.ended, found[w.scope].value_or(w.ended));
  }
  for (std::size_t s = 0; s < found.size(); ++s) {
    if (waits[s] < 2) found[s].reset();
  }
  return found;
}

}  // namespace kith
