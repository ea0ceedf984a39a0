// How many workers, on which cores, and why.
#include "machine/limits.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tuple>

namespace kith {

namespace {

/// A core that may be used, and the CPU of it to bind to.
struct usable_core {
  const machine::core* core;
  int cpu;
};

std::vector<usable_core> usable_cores(const machine& on, const limits& l) {
  std::vector<usable_core> found;
  for (const machine::core& c : on.cores) {
    const auto cpu = std::find_if(c.cpus.begin(), c.cpus.end(), [&](int n) {
      return on.pretended || !l.affinity || std::binary_search(l.affinity->begin(), l.affinity->end(), n);
    });
    if (cpu != c.cpus.end()) found.push_back({&c, *cpu});
  }
  if (!found.empty()) return found;
  // A mask of CPUs that hwloc does not show: all cores, and the system decides where the threads run.
  for (const machine::core& c : on.cores) found.push_back({&c, -1});
  return found;
}

/// `count` cores: fast kinds before slow ones, spread over the nodes; then in the order of the nodes.
std::vector<usable_core> choose(std::vector<usable_core> from, std::size_t count, std::size_t nodes) {
  struct ranked {
    usable_core it;
    int turn;  // how many of its kind its node has given before it
  };
  std::vector<ranked> order;
  std::sort(from.begin(), from.end(), [](const usable_core& a, const usable_core& b) {
    return std::tuple(a.core->kind, a.core->id) < std::tuple(b.core->kind, b.core->id);
  });
  std::vector<int> given(nodes, 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i > 0 && from[i - 1].core->kind != from[i].core->kind) std::fill(given.begin(), given.end(), 0);
    order.push_back({from[i], given[from[i].core->node.index()]++});
  }
  std::sort(order.begin(), order.end(), [](const ranked& a, const ranked& b) {
    return std::tuple(a.it.core->kind, a.turn, a.it.core->node) < std::tuple(b.it.core->kind, b.turn, b.it.core->node);
  });
  order.resize(std::min(count, order.size()));
  std::sort(order.begin(), order.end(), [](const ranked& a, const ranked& b) {
    return std::tuple(a.it.core->node, a.it.core->kind, a.it.core->id) <
           std::tuple(b.it.core->node, b.it.core->kind, b.it.core->id);
  });
  std::vector<usable_core> chosen;
  for (const ranked& r : order) chosen.push_back(r.it);
  return chosen;
}

std::size_t cpu_count(const machine& m) {
  std::size_t count = 0;
  for (const machine::core& c : m.cores) count += c.cpus.size();
  return count;
}

std::string decimal(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", x);
  return text;
}

/// Names of limits; decided_by is one of them.
constexpr const char* by_setting = "setting";
constexpr const char* by_slurm = "Slurm's allotment";
constexpr const char* by_mask = "affinity mask";
constexpr const char* by_quota = "cgroup CPU quota";
constexpr const char* by_cores = "cores";

std::vector<worker_plan::limit> system_limits(const machine& on, const limits& l, std::size_t usable) {
  std::vector<worker_plan::limit> found;
  found.push_back({by_slurm, l.slurm, l.slurm ? "CPUs, by " + l.slurm_from : "not in a Slurm job"});
  if (l.quota) {
    // Rounded up: a worker that is throttled now and then loses less than one that is missing.
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

/// The least limit. Of equals the first, but what leaves no core out has decided nothing.
const worker_plan::limit& least(const std::vector<worker_plan::limit>& all, const machine& on) {
  const worker_plan::limit* found = &all.back();
  for (auto l = all.rbegin(); l != all.rend(); ++l) {
    if (!l->value || *l->value > *found->value) continue;
    if (l->name == by_setting || static_cast<std::size_t>(*l->value) < on.cores.size()) found = &*l;
  }
  return *found;
}

}  // namespace

worker_plan plan_workers(const machine& on, const limits& l, std::optional<int> setting, bool oversubscribe) {
  if (setting && (*setting < 1 || *setting > most_workers)) {
    throw error("workers = " + std::to_string(*setting) + ": expected a number from 1 to " +
                std::to_string(most_workers));
  }
  const std::vector<usable_core> usable = usable_cores(on, l);
  worker_plan plan;
  plan.limits.push_back({by_setting, setting, setting ? "KITH_WORKERS, or the option" : "KITH_WORKERS is not set"});
  if (on.pretended) {
    plan.limits.push_back(
        {by_cores, static_cast<int>(usable.size()), "of the pretended machine; the real one's limits do not count"});
  } else {
    for (worker_plan::limit& x : system_limits(on, l, usable.size())) plan.limits.push_back(std::move(x));
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
  const std::vector<usable_core> chosen = choose(usable, wanted, on.nodes.size());
  // Threads that share a core are better moved about by the system.
  const bool bound = !on.pretended && wanted <= usable.size();
  for (std::size_t w = 0; w < wanted; ++w) {
    const usable_core& c = chosen[w % chosen.size()];
    plan.cores.push_back(c.core->id);
    plan.cpus.push_back(bound ? c.cpu : -1);
  }
  return plan;
}

}  // namespace kith
