// The results of a simulation: the figures of what follows the last mark.
#include "engine/life/figures.hpp"
#include "engine/sim/engine.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <utility>

namespace kith::sim {

namespace {

constexpr double picosecond = 1e-12;

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

}  // namespace

void engine::measure_from_here() {
  baseline_.time = workers_.front().clock;
  baseline_.serial = serial_time_;
  baseline_.partition = partition_time_;
  baseline_.sums.clear();
  baseline_.times.clear();
  for (const worker& w : workers_) {
    baseline_.sums.push_back(w.sums.snapshot());
    baseline_.times.push_back({w.useful, w.overhead, w.stall});
  }
  if (memory_ && options_.cold) memory_->empty_caches();
  if (memory_) {
    baseline_.local_bytes = memory_->local_bytes;
    baseline_.remote_bytes = memory_->remote_bytes;
    baseline_.migrated_bytes = memory_->migrated_bytes;
    baseline_.hits = memory_->hits;
    baseline_.misses = memory_->misses;
    baseline_.links = memory_->links.links;
  }
  if (lines_) measure_lines_from_here();
  if (unit_) {
    baseline_.unit_operations = unit_->operations;
    baseline_.unit_busy = unit_->busy;
    baseline_.unit_spills = unit_->spills;
  }
}

result engine::results() {
  if (const std::string word = policy().final_error(); !word.empty()) throw error("simulation: " + word);
  result r;
  for (const member_state& m : members_) {
    r.makespan = std::max(r.makespan, m.ended - baseline_.time);
    r.programs.push_back({.started = m.starts - baseline_.time, .ended = m.ended - baseline_.time});
  }
  r.serial = serial_time_ - baseline_.serial;
  r.partition = partition_time_ - baseline_.partition;
  r.steps = steps_;
  r.events = events_taken_;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const worker& w = workers_[i];
    const auto sum = [&](event e) { return w.sums[e] - baseline_.sums[i][e]; };
    r.workers.push_back(life::figures_of_worker(sum, picosecond));
    r.workers.back().deque_peak = w.sums[event::deque_peak];
    life::add_figures(r, sum);
    const worker_times& then = baseline_.times[i];
    r.times.push_back({w.useful - then.useful, w.overhead - then.overhead, w.stall - then.stall});
  }
  r.sum_up();
  if (memory_) {
    r.remote_bytes = memory_->remote_bytes - baseline_.remote_bytes;
    r.local_bytes = memory_->local_bytes - baseline_.local_bytes;
    r.migrated_bytes = memory_->migrated_bytes - baseline_.migrated_bytes;
    r.cache_hits = memory_->hits - baseline_.hits;
    r.cache_misses = memory_->misses - baseline_.misses;
    r.links = memory_->links.links;
    for (std::size_t l = 0; l < r.links.size(); ++l) {
      r.links[l].data -= baseline_.links[l].data;
      r.links[l].control -= baseline_.links[l].control;
      r.network_bytes += r.links[l].data + r.links[l].control;
    }
    if (machine_.energies.flit_bytes != 0)
      r.network_nj =
          static_cast<double>(r.network_bytes) / machine_.energies.flit_bytes * machine_.energies.flit_hop / 1000;
  }
  if (unit_) {
    r.unit_operations = unit_->operations - baseline_.unit_operations;
    r.unit_busy = unit_->busy - baseline_.unit_busy;
    r.unit_spills = unit_->spills - baseline_.unit_spills;
  }
  if (lines_) line_results(r);
  if (network_) place_results(r);
  if (notes_) r.schedule = finish_schedule();
  return r;
}

void result::sum_up() {
  seconds = static_cast<double>(makespan) * picosecond;
  partition_seconds = static_cast<double>(partition) * picosecond;
  for (std::size_t w = 0; w < workers.size(); ++w) {
    workers[w].busy_seconds = static_cast<double>(times[w].useful) * picosecond;
    workers[w].idle_seconds = std::max(0.0, seconds - workers[w].busy_seconds);
  }
  life::sum_up(*this);
}

double result::speedup() const noexcept {
  return makespan == 0 ? 0 : static_cast<double>(one_core) / static_cast<double>(makespan);
}

double result::over_serial() const noexcept {
  return makespan == 0 ? 0 : static_cast<double>(serial) / static_cast<double>(makespan);
}

double result::overhead_percent() const noexcept {
  double all = static_cast<double>(partition);
  for (const worker_times& w : times) all += static_cast<double>(w.overhead);
  return percent(all, static_cast<double>(makespan) * static_cast<double>(workers.size()));
}

double result::partition_percent() const noexcept {
  return percent(static_cast<double>(partition), static_cast<double>(makespan) * static_cast<double>(workers.size()));
}

double result::stall_seconds_per_task() const noexcept {
  double all = 0;
  for (const worker_times& w : times) all += static_cast<double>(w.stall) * picosecond;
  return total.tasks == 0 ? 0 : all / static_cast<double>(total.tasks);
}

}  // namespace kith::sim
