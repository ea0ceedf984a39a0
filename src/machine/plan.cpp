// The number of workers, their cores, and the reasons.
#include "machine/limits.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

namespace kith {

namespace {

/// A core that may be used, and its CPUs that may be used.
struct usable_core {
  const machine::core* core;
  std::vector<int> cpus;

  int cpu() const { return cpus.empty() ? -1 : cpus.front(); }
};

std::vector<usable_core> usable_cores(const machine& on, const limits& l) {
  std::vector<usable_core> found;
  for (const machine::core& c : on.cores) {
    std::vector<int> cpus;
    std::copy_if(c.cpus.begin(), c.cpus.end(), std::back_inserter(cpus), [&](int n) {
      return on.pretended || !l.affinity || std::binary_search(l.affinity->begin(), l.affinity->end(), n);
    });
    if (!cpus.empty()) found.push_back({&c, std::move(cpus)});
  }
  if (!found.empty()) return found;
  // The mask has only CPUs that hwloc does not show: take all cores, and let the system decide where threads run.
  for (const machine::core& c : on.cores) found.push_back({&c, {}});
  return found;
}

std::size_t cpu_count(const machine& m) {
  std::size_t count = 0;
  for (const machine::core& c : m.cores) count += c.cpus.size();
  return count;
}

/// True if the launcher has not separated the ranks: each may use all CPUs.
bool without_mask(const machine& on, const limits& l) {
  return l.rank && l.rank->ranks > 1 && !on.pretended && (!l.affinity || l.affinity->size() >= cpu_count(on));
}

/// This rank's share of the cores, in the order of the nodes; at least one.
std::vector<usable_core> share(std::vector<usable_core> all, const local_rank& mine) {
  // Keeps the order of a node's cores. Does not use std::stable_sort, because Clang refuses libstdc++'s.
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(all[i].core->node, i); });
  std::vector<usable_core> by_node;
  for (std::size_t i : order) by_node.push_back(all[i]);
  all = std::move(by_node);
  const auto part = [&](int rank) {
    return all.size() * static_cast<std::size_t>(rank) / static_cast<std::size_t>(mine.ranks);
  };
  const std::size_t from = part(mine.rank), to = std::max(from + 1, part(mine.rank + 1));
  return {all.begin() + static_cast<long>(from), all.begin() + static_cast<long>(to)};
}

/// Moves `count` cores to the front: first those without another user, then those with one, and so on.
void prefer_unclaimed(std::vector<usable_core>& order, std::size_t count, const bind_wish& wish) {
  constexpr std::size_t most_claims = 64;  // each takes a descriptor; a larger runtime is expected to be alone
  constexpr int most_users = 16;
  if (!wish.claim || count >= order.size() || count > most_claims) return;
  std::vector<bool> taken(order.size());
  std::size_t found = 0;
  for (int level = 0; level < most_users && found < count; ++level) {
    for (std::size_t i = 0; i < order.size() && found < count; ++i) {
      if (taken[i] || !wish.claim(order[i].cpu(), level)) continue;
      taken[i] = true;
      ++found;
    }
  }
  std::vector<usable_core> sorted;
  for (bool first : {true, false}) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (taken[i] == first) sorted.push_back(order[i]);
    }
  }
  order = std::move(sorted);
}

/// The cores of each class from its groups in turn. REQUIRES: `from` is sorted by class; group(core) is less than
/// `groups`.
template <class Group>
std::vector<usable_core> deal(const std::vector<usable_core>& from, std::size_t groups, const Group& group) {
  // The core's class, cores of its group before it, its group, and its index.
  std::vector<std::tuple<int, int, std::size_t, std::size_t>> turns;
  std::vector<int> given(groups);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const machine::core& c = *from[i].core;
    if (i > 0 && from[i - 1].core->core_class != c.core_class) std::fill(given.begin(), given.end(), 0);
    turns.emplace_back(c.core_class, given[group(c)]++, group(c), i);
  }
  std::ranges::sort(turns);
  std::vector<usable_core> dealt;
  for (const auto& turn : turns) dealt.push_back(from[std::get<3>(turn)]);
  return dealt;
}

/// Chooses `count` cores: fast classes before slow ones, spread over the nodes; if workers are bound to caches
/// (`last`, by core), also over the caches of each node. Returns them in the order of the nodes.
std::vector<usable_core> choose(std::vector<usable_core> from, std::size_t count, const machine& on,
                                const std::vector<int>& last, bind_mode bound, const bind_wish& wish) {
  std::ranges::sort(from, {}, [](const usable_core& c) { return std::pair(c.core->core_class, c.core->id); });
  const auto cache = [&](const machine::core& c) {  // 0: not known
    const int of_core = last[c.id.index()];
    return of_core < 0 ? 0 : static_cast<std::size_t>(of_core) + 1;
  };
  const auto node = [](const machine::core& c) { return c.node.index(); };
  if (bound == bind_mode::caches) from = deal(from, on.caches.size() + 1, cache);
  std::vector<usable_core> order = deal(from, on.nodes.size(), node);
  prefer_unclaimed(order, count, wish);
  order.resize(std::min(count, order.size()));
  std::ranges::sort(order, {},
                    [](const usable_core& c) { return std::tuple(c.core->node, c.core->core_class, c.core->id); });
  return order;
}

std::string decimal(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", x);
  return text;
}

/// The names of limits; decided_by is one of them.
constexpr const char* by_setting = "setting";
constexpr const char* by_slurm = "Slurm's allotment";
constexpr const char* by_mask = "affinity mask";
constexpr const char* by_quota = "cgroup CPU quota";
constexpr const char* by_rank = "share of the rank";
constexpr const char* by_cores = "cores";

std::vector<worker_plan::limit> system_limits(const machine& on, const limits& l, std::size_t usable) {
  std::vector<worker_plan::limit> found;
  found.push_back({by_slurm, l.slurm, l.slurm ? "CPUs, by " + l.slurm_from : "not in a Slurm job"});
  if (l.quota) {
    // Rounded up, because a worker that is sometimes throttled loses less than a missing one.
    const double ceiling = std::min(std::ceil(*l.quota), static_cast<double>(1 << 20));
    found.push_back(
        {by_quota, static_cast<int>(ceiling), decimal(*l.quota) + " CPUs by " + l.quota_from + ", rounded up"});
  } else {
    found.push_back({by_quota, std::nullopt, "none"});
  }
  const std::size_t all = cpu_count(on);
  if (!l.affinity) {
    found.push_back({by_mask, std::nullopt, "not known"});
  } else {
    const std::size_t allowed = l.affinity->size();
    found.push_back({by_mask, static_cast<int>(allowed),
                     allowed < all ? std::to_string(allowed) + " of " + std::to_string(all) + " CPUs" : "all CPUs"});
  }
  found.push_back({by_cores, static_cast<int>(usable),
                   usable < on.cores.size() ? std::to_string(usable) + " of " + std::to_string(on.cores.size()) +
                                                  " have a CPU in the affinity mask"
                                            : "all of them; hardware threads of a core do not count"});
  return found;
}

/// The least limit; of equal ones the first. A limit that excludes no core decides nothing.
const worker_plan::limit& least(const std::vector<worker_plan::limit>& all, const machine& on) {
  const worker_plan::limit* found = &all.back();
  for (auto l = all.rbegin(); l != all.rend(); ++l) {
    if (!l->value || *l->value > *found->value) continue;
    if (l->name == by_setting || static_cast<std::size_t>(*l->value) < on.cores.size()) found = &*l;
  }
  return *found;
}

/// Whether the usable cores are on one node that has several last-level caches, and at least two workers get to each of
/// these caches: else they would be bound, and have no neighbours. Cores of one class, because workers must be able to
/// leave slow cores.
bool share_caches(const machine& on, const std::vector<int>& last, std::size_t workers,
                  const std::vector<usable_core>& usable) {
  const machine::core& first = *usable.front().core;
  std::map<int, std::size_t> cores;  // by cache
  for (const usable_core& c : usable) {
    if (c.core->node != first.node || c.core->core_class != first.core_class) return false;
    ++cores[last[c.core->id.index()]];
  }
  const auto is_only_cache = [&](core_id c) { return last[c.index()] == last[first.id.index()]; };
  return !cores.contains(-1) && !std::ranges::all_of(on.nodes[first.node.index()].cores, is_only_cache) &&
         std::ranges::all_of(cores, [](const auto& c) { return c.second > 1; }) && workers >= 2 * cores.size();
}

/// The mode in effect. With several nodes: a worker that left its node would leave its data, its stack and its queue
/// on the old node. With several caches: policies prefer victims that share the thief's. Else the system seldom moves
/// threads, and a thread that it may move can give way to other programs.
bind_mode effective(const machine& on, const std::vector<int>& last, const worker_plan& plan, bind_mode wish,
                    const std::vector<usable_core>& usable) {
  if (plan.cores_shared || usable.front().cpus.empty()) return bind_mode::off;
  if (wish != bind_mode::automatic) return wish;
  if (share_caches(on, last, static_cast<std::size_t>(plan.workers), usable)) return bind_mode::caches;
  return on.nodes.size() > 1 ? bind_mode::nodes : bind_mode::off;
}

}  // namespace

worker_plan plan_workers(const machine& on, const limits& l, std::optional<int> setting, bool oversubscribe,
                         const bind_wish& wish) {
  if (setting && (*setting < 1 || *setting > most_workers)) {
    throw error(
        "workers = " + std::to_string(*setting) + ": expected a number from 1 to " + std::to_string(most_workers),
        error_kind::setting);
  }
  std::vector<usable_core> usable = usable_cores(on, l);
  worker_plan plan;
  plan.limits.push_back({by_setting, setting, setting ? "KITH_WORKERS, or the option" : "KITH_WORKERS is not set"});
  if (on.pretended) {
    plan.limits.push_back(
        {by_cores, static_cast<int>(usable.size()), "of the pretended machine; the real one's limits do not count"});
  } else {
    for (worker_plan::limit& x : system_limits(on, l, usable.size())) plan.limits.push_back(std::move(x));
    if (without_mask(on, l)) {
      usable = share(std::move(usable), *l.rank);
      plan.limits.insert(plan.limits.end() - 1,
                         {by_rank, static_cast<int>(usable.size()),
                          "cores of rank " + std::to_string(l.rank->rank) + " of " + std::to_string(l.rank->ranks) +
                              " on this machine, by " + l.rank->from + "; the launcher has given no mask"});
    }
  }
  const worker_plan::limit decided = setting && oversubscribe ? plan.limits.front() : least(plan.limits, on);
  plan.workers = std::min(*decided.value, most_workers);
  plan.decided_by = decided.name;
  plan.clamped = setting && plan.workers < *setting;
  if (plan.clamped) {
    plan.limits.front().note +=
        "; more than allowed, by: " + std::string(decided.name) + "; KITH_OVERSUBSCRIBE=1 allows it";
  }
  const auto wanted = static_cast<std::size_t>(plan.workers);
  // The system should be free to move threads that share cores.
  plan.cores_shared = on.pretended || wanted > usable.size();
  const std::vector<int> last = on.last_caches();
  plan.bound = effective(on, last, plan, wish.mode, usable);
  const std::vector<usable_core> chosen =
      choose(usable, wanted, on, last, plan.bound, plan.bound == bind_mode::off ? bind_wish() : wish);
  for (std::size_t w = 0; w < wanted; ++w) {
    const usable_core& c = chosen[w % chosen.size()];
    plan.cores.push_back(c.core->id);
    plan.cpus.push_back(plan.cores_shared ? -1 : c.cpu());
    std::vector<int>& to = plan.bound_to.emplace_back();
    if (plan.bound == bind_mode::cores) to = {c.cpu()};
    if (plan.bound != bind_mode::nodes && plan.bound != bind_mode::caches) continue;
    const auto shares = [&](const machine::core& other) {
      return other.node == c.core->node &&
             (plan.bound == bind_mode::nodes || last[other.id.index()] == last[c.core->id.index()]);
    };
    for (const usable_core& u : usable) {
      if (shares(*u.core)) to.insert(to.end(), u.cpus.begin(), u.cpus.end());
    }
  }
  return plan;
}

}  // namespace kith
