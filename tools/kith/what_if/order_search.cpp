#include "what_if/order_search.hpp"

#include "sim/runs.hpp"
#include "what_if/plans.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace kith::tools {

namespace {

constexpr std::array moves_of_round = {1, 1, 2, 2, 4, 8, 16, 32};  // of a round's candidates
constexpr std::array weights = {0.5, 1.0, 4.0};                    // of what a miss costs

struct candidate {
  sim::plan order;
  std::string from;
};

class searcher {
 public:
  searcher(const sim::program& p, const machine_model& m, const sim::run_options& base,
           const std::function<void(int)>& tell)
      : program_(p), machine_(m), base_(base), tell_(tell) {}

  /// Simulates the candidates. The next round changes the fastest order so far.
  void add(const std::vector<candidate>& round) {
    std::vector<sim::run_options> runs;
    for (const candidate& c : round) {
      runs.push_back(base_);
      runs.back().plan = std::make_shared<const sim::plan>(c.order);
    }
    const std::vector<sim::result> results = simulate(runs);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].makespan >= least_) continue;
      least_ = results[i].makespan;
      best.order = round[i].order;
      best.from = round[i].from;
    }
  }

  std::vector<sim::result> simulate(const std::vector<sim::run_options>& runs) {
    std::vector<sim::result> results =
        simulate_all(program_, machine_, runs, [&](std::size_t done, std::size_t /*all*/) {
          if (tell_) tell_(best.runs + static_cast<int>(done));
        });
    best.runs += static_cast<int>(runs.size());
    return results;
  }

  order_found best;

 private:
  const sim::program& program_;
  const machine_model& machine_;
  sim::run_options base_;
  const std::function<void(int)>& tell_;
  sim::picoseconds least_ = ~sim::picoseconds{0};  // of best.order
};

}  // namespace

order_found search_order(const sim::program& p, const machine_model& m, const sim::run_options& base,
                         std::span<const order_start> starts, int budget, const std::function<void(int)>& tell) {
  std::vector<sim::run_options> runs;
  for (const order_start& start : starts) {
    runs.push_back(base);
    runs.back().policy = start.policy;
    runs.back().hardware.used = start.in_hardware;
    runs.back().keep_schedule = true;
  }
  searcher s(p, m, base, tell);
  std::vector<sim::result> schedules = s.simulate(runs);
  const known_tasks tasks(p, m, base, schedules.front().schedule);
  std::vector<candidate> first;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    first.push_back({tasks.plan_of(schedules[i].schedule), starts[i].name()});
    schedules[i].schedule = {};
  }
  const std::size_t by_policies = first.size();
  for (std::size_t i = 0; i < by_policies; ++i) {
    for (const double weight : weights) first.push_back({tasks.plan_for_caches(first[i].order, weight), "data"});
  }
  for (std::size_t i = 0, all = first.size(); i < all; ++i) {
    first.push_back(first[i]);
    first.back().order.helps = false;
  }
  const auto left = static_cast<std::size_t>(std::max(0, budget - s.best.runs));
  first.resize(std::min(first.size(), left));
  if (!first.empty()) s.add(first);
  for (std::uint64_t round = 0; s.best.runs < budget && !tasks.movable().empty(); ++round) {
    std::vector<candidate> next;
    for (std::size_t i = 0; i < moves_of_round.size(); ++i) {
      if (s.best.runs + static_cast<int>(next.size()) >= budget) break;
      rng random(base.seed + round, purpose::pick, static_cast<std::uint32_t>(i));
      next.push_back({s.best.order, s.best.from});
      tasks.change(next.back().order, random, moves_of_round[i]);
    }
    s.add(next);
  }
  return std::move(s.best);
}

}  // namespace kith::tools
