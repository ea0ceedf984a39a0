#include "sim/runs.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

namespace kith::tools {

void side_by_side(std::size_t count, const std::function<void(std::size_t)>& run,
                  const std::function<void(std::size_t, std::size_t)>& tell) {
  std::atomic<std::size_t> next{0}, done{0};
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        run(i);
      } catch (...) {
        const std::lock_guard lock(guard);
        if (!failure) failure = std::current_exception();
        next = count;
      }
      if (tell) tell(++done, count);
    }
  };
  const std::size_t threads =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, std::max<std::size_t>(count, 1));
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

std::vector<sim::result> simulate_all(const sim::program& p, const machine_model& m,
                                      const std::vector<sim::run_options>& all,
                                      const std::function<void(std::size_t, std::size_t)>& tell) {
  std::vector<sim::result> results(all.size());
  side_by_side(all.size(), [&](std::size_t i) { results[i] = sim::simulate(p, m, all[i]); }, tell);
  return results;
}

std::vector<sim::result> simulate_beside_one_core(const sim::program& p, const machine_model& m,
                                                  std::vector<sim::run_options> all,
                                                  const std::function<void(std::size_t, std::size_t)>& tell) {
  const std::size_t asked = all.size();
  std::map<std::uint64_t, std::size_t> alone;  // by seed: index in `all`
  for (std::size_t i = 0; i < asked; ++i) {
    if (!alone.emplace(all[i].seed, all.size()).second) continue;
    const sim::run_options one = sim::alone_of(all[i]);
    all.push_back(one);
  }
  std::vector<sim::result> results = simulate_all(p, m, all, tell);
  for (std::size_t i = 0; i < asked; ++i) results[i].one_core = results[alone.at(all[i].seed)].makespan;
  results.resize(asked);
  return results;
}

sample sample_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  const auto [least, most] = std::ranges::minmax(values);
  return {std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()), least, most};
}

}  // namespace kith::tools
