#include "what_if/hardware.hpp"

#include "sim/runs.hpp"
#include "what_if/order_search.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

namespace kith::tools {

namespace {

constexpr std::size_t most_starts = 3, most_software_starts = 2;  // policies whose schedules a search starts from
// Of a search that has no budget of its own: its work (20 to 120 M/s of a core), and its runs.
constexpr double most_search_work = 6e9, least_search_runs = 40, most_search_runs = 200;

std::string organisation_of(const std::string& policy) {
  for (const char* one : {"global", "deques"}) {
    if (policy.find(std::string("organisation=") + one) != std::string::npos) return one;
  }
  const std::string name = policy.substr(0, policy.find(':'));
  return name == "fifo" || name == "lifo" || name == "random" ? "global" : "deques";
}

std::optional<double> percent_of(double base, double value) {
  return base > 0 ? std::optional(100 * value / base) : std::nullopt;
}

using runs_of_seeds = std::span<const sim::result>;  // by seed

/// The sample of of(i) over the seeds; nothing if one is not known.
template <class Of>
std::optional<sample> over_seeds(std::size_t seeds, const Of& of) {
  std::vector<double> values;
  for (std::size_t i = 0; i < seeds; ++i) {
    const std::optional<double> one = of(i);
    if (!one) return std::nullopt;
    values.push_back(*one);
  }
  return sample_of(values);
}

sample speedup_over(runs_of_seeds base, runs_of_seeds r) {
  return *over_seeds(r.size(), [&](std::size_t i) { return std::optional(base[i].seconds / r[i].seconds); });
}

what_if_row row_of(const std::string& policy, const std::string& organisation, runs_of_seeds r, runs_of_seeds fifo,
                   runs_of_seeds software) {
  what_if_row row{.policy = policy,
                  .organisation = organisation,
                  .seconds = *over_seeds(r.size(), [&](std::size_t i) { return std::optional(r[i].seconds); }),
                  .speedup = speedup_over(fifo, r),
                  .over_software = speedup_over(software, r)};
  const auto percent = [&](const auto& figure) {  // of the seeds' percentages
    return over_seeds(r.size(), [&](std::size_t i) {
      return percent_of(static_cast<double>(figure(fifo[i])), static_cast<double>(figure(r[i])));
    });
  };
  if (r.front().lines) row.first_misses = percent([](const sim::result& one) { return one.lines->first_misses; });
  row.second_misses = percent([](const sim::result& one) { return one.cache_misses; });
  row.network = percent([](const sim::result& one) { return one.network_bytes; });
  // The software's row lacks only the unit's energy, because it does not use the unit.
  const bool whole = r.front().lines && r.front().lines->energy && fifo.front().lines->energy;
  row.energy = percent([&](const sim::result& one) { return whole ? one.lines->energy->sum() : one.network_nj; });
  return row;
}

/// The runs of a search that has no budget of its own: fewer for programs whose simulation takes long. Counts events
/// and accesses to lines, and no time, so that it is the same on every computer.
int usual_budget(runs_of_seeds runs) {
  std::uint64_t work = 0;
  for (const sim::result& r : runs) work += r.events + (r.lines ? r.lines->accesses : 0);
  const double each = static_cast<double>(work) / static_cast<double>(runs.size());
  return static_cast<int>(std::clamp(most_search_work / std::max(each, 1.0), least_search_runs, most_search_runs));
}

/// The numbers of the policies, by their mean speed-up over fifo.
std::vector<std::size_t> fastest_first(runs_of_seeds fifo, std::span<const runs_of_seeds> policies) {
  std::vector<std::size_t> order(policies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(-speedup_over(fifo, policies[i]).mean, i); });
  return order;
}

/// The seeds with which policy `best` is as fast as any other.
int seeds_won_by(std::size_t best, std::span<const runs_of_seeds> policies) {
  int won = 0;
  for (std::size_t s = 0; s < policies.front().size(); ++s)
    won += std::ranges::none_of(policies,
                                [&](const runs_of_seeds& one) { return one[s].makespan < policies[best][s].makespan; });
  return won;
}

}  // namespace

std::vector<std::string> hardware_policies() {
  return {
      "fifo", "random", "source", "token", "token:organisation=global", "reference", "reference:organisation=global"};
}

void choose_fidelity(sim::program& p, const machine_model& m, sim::run_options& s) {
  s.hardware.used = true;
  if (m.line.present && !p.recorded.streams.empty()) {
    s.fidelity = sim::fidelity::line;
    p.lines = sim::line_streams_on(p.recorded, m);
  } else {
    s.fidelity = sim::fidelity::block;
    s.distribution = sim::distribution::fine;
    s.chunk_bytes = m.page_bytes;
  }
  if (s.throttle != 0) return;
  constexpr std::int64_t most = std::numeric_limits<std::uint32_t>::max();  // 0 would mean no bound
  s.throttle = static_cast<std::uint32_t>(std::min(most, p.recorded.meta_number("throttle", 2048)));
}

what_if_answer ask_hardware(const sim::program& p, const machine_model& m, const what_if_question& q,
                            const std::function<void(const char*, double)>& tell) {
  const auto seeds = static_cast<std::size_t>(q.seeds);
  std::vector<sim::run_options> runs;
  const auto add = [&](const sim::run_options& one) {
    for (std::size_t i = 0; i < seeds; ++i) {
      runs.push_back(one);
      runs.back().seed = q.base.seed + i;
    }
  };
  const auto add_policy = [&](const std::string& policy, bool in_hardware) {
    sim::run_options one = q.base;
    one.policy = policy;
    one.hardware.used = in_hardware;
    add(one);
  };
  add_policy("fifo", true);
  add_policy(q.software, false);
  for (const std::string& policy : q.policies) add_policy(policy, true);
  for (const std::string& policy : q.policies) add_policy(policy, false);
  const auto tell_share = [&](std::size_t done, std::size_t of) {
    if (tell) tell("simulating", static_cast<double>(done) / static_cast<double>(of));
  };
  const std::vector<sim::result> all = simulate_all(p, m, runs, tell_share);
  const auto of_way = [&](std::size_t way) { return runs_of_seeds(all).subspan(way * seeds, seeds); };
  const runs_of_seeds fifo = of_way(0), software = of_way(1);
  std::vector<runs_of_seeds> in_hardware, in_software;
  for (std::size_t i = 0; i < q.policies.size(); ++i) {
    in_hardware.push_back(of_way(2 + i));
    in_software.push_back(of_way(2 + q.policies.size() + i));
  }

  what_if_answer answer;
  answer.rows.push_back(row_of(q.software, "software", software, fifo, software));
  for (std::size_t i = 0; i < q.policies.size(); ++i) {
    answer.rows.push_back(row_of(q.policies[i], organisation_of(q.policies[i]), in_hardware[i], fifo, software));
    answer.rows.back().in_software = speedup_over(fifo, in_software[i]);
  }
  const std::vector<std::size_t> order = fastest_first(fifo, in_hardware);
  answer.best = 1 + order.front();
  answer.seeds_won = seeds_won_by(order.front(), in_hardware);
  const int budget = q.budget.value_or(usual_budget(runs_of_seeds(all)));
  if (budget == 0) return answer;

  std::vector<order_start> starts;
  for (std::size_t i = 0; i < std::min(order.size(), most_starts); ++i) starts.push_back({q.policies[order[i]], true});
  std::vector<std::string> names = q.policies;
  std::vector<runs_of_seeds> candidates = in_software;
  if (std::ranges::find(names, q.software) == names.end()) {
    names.push_back(q.software);
    candidates.push_back(software);
  }
  const std::vector<std::size_t> order_in_software = fastest_first(fifo, candidates);
  for (std::size_t i = 0; i < std::min(names.size(), most_software_starts); ++i)
    starts.push_back({names[order_in_software[i]], false});
  starts.resize(std::min(starts.size(), static_cast<std::size_t>(budget)));
  const order_found found = search_order(p, m, q.base, starts, budget, [&](int done) {
    if (tell) tell("searching", static_cast<double>(done) / budget);
  });
  answer.runs = found.runs;
  answer.from = q.policies[order.front()];
  what_if_row oracle = row_of("oracle", "offline", in_hardware[order.front()], fifo, software);
  if (!found.order.core.empty()) {
    runs.clear();
    sim::run_options one = q.base;
    one.plan = std::make_shared<const sim::plan>(found.order);
    add(one);
    const what_if_row row = row_of("oracle", "offline", simulate_all(p, m, runs), fifo, software);
    if (row.speedup.mean > oracle.speedup.mean) {
      oracle = row;
      answer.from = found.from;
    }
  }
  answer.rows.push_back(oracle);
  return answer;
}

}  // namespace kith::tools
