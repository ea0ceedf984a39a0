#include "recording/completed_times.hpp"

#include <algorithm>
#include <utility>

namespace kith {

namespace {

/// By scope: the task that created the first task in it. The members of a group create in it too, but never the
/// first task.
std::vector<std::int32_t> owners_of_scopes(const recording& r) {
  std::vector<std::int32_t> owners;
  for (const recorded_task& t : r.tasks) {
    if (t.scope >= owners.size()) owners.resize(t.scope + std::size_t{1}, -1);
    if (t.creator < 0 || t.has(recorded_task::root) || owners[t.scope] >= 0) continue;
    const recorded_task& creator = r.tasks[static_cast<std::size_t>(t.creator)];
    if (creator.has(recorded_task::root) || creator.scope != t.scope) owners[t.scope] = t.creator;
  }
  return owners;
}

/// By scope: whether there was a wait for its tasks. All of them had ended when the wait did, including those
/// that never ran.
std::vector<bool> scopes_waited_for(const recording& r) {
  std::uint32_t last = 0;
  for (const recorded_task& t : r.tasks) last = std::max(last, t.scope);
  std::vector<bool> waited(last + std::size_t{1});
  for (const recorded_wait& w : r.waits) {
    if (w.scope < waited.size()) waited[w.scope] = true;
  }
  return waited;
}

}  // namespace

std::vector<std::int32_t> parents_of(const recording& r) {
  const std::vector<std::int32_t> owners = owners_of_scopes(r);
  const std::vector<bool> waited = scopes_waited_for(r);
  std::vector<std::int32_t> parents(r.tasks.size(), -1);
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    const recorded_task& t = r.tasks[i];
    if (t.has(recorded_task::root) || t.has(recorded_task::fence)) continue;
    if (t.has(recorded_task::skipped) && waited[t.scope]) continue;  // may end after the wait
    if (std::cmp_less(owners[t.scope], i)) parents[i] = owners[t.scope];
  }
  return parents;
}

void set_completed_times(recording& r) {
  const std::vector<std::int32_t> parents = parents_of(r);
  const std::vector<bool> waited = scopes_waited_for(r);
  std::vector<std::uint64_t> last_child(r.tasks.size());
  std::vector<bool> has_open_child(r.tasks.size());
  for (std::size_t i = r.tasks.size(); i-- > 0;) {  // children come after their parents
    recorded_task& t = r.tasks[i];
    if (t.has(recorded_task::fence)) continue;
    const bool ran = t.worker >= 0 || t.ended != 0;
    const bool open = !ran || (has_open_child[i] && t.completed == 0);
    t.completed = open ? 0 : std::max({t.completed, t.ended, last_child[i]});
    if (parents[i] < 0) continue;
    const auto parent = static_cast<std::size_t>(parents[i]);
    last_child[parent] = std::max(last_child[parent], t.completed);
    if (open && !waited[t.scope]) has_open_child[parent] = true;
  }
}

}  // namespace kith
