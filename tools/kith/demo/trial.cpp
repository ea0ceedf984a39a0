#include "demo/trial.hpp"

#include "machine/limits.hpp"

#include <algorithm>
#include <chrono>

namespace kith::tools {

namespace {

/// 100 * tasks / (tasks of the busiest node * nodes). On a pretended machine times mean nothing, so tasks are counted.
double node_balance(const machine& on, const statistics& s) {
  const worker_plan plan = plan_workers(on, process_limits(), static_cast<int>(s.workers.size()), true);
  std::vector<std::uint64_t> tasks(on.nodes.size(), 0);
  for (std::size_t w = 0; w < s.workers.size(); ++w)
    tasks[on.cores[plan.cores[w].index()].node.index()] += s.workers[w].tasks;
  const std::uint64_t most = *std::ranges::max_element(tasks);
  if (most == 0) return 100;
  return 100 * static_cast<double>(s.total.tasks) / (static_cast<double>(most) * static_cast<double>(tasks.size()));
}

}  // namespace

double spread::median() const {
  std::vector<double> sorted = runs;
  std::ranges::sort(sorted);
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
double spread::least() const { return *std::ranges::min_element(runs); }
double spread::most() const { return *std::ranges::max_element(runs); }

trial run_trial(apps::app& program, const trial_plan& plan, const machine& on,
                const std::function<void(const std::string& policy, int round)>& progress) {
  using clock = std::chrono::steady_clock;
  trial t;
  t.program = plan.program;
  t.on = &on;
  for (const std::string& p : plan.policies) t.policies.emplace_back().policy = p;

  const auto start = clock::now();
  for (int round = 0; round <= plan.rounds; ++round) {
    if (round > 3 && std::chrono::duration<double>(clock::now() - start).count() > plan.seconds) break;
    for (policy_runs& p : t.policies) {
      progress(p.policy, round);
      runtime_options o;
      o.policy = p.policy;
      o.machine = plan.machine;
      // KITH_WORKERS is meant for this machine, not for the pretended one.
      if (!plan.machine.empty()) o.workers = static_cast<int>(on.cores.size());
      runtime rt(o);
      const apps::result r = apps::run(program, {rt, static_cast<int>(on.nodes.size())});
      t.workers = rt.workers();
      t.pretended = r.statistics.pretended;
      t.checked = r.check.what;
      if (!r.check.verified) t.wrong.push_back(plan.program + " under " + p.policy + ": " + r.check.what);
      if (round == 0) continue;
      p.tasks = r.statistics.total.tasks;
      p.seconds.runs.push_back(r.seconds);
      p.remote_percent.runs.push_back(r.statistics.remote_access_percent);
      p.steals.runs.push_back(static_cast<double>(r.statistics.total.steals));
      p.balance_percent.runs.push_back(on.nodes.size() > 1 ? node_balance(on, r.statistics)
                                                           : r.statistics.load_balance_percent);
    }
  }
  return t;
}

}  // namespace kith::tools
