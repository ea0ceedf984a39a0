#include "recording/merge_order.hpp"

#include <algorithm>
#include <cmath>

namespace kith {

std::uint64_t merged_time(const clock_relation& clock, std::uint64_t own) noexcept {
  return static_cast<std::uint64_t>(std::max(0.0, std::round(clock.at(static_cast<double>(own)))));
}

merged_order merge_order(std::span<const place_part> parts, std::span<const clock_relation> clocks,
                         const spawned_by_task& spawned) {
  merged_order made;
  /// The next task of a part.
  struct head {
    std::size_t task = 0;
    std::uint64_t created = 0;
    const spawned_task* from = nullptr;  // if another place has spawned it
    bool ended = false;                  // no further task
  };
  const auto head_at = [&](std::size_t part, std::size_t task) -> head {
    const std::vector<recorded_task>& tasks = parts[part].recorded.tasks;
    if (task == tasks.size()) return {.ended = true};
    const auto from = spawned.find({part, static_cast<std::int32_t>(task)});
    return {task, merged_time(clocks[part], tasks[task].created), from == spawned.end() ? nullptr : &from->second,
            false};
  };
  const auto creator_is_there = [&](const head& h) {
    return h.from == nullptr || made.numbers[h.from->part][static_cast<std::size_t>(h.from->spawner)] >= 0;
  };
  std::vector<head> heads;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    made.numbers.emplace_back(parts[i].recorded.tasks.size(), -1);
    heads.push_back(head_at(i, 0));
  }
  for (;;) {
    head* best = nullptr;
    for (const bool any : {false, true}) {  // any: a second pass, for damaged parts whose creators form a cycle
      for (head& h : heads) {
        if (h.ended || (!any && !creator_is_there(h))) continue;
        if (best == nullptr || h.created < best->created) best = &h;
      }
      if (best != nullptr) break;
    }
    if (best == nullptr) return made;
    const auto part = static_cast<std::size_t>(best - heads.data());
    const std::vector<recorded_task>& tasks = parts[part].recorded.tasks;
    std::size_t n = best->task;
    do {
      made.numbers[part][n] = static_cast<std::int32_t>(made.tasks.size());
      made.tasks.emplace_back(part, n);
      ++n;
    } while (n < tasks.size() && tasks[n].has(recorded_task::fence));
    *best = head_at(part, n);
  }
}

}  // namespace kith
