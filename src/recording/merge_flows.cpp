#include "recording/merge_flows.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace kith {

namespace {

using waits_of_tasks = std::unordered_map<std::int32_t, std::vector<std::size_t>>;  // waits for futures, by task

waits_of_tasks waits_for_futures(const recording& r) {
  waits_of_tasks found;
  for (std::size_t w = 0; w < r.waits.size(); ++w) {
    if (r.waits[w].scope == recorded_wait::for_future) found[r.waits[w].task].push_back(w);
  }
  return found;
}

/// Turns the task's waits for futures between `begun` and `ended` into waits for the scope. Returns whether there
/// were any.
bool set_scope(recording& r, const std::vector<std::size_t>& waits, std::uint64_t begun, std::uint64_t ended,
               std::uint32_t scope) {
  bool found = false;
  for (const std::size_t i : waits) {
    recorded_wait& w = r.waits[i];
    if (w.begun < begun || w.ended > ended) continue;
    w.scope = scope;
    found = true;
  }
  return found;
}

}  // namespace

merged_flows::merged_flows(std::span<const place_part> parts, std::span<const part_numbers> numbers,
                           const known_results& results)
    : parts_(parts), numbers_(numbers), results_(results) {
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (const place_part::flow_step& s : parts[i].flows) {
      const auto task = results.begun.find({i, s.result});
      if (s.task >= 0 && task != results.begun.end()) steps_[task->second] = {i, &s};
    }
  }
}

void merged_flows::set_spawner(recorded_task& t, part_task which, const recording& out, std::uint32_t& scopes) {
  const auto at = steps_.find(which);
  if (at == steps_.end()) return;
  const auto& [part, step] = at->second;
  const std::int32_t creator = number_of({part, step->task});
  if (creator < 0 || creator >= static_cast<std::int32_t>(out.tasks.size())) return;
  const auto [scope, fresh] = scopes_.try_emplace({part, step->flow}, scopes);
  if (fresh) ++scopes;
  t.creator = creator;
  t.scope = scope->second;
  t.created = std::min(t.created, numbers_[part].time(step->begun));
  t.flags =
      static_cast<std::uint8_t>(recorded_task::outside | recorded_task::generated | (t.flags & recorded_task::skipped));
}

void merged_flows::add_order(part_task which, recording& out) const {
  const auto at = steps_.find(which);
  if (at == steps_.end()) return;
  for (const std::uint64_t result : at->second.step->before) {
    const auto before = results_.begun.find({at->second.part, result});
    if (before != results_.begun.end()) out.dependences.push_back({number_of(before->second), 0});
  }
}

void merged_flows::add_waits(recording& out) const {
  if (scopes_.empty()) return;
  waits_of_tasks waits = waits_for_futures(out);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    for (const place_part::flow_step& s : parts_[i].flows) {
      const auto scope = scopes_.find({i, s.flow});
      if (s.task < 0 || s.result != 0 || scope == scopes_.end()) continue;
      const std::int32_t task = number_of({i, s.task});
      const std::uint64_t begun = numbers_[i].time(s.begun), ended = numbers_[i].time(s.ended);
      if (set_scope(out, waits[task], begun, ended, scope->second)) continue;
      out.waits.push_back({task, scope->second, static_cast<std::int16_t>(out.task(task).worker), ended, ended});
    }
  }
}

}  // namespace kith
