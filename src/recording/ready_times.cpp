#include "recording/ready_times.hpp"

#include "recording/found_first.hpp"

#include <algorithm>

namespace kith {

namespace {

using by_scope = std::vector<std::optional<std::uint64_t>>;

void set_ready(recording& r, std::size_t i, const by_scope& found) {
  recorded_task& t = r.tasks[i];
  t.ready = std::max(t.create_until, t.explore_ended);
  for (std::uint64_t d = r.first_dependence[i]; d < r.first_dependence[i + 1]; ++d) {
    const recorded_task& before = r.tasks[static_cast<std::size_t>(r.dependences[d].before)];
    t.ready = std::max(t.ready, before.has(recorded_task::fence) ? before.ready : before.completed);
  }
  if (t.has(recorded_task::keyed) && t.scope < found.size()) t.ready = std::max(t.ready, found[t.scope].value_or(0));
  if (t.has(recorded_task::fence)) {
    t.started = t.ended = t.completed = t.ready;
  } else if (t.worker >= 0) {
    t.ready = std::min(t.ready, t.started);  // it may start before its creation has ended
  }
}

}  // namespace

void set_ready_times(recording& r) {
  const by_scope found = times_found_first(r);
  // A fence comes after the task that waits for it. Its members are tasks, or fences before it.
  for (const bool fences : {true, false}) {
    for (std::size_t i = 0; i < r.tasks.size(); ++i) {
      if (r.tasks[i].has(recorded_task::fence) == fences) set_ready(r, i, found);
    }
  }
}

}  // namespace kith
