#include "what_if/hardware.hpp"

#include "sim/runs.hpp"
#include "what_if/order_search.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace kith::tools {

namespace {

constexpr std::size_t most_starts = 3;  // policies whose schedules a search starts from

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

what_if_row row_of(const std::string& policy, const std::string& organisation, const sim::result& r,
                   const sim::result& fifo, const sim::result& software) {
  what_if_row row{.policy = policy,
                  .organisation = organisation,
                  .seconds = r.seconds,
                  .speedup = fifo.seconds / r.seconds,
                  .over_software = software.seconds / r.seconds};
  const auto of = [](const auto& value) { return static_cast<double>(value); };
  if (r.lines) row.first_misses = percent_of(of(fifo.lines->first_misses), of(r.lines->first_misses));
  row.second_misses = percent_of(of(fifo.cache_misses), of(r.cache_misses));
  row.network = percent_of(of(fifo.network_bytes), of(r.network_bytes));
  // The software's row lacks only the unit's energy, because it does not use the unit.
  const bool whole = r.lines && r.lines->energy && fifo.lines->energy;
  row.energy =
      whole ? percent_of(fifo.lines->energy->sum(), r.lines->energy->sum()) : percent_of(fifo.network_nj, r.network_nj);
  return row;
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
  std::vector<sim::run_options> runs;
  const auto add = [&](const std::string& policy, bool in_hardware) {
    runs.push_back(q.base);
    runs.back().policy = policy;
    runs.back().hardware.used = in_hardware;
  };
  add("fifo", true);
  add(q.software, false);
  for (const std::string& policy : q.policies) add(policy, true);
  for (const std::string& policy : q.policies) add(policy, false);
  const std::vector<sim::result> all = simulate_all(p, m, runs, [&](std::size_t done, std::size_t of) {
    if (tell) tell("simulating", static_cast<double>(done) / static_cast<double>(of));
  });
  const sim::result &fifo = all[0], &software = all[1];
  const std::span in_hardware = std::span(all).subspan(2, q.policies.size());

  what_if_answer answer;
  answer.rows.push_back(row_of(q.software, "software", software, fifo, software));
  for (std::size_t i = 0; i < q.policies.size(); ++i) {
    answer.rows.push_back(row_of(q.policies[i], organisation_of(q.policies[i]), in_hardware[i], fifo, software));
    answer.rows.back().in_software = fifo.seconds / all[2 + q.policies.size() + i].seconds;
  }
  std::vector<std::size_t> order(q.policies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(in_hardware[i].makespan, i); });
  answer.best = 1 + order.front();
  if (q.budget == 0) return answer;

  std::vector<std::string> starts;
  for (std::size_t i = 0; i < std::min({order.size(), most_starts, static_cast<std::size_t>(q.budget)}); ++i)
    starts.push_back(q.policies[order[i]]);
  const order_found found = search_order(p, m, q.base, starts, q.budget, [&](int done) {
    if (tell) tell("searching", static_cast<double>(done) / q.budget);
  });
  answer.rows.push_back(row_of("oracle", "offline", found.result, fifo, software));
  answer.runs = found.runs;
  answer.from = found.from;
  return answer;
}

}  // namespace kith::tools
