#include "what_if/plans.hpp"

#include <algorithm>
#include <list>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace kith::tools {

namespace {

constexpr double picosecond = 1e-12, nanosecond = 1e-9;

/// The contents of a core's cache: the regions that its tasks used last.
class region_cache {
 public:
  explicit region_cache(std::uint64_t bytes) : room_(bytes) {}

  bool has(std::uint32_t region) const { return at_.contains(region); }
  void use(std::uint32_t region, std::uint64_t bytes) {
    drop(region);
    order_.push_front({region, std::min(bytes, room_)});
    at_[region] = order_.begin();
    used_ += order_.front().second;
    while (used_ > room_) drop(order_.back().first);
  }
  void drop(std::uint32_t region) {
    const auto found = at_.find(region);
    if (found == at_.end()) return;
    used_ -= found->second->second;
    order_.erase(found->second);
    at_.erase(found);
  }

 private:
  using entries = std::list<std::pair<std::uint32_t, std::uint64_t>>;
  std::uint64_t room_, used_ = 0;
  entries order_;
  std::unordered_map<std::uint32_t, entries::iterator> at_;
};

double seconds_computing(const sim::program& p, const machine_model& m, const sim::run_options& s, std::size_t t) {
  if (s.fidelity != sim::fidelity::line) return static_cast<double>(p.compute[t]) * picosecond;
  std::uint64_t touches = 0;
  for (const sim::line_touches& l : p.lines.rows_of(t)) touches += l.count;
  const double each = sim::cycles_between_accesses(p, m, s, t) + m.line.first.cycles;
  return static_cast<double>(touches) * each * nanosecond / m.ghz;
}

}  // namespace

known_tasks::known_tasks(const sim::program& p, const machine_model& m, const sim::run_options& s, const recording& run)
    : program_(p),
      cores_(s.workers != 0 ? static_cast<std::size_t>(s.workers) : m.hardware.cores.size()),
      cache_bytes_(m.cache_bytes),
      memory_seconds_(nanosecond / m.core_gbs),
      seconds_(p.tasks()),
      computing_(p.tasks()),
      users_(p.recorded.regions.size()) {
  const std::size_t first = p.members.front().measured_from;
  const std::uint64_t from = run.tasks[static_cast<std::size_t>(p.roots[first])].started;
  for (std::size_t t = 0; t < p.tasks(); ++t) {
    const recorded_task& k = run.tasks[t];
    if (k.has(recorded_task::root) || k.has(recorded_task::fence) || k.worker < 0 || k.started < from) continue;
    movable_.push_back(static_cast<std::int32_t>(t));
    seconds_[t] = static_cast<double>(k.ended - k.started) * nanosecond;
    computing_[t] = seconds_computing(p, m, s, t);
  }
  std::ranges::sort(movable_, {},
                    [&](std::int32_t t) { return std::tuple(run.tasks[static_cast<std::size_t>(t)].started, t); });
  for (const std::int32_t t : movable_) {
    for (const recorded_access& a : p.recorded_accesses(static_cast<std::size_t>(t))) users_[a.region].push_back(t);
  }
}

sim::plan known_tasks::plan_of(const recording& run) const {
  sim::plan made{std::vector<std::int32_t>(program_.tasks(), -1), std::vector<double>(program_.tasks()), true};
  for (std::size_t t = 0; t < program_.tasks(); ++t) {
    made.core[t] = run.tasks[t].worker;
    made.rank[t] = static_cast<double>(run.tasks[t].started) * nanosecond;
  }
  return made;
}

sim::plan known_tasks::plan_for_caches(const sim::plan& order, double weight) const {
  sim::plan made = order;
  std::vector<std::int32_t> tasks = movable_;
  std::ranges::sort(tasks, {}, [&](std::int32_t t) { return std::tuple(order.rank[static_cast<std::size_t>(t)], t); });
  std::vector<region_cache> caches(cores_, region_cache(cache_bytes_));
  std::vector<double> free(cores_), ended(program_.tasks());
  for (const std::int32_t n : tasks) {
    const auto t = static_cast<std::size_t>(n);
    double ready = 0;
    for (const recorded_dependence& d : program_.dependences(t))
      ready = std::max(ready, d.before < 0 ? 0 : ended[static_cast<std::size_t>(d.before)]);
    std::size_t best = 0;
    double first = -1;
    for (std::size_t c = 0; c < cores_; ++c) {
      double missing = 0;
      for (const recorded_access& a : program_.recorded_accesses(t)) {
        if (!caches[c].has(a.region)) missing += static_cast<double>(a.bytes);
      }
      const double end = std::max(ready, free[c]) + computing_[t] + weight * missing * memory_seconds_;
      if (first >= 0 && end >= first) continue;
      first = end;
      best = c;
    }
    made.core[t] = static_cast<std::int32_t>(best);
    made.rank[t] = first;
    ended[t] = free[best] = first;
    for (const recorded_access& a : program_.recorded_accesses(t)) {
      caches[best].use(a.region, a.bytes);
      if (static_cast<mode>(a.mode) == mode::in) continue;
      for (std::size_t c = 0; c < cores_; ++c) {
        if (c != best) caches[c].drop(a.region);
      }
    }
  }
  return made;
}

/// A task that uses one of the same regions, chosen with a probability that grows with the region's size. The task
/// itself if there is none.
std::int32_t known_tasks::neighbour(std::int32_t task, rng& random) const {
  const auto all = program_.recorded_accesses(static_cast<std::size_t>(task));
  std::uint64_t bytes = 0;
  for (const recorded_access& a : all) bytes += a.bytes >> 6;
  if (bytes == 0) return task;
  std::uint64_t at = random.next() % bytes;
  for (const recorded_access& a : all) {
    const std::uint64_t here = a.bytes >> 6;
    if (at < here) {
      const std::vector<std::int32_t>& users = users_[a.region];
      return users[random.below(static_cast<std::uint32_t>(users.size()))];
    }
    at -= here;
  }
  return task;
}

/// Puts `task` right after `beside`. If that is on another core, a task that is there at about that time takes the
/// position of `task`.
void known_tasks::swap_to(sim::plan& p, std::int32_t task, std::int32_t beside, rng& random) const {
  const auto t = static_cast<std::size_t>(task), b = static_cast<std::size_t>(beside);
  if (p.core[t] != p.core[b]) {
    std::size_t other = t;
    for (int tries = 0; tries < 32; ++tries) {
      const auto o = static_cast<std::size_t>(movable_[random.below(static_cast<std::uint32_t>(movable_.size()))]);
      if (p.core[o] != p.core[b] || o == b || o == t) continue;
      const double here = p.rank[o] - p.rank[t], best = p.rank[other] - p.rank[t];
      if (other == t || here * here < best * best) other = o;
    }
    if (other != t) std::tie(p.core[other], p.rank[other]) = std::pair(p.core[t], p.rank[t]);
    p.core[t] = p.core[b];
  }
  p.rank[t] = p.rank[b] + seconds_[b] / 2;
}

/// Moves a task from the core with the most work to the one with the least.
void known_tasks::move_from_busiest(sim::plan& p, rng& random) const {
  std::vector<double> load(cores_);
  for (const std::int32_t t : movable_) {
    const std::int32_t c = p.core[static_cast<std::size_t>(t)];
    if (c >= 0 && static_cast<std::size_t>(c) < cores_)
      load[static_cast<std::size_t>(c)] += seconds_[static_cast<std::size_t>(t)];
  }
  const auto [least, most] = std::ranges::minmax_element(load);
  const auto from = static_cast<std::int32_t>(most - load.begin()),
             to = static_cast<std::int32_t>(least - load.begin());
  std::vector<std::size_t> there;
  for (const std::int32_t t : movable_) {
    if (p.core[static_cast<std::size_t>(t)] == from) there.push_back(static_cast<std::size_t>(t));
  }
  if (!there.empty()) p.core[there[random.below(static_cast<std::uint32_t>(there.size()))]] = to;
}

void known_tasks::change(sim::plan& p, rng& random, int moves) const {
  if (movable_.empty()) return;
  for (int m = 0; m < moves; ++m) {
    const std::uint32_t kind = random.below(8);
    if (kind == 0) {
      move_from_busiest(p, random);
      continue;
    }
    const std::int32_t task = movable_[random.below(static_cast<std::uint32_t>(movable_.size()))];
    const std::int32_t beside =
        kind < 6 ? neighbour(task, random) : movable_[random.below(static_cast<std::uint32_t>(movable_.size()))];
    if (beside != task) swap_to(p, task, beside, random);
  }
}

}  // namespace kith::tools
