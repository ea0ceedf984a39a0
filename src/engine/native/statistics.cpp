// The statistics since the last reset: sums over the workers' events.
#include "engine/life/figures.hpp"
#include "engine/native/engine.hpp"

#include <algorithm>

namespace kith::native {

kith::statistics engine::statistics() const {
  kith::statistics all;
  const double second = seconds_per_tick();
  {
    std::lock_guard lock(running_);
    // A run in which no worker works any more may still be open.
    const std::uint64_t open = runs_ != 0 ? ticks() - run_began.load(relaxed) : 0;
    all.seconds = static_cast<double>(run_ticks_ + open) * second;
  }
  for (std::size_t w = 0; w < workers.size(); ++w) {
    const auto sum = [&](event e) { return workers[w].sums[e] - baseline_[w][e]; };
    worker_statistics& one = all.workers.emplace_back(life::figures_of_worker(sum, second));
    one.busy_seconds = static_cast<double>(sum(event::busy)) * second;
    one.idle_seconds = std::max(0.0, all.seconds - one.busy_seconds);
    one.deque_peak = workers[w].sums[event::deque_peak];
    life::add_figures(all, sum);
    all.partition_seconds += static_cast<double>(sum(event::job)) * second;
  }
  life::sum_up(all);
  all.pretended = hardware.pretended;
  return all;
}

void engine::reset_statistics() {
  for (std::size_t w = 0; w < workers.size(); ++w) {
    workers[w].sums.restart(event::deque_peak);
    baseline_[w] = workers[w].sums.snapshot();
  }
  std::lock_guard lock(running_);
  run_ticks_ = 0;
  if (runs_ != 0) run_began.store(ticks(), relaxed);
}

}  // namespace kith::native
