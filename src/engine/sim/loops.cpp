#include "engine/sim/loops.hpp"

#include "engine/sim/node_time.hpp"
#include "policy/contract/team.hpp"

#include <kith/access.hpp>
#include <kith/error.hpp>

#include <algorithm>
#include <queue>
#include <tuple>

namespace kith::sim {

namespace {

/// The nodes of the measured part, by level; each level is sorted by color.
std::vector<std::vector<std::int32_t>> levels_of(const program& p) {
  const std::uint64_t from =
      p.recorded.tasks[static_cast<std::size_t>(p.roots[p.members.front().measured_from])].created;
  const auto counts = [&](std::size_t t) {
    const recorded_task& k = p.recorded.tasks[t];
    return k.has(recorded_task::keyed) && k.color >= 0 && k.created >= from;
  };
  std::vector<std::uint32_t> left(p.tasks()), level(p.tasks());
  std::vector<std::vector<std::int32_t>> successors(p.tasks());
  std::vector<std::int32_t> free;
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    if (!counts(t)) continue;
    for (const recorded_dependence& d : p.dependences(t)) {
      if (!counts(static_cast<std::size_t>(d.before))) continue;
      ++left[t];
      successors[static_cast<std::size_t>(d.before)].push_back(static_cast<std::int32_t>(t));
    }
    if (left[t] == 0) free.push_back(static_cast<std::int32_t>(t));
  }
  std::vector<std::vector<std::int32_t>> levels;
  for (std::size_t i = 0; i < free.size(); ++i) {
    const auto t = static_cast<std::size_t>(free[i]);
    if (levels.size() <= level[t]) levels.resize(level[t] + std::size_t{1});
    levels[level[t]].push_back(free[i]);
    for (std::int32_t a : successors[t]) {
      const auto s = static_cast<std::size_t>(a);
      level[s] = std::max(level[s], level[t] + 1);
      if (--left[s] == 0) free.push_back(a);
    }
  }
  for (std::vector<std::int32_t>& nodes : levels) {
    std::ranges::sort(nodes, {}, [&](std::int32_t t) {
      const recorded_task& k = p.recorded.tasks[static_cast<std::size_t>(t)];
      return std::tuple(k.color, k.created, t);
    });
  }
  return levels;
}

class loops {
 public:
  loops(const program& p, const machine_model& m, const run_options& s, int workers)
      : program_(p), machine_(m), data_(m), options_(s), workers_(workers), recorded_(p.recorded.worker_node.size()) {
    result_.workers.resize(static_cast<std::size_t>(workers));
    result_.times.resize(static_cast<std::size_t>(workers));
    for (std::size_t t = 0; t < p.tasks(); ++t) {
      for (const recorded_access& a : p.recorded_accesses(t)) {
        if (home_.size() <= a.region) home_.resize(a.region + std::size_t{1}, -1);
        if (static_cast<mode>(a.mode) != mode::in && home_[a.region] < 0) home_[a.region] = node_of_color(t);
      }
    }
  }

  /// Runs the task on a worker: returns its time, and counts it.
  picoseconds run(std::int32_t task, int worker) {
    const auto t = static_cast<std::size_t>(task);
    const std::int32_t node = machine_.hardware.cores[static_cast<std::size_t>(worker)].node.value;
    ++(node_of_color(t) == node ? result_.local_accesses : result_.remote_accesses);
    for (const recorded_dependence& d : program_.dependences(t))
      ++(node_of_color(static_cast<std::size_t>(d.before)) == node ? result_.local_accesses : result_.remote_accesses);
    std::uint64_t bytes = 0, far = 0;
    for (const recorded_access& a : program_.recorded_accesses(t)) {
      bytes += a.touched;
      if (home_[a.region] != node) far += a.touched;
    }
    std::uint64_t factor = options_.noise ? noise_of(machine_, options_.seed, task) : 1024;
    factor = stretched(machine_, factor, bytes == 0 ? 0 : static_cast<double>(far) / static_cast<double>(bytes));
    const picoseconds work = program_.compute[t] + data_.local(program_.bytes[t], program_.exposure_of(t));
    result_.serial += work;
    const auto took = static_cast<picoseconds>(static_cast<double>(by_factor(work, factor)) /
                                               machine_.speeds[static_cast<std::size_t>(worker)]);
    ++result_.workers[static_cast<std::size_t>(worker)].tasks;
    result_.times[static_cast<std::size_t>(worker)].useful += took;
    return took;
  }

  picoseconds static_step(const std::vector<std::int32_t>& nodes) {
    picoseconds slowest = 0;
    const auto count = static_cast<std::int64_t>(nodes.size());
    for (int w = 0; w < workers_; ++w) {
      picoseconds mine = 0;
      for (std::int64_t i = w * count / workers_; i < (w + 1) * count / workers_; ++i)
        mine += run(nodes[static_cast<std::size_t>(i)], w);
      slowest = std::max(slowest, mine);
    }
    return slowest;
  }

  picoseconds guided_step(const std::vector<std::int32_t>& nodes) {
    using turn = std::pair<picoseconds, int>;  // when a worker is free
    std::priority_queue<turn, std::vector<turn>, std::greater<>> turns;
    for (int w = 0; w < workers_; ++w) turns.emplace(0, w);
    picoseconds slowest = 0;
    for (std::size_t next = 0; next < nodes.size();) {
      auto [now, w] = turns.top();
      turns.pop();
      const std::size_t left = nodes.size() - next, workers = static_cast<std::size_t>(workers_);
      for (std::size_t end = next + (left + workers - 1) / workers; next < end; ++next) now += run(nodes[next], w);
      turns.emplace(now, w);
      slowest = std::max(slowest, now);
    }
    return slowest;
  }

  result take() {
    result_.sum_up();
    return std::move(result_);
  }
  void add_time(picoseconds t) { result_.makespan += t; }

 private:
  std::int32_t node_of_color(std::size_t t) const {
    const std::int32_t c = program_.recorded.tasks[t].color;
    if (c < 0 || c >= static_cast<std::int32_t>(recorded_)) return -1;
    const std::int64_t core = std::int64_t{c} * workers_ / static_cast<std::int64_t>(recorded_);
    return machine_.hardware.cores[static_cast<std::size_t>(core)].node.value;
  }

  const program& program_;
  const machine_model& machine_;
  data_rates data_;
  const run_options& options_;
  int workers_;
  std::size_t recorded_;
  std::vector<std::int32_t> home_;  // by region
  result result_;
};

}  // namespace

result simulate_loops(const program& p, const machine_model& m, const run_options& s, loop_schedule how) {
  const int workers = s.workers == 0 ? static_cast<int>(m.hardware.cores.size()) : s.workers;
  const std::vector<std::vector<std::int32_t>> levels = levels_of(p);
  if (levels.empty()) throw error("loops: the recording has no keyed nodes behind its last mark", error_kind::input);
  loops all(p, m, s, workers);
  for (const std::vector<std::int32_t>& nodes : levels)
    all.add_time(how == loop_schedule::static_ ? all.static_step(nodes) : all.guided_step(nodes));
  return all.take();
}

}  // namespace kith::sim
