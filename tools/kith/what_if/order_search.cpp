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
    std::vector<sim::result> results = simulate_all(program_, machine_, runs);
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].makespan < least_) {
        least_ = results[i].makespan;
        order = round[i].order;
        from = round[i].from;
      }
      keep(std::move(results[i]), round[i].from);
    }
    if (tell_) tell_(best.runs);
  }

  void keep(sim::result r, const std::string& begun_with) {
    const bool first = best.runs++ == 0;
    if (!first && r.makespan >= best.result.makespan) return;
    best.better += first ? 0 : 1;
    best.from = begun_with;
    best.result = std::move(r);
  }

  order_found best;
  sim::plan order;   // the fastest
  std::string from;  // the start from which it was found

 private:
  const sim::program& program_;
  const machine_model& machine_;
  sim::run_options base_;
  const std::function<void(int)>& tell_;
  sim::picoseconds least_ = ~sim::picoseconds{0};  // of `order`
};

}  // namespace

order_found search_order(const sim::program& p, const machine_model& m, const sim::run_options& base,
                         std::span<const std::string> starts, int budget, const std::function<void(int)>& tell) {
  std::vector<sim::run_options> runs;
  for (const std::string& policy : starts) {
    runs.push_back(base);
    runs.back().policy = policy;
    runs.back().keep_schedule = true;
  }
  std::vector<sim::result> schedules = simulate_all(p, m, runs);
  const known_tasks tasks(p, m, base, schedules.front().schedule);
  searcher s(p, m, base, tell);
  std::vector<candidate> first;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    first.push_back({tasks.plan_of(schedules[i].schedule), starts[i]});
    schedules[i].schedule = {};
    s.keep(std::move(schedules[i]), starts[i]);
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
      next.push_back({s.order, s.from});
      tasks.change(next.back().order, random, moves_of_round[i]);
    }
    s.add(next);
  }
  return std::move(s.best);
}

}  // namespace kith::tools
