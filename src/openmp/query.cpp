// OpenMP's functions about threads, levels and settings.
#include "machine/limits.hpp"
#include "openmp/context.hpp"
#include "openmp/icv.hpp"
#include "openmp/omp.hpp"
#include "openmp/team.hpp"

#include <algorithm>
#include <ctime>

using namespace kith::openmp;

namespace {

constexpr unsigned monotonic_bit = 0x80000000U;

/// The running code's team, or one around it, and the number of the thread there.
struct ancestor {
  const team* in;  // null: there is no such level
  int thread;
};

ancestor ancestor_at(int level) {
  const context& now = here();
  ancestor at{now.team, now.thread};
  if (level < 0 || level > at.in->level) return {nullptr, -1};
  while (at.in->level > level) at = {at.in->outer, at.in->outer_thread};
  return at;
}

double seconds(const timespec& t) noexcept {
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

}  // namespace

void omp_set_num_threads(int threads) { here().own_icv().threads = std::max(threads, 1); }
int omp_get_num_threads() { return here().team->size; }
int omp_get_max_threads() { return here().icv().threads; }
int omp_get_thread_num() { return here().thread; }
int omp_get_num_procs() { return kith::usable_cpus(kith::process_limits()); }
int omp_get_thread_limit() { return here().icv().thread_limit; }
int omp_in_parallel() { return here().team->active_level > 0 ? 1 : 0; }
int omp_in_final() { return here().final_task ? 1 : 0; }
int omp_in_explicit_task() { return here().member == nullptr ? 1 : 0; }
int omp_get_level() { return here().team->level; }
int omp_get_active_level() { return here().team->active_level; }
int omp_get_ancestor_thread_num(int level) { return ancestor_at(level).thread; }

int omp_get_team_size(int level) {
  const team* const in = ancestor_at(level).in;
  return in == nullptr ? -1 : in->size;
}

double omp_get_wtime() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return seconds(now);
}

double omp_get_wtick() {
  timespec step{};
  clock_getres(CLOCK_MONOTONIC, &step);
  return seconds(step);
}

void omp_set_dynamic(int dynamic) { here().own_icv().dynamic = dynamic != 0; }
int omp_get_dynamic() { return here().icv().dynamic ? 1 : 0; }

void omp_set_nested(int nested) {
  int& levels = here().own_icv().max_active_levels;
  levels = nested != 0 ? most_active_levels : std::min(levels, 1);
}

int omp_get_nested() {
  const context& now = here();
  return now.icv().max_active_levels > std::max(1, now.team->active_level) ? 1 : 0;
}

void omp_set_schedule(unsigned kind, int chunk) {
  const unsigned number = kind & ~monotonic_bit;
  if (number < 1 || number > 4) return;
  icv_set& icv = here().own_icv();
  icv.schedule = static_cast<schedule_kind>(number);
  icv.monotonic = (kind & monotonic_bit) != 0;
  if (icv.schedule != schedule_kind::automatic)
    icv.chunk = std::max(chunk, icv.schedule == schedule_kind::static_ ? 0 : 1);
}

void omp_get_schedule(unsigned* kind, int* chunk) {
  const icv_set& icv = here().icv();
  *kind = static_cast<unsigned>(icv.schedule) | (icv.monotonic ? monotonic_bit : 0);
  *chunk = static_cast<int>(icv.chunk);
}

void omp_set_max_active_levels(int levels) {
  if (levels >= 0) here().own_icv().max_active_levels = std::min(levels, most_active_levels);
}

int omp_get_max_active_levels() { return here().icv().max_active_levels; }
int omp_get_supported_active_levels() { return most_active_levels; }
int omp_get_cancellation() { return the_settings().cancellation ? 1 : 0; }
int omp_get_max_task_priority() { return the_settings().max_task_priority; }
