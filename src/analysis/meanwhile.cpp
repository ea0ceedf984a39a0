#include "analysis/meanwhile.hpp"

#include <algorithm>
#include <tuple>

namespace kith::analysis {

namespace {

struct busy_interval {
  std::uint64_t begun, ended;
};

/// The time covered by at least one of the intervals.
std::uint64_t covered(std::vector<busy_interval> all) {
  std::ranges::sort(all, {}, &busy_interval::begun);
  std::uint64_t sum = 0, until = 0;
  for (const busy_interval& i : all) {
    const std::uint64_t begun = std::max(i.begun, until);
    if (i.ended <= begun) continue;
    sum += i.ended - begun;
    until = i.ended;
  }
  return sum;
}

}  // namespace

meanwhile while_waiting(const recording& r, std::int32_t worker, std::uint64_t from, std::uint64_t until) {
  meanwhile m{.from = from, .until = until};
  const std::int32_t here = r.node_of(worker), place = r.place_of(worker);
  std::vector<bool> is_near(r.worker_node.size());  // of its node, and its place: others could not have run it
  for (std::size_t w = 0; w < is_near.size(); ++w)
    is_near[w] = r.worker_node[w] == here && r.place_of(static_cast<std::int32_t>(w)) == place;
  const auto near = [&is_near](std::int32_t runner) {
    return runner >= 0 && is_near[static_cast<std::size_t>(runner)];
  };
  std::vector<std::vector<busy_interval>> busy(r.worker_node.size());
  std::vector<std::vector<busy_interval>> jobs(r.worker_node.size()), idle(r.worker_node.size());
  const auto note = [&](timeline_entry::kind what, std::int32_t task, std::int32_t runner, std::uint64_t begun,
                        std::uint64_t ended) {
    if (!near(runner) || begun >= until || ended <= from || ended <= begun) return;
    const busy_interval part{std::max(begun, from), std::min(ended, until)};
    if (runner == worker) m.worker.push_back({what, task, begun, ended});
    if (what == timeline_entry::idle) {
      m.node_idle += part.ended - part.begun;
      idle[static_cast<std::size_t>(runner)].push_back(part);
      if (runner == worker) m.idle += part.ended - part.begun;
    } else {
      (what == timeline_entry::job ? jobs : busy)[static_cast<std::size_t>(runner)].push_back(part);
    }
  };
  for (std::size_t i = 0; i < r.tasks.size(); ++i) {
    const recorded_task& t = r.tasks[i];
    const auto me = static_cast<std::int32_t>(i);
    note(timeline_entry::task, me, t.worker, t.started, t.ended);
    note(timeline_entry::exploration, me, t.explorer, t.explore_started, t.explore_ended);
    if (t.has(recorded_task::root) || !near(t.worker) || t.started < from || t.started >= until) continue;
    ++m.started;
    ++(t.ready < from ? m.ready_before : m.ready_after);
  }
  for (const recorded_idle& i : r.idles) note(timeline_entry::idle, -1, i.worker, i.begun, i.ended);
  for (const recorded_job& j : r.jobs) note(timeline_entry::job, -1, j.worker, j.begun, j.ended);
  for (std::size_t w = 0; w < r.worker_node.size(); ++w) {
    if (!is_near[w]) continue;
    ++m.node_workers;
    // A task that waits is idle while its worker finds nothing else.
    const std::uint64_t without_work = covered(idle[w]), in_jobs = covered(jobs[w]);
    busy[w].insert(busy[w].end(), idle[w].begin(), idle[w].end());
    const std::uint64_t in_tasks = covered(busy[w]) - without_work;
    m.node_busy += in_tasks;
    if (static_cast<std::int32_t>(w) != worker) continue;
    m.busy = in_tasks;
    m.jobs = in_jobs;
  }
  std::ranges::sort(m.worker, {}, [](const timeline_entry& s) { return std::tuple(s.begun, ~s.ended, s.number); });
  return m;
}

}  // namespace kith::analysis
