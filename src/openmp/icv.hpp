// OpenMP's internal control variables, and where their first values come from: the environment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kith::openmp {

enum class schedule_kind : std::uint8_t { static_ = 1, dynamic = 2, guided = 3, automatic = 4 };  // omp_sched_t

/// The deepest nesting of active regions that omp_set_max_active_levels() accepts, as libgomp.
inline constexpr int most_active_levels = 255;

/// Those that each data environment has of its own: inherited by what it creates, changed by omp_set_...().
struct icv_set {
  int threads = 1;                // of the next parallel region; for nested ones see settings::threads_by_level
  int max_active_levels = 1;      // of parallel regions with more than one thread
  int thread_limit = 0x7fffffff;  // of all threads at a time; a teams construct has one of its own
  bool dynamic = false;           // a region may have fewer threads than asked for
  schedule_kind schedule = schedule_kind::dynamic;  // of loops with schedule(runtime)
  bool monotonic = false;
  std::int64_t chunk = 1;
  int default_device = 0;        // kept for omp_get_default_device() only: there are no devices
  std::uintptr_t allocator = 1;  // of omp_alloc() without one; 1: omp_default_mem_alloc
  // A construct `teams` runs its teams one after the other, on the thread that meets it.
  int teams = 1;        // in the league
  int team_number = 0;  // of the running one

  bool operator==(const icv_set&) const = default;
};

/// Those of the whole process, constant after the start.
struct settings {
  icv_set first;                      // of threads that no region has
  std::vector<int> threads_by_level;  // OMP_NUM_THREADS; empty if it is not set
  int max_task_priority = 0;
  bool cancellation = false;
  int teams = 0;                   // OMP_NUM_TEAMS; 0: not set
  int teams_thread_limit = 0;      // OMP_TEAMS_THREAD_LIMIT; 0: not set
  std::int64_t stack_bytes = 0;    // OMP_STACKSIZE; 0: not set
  bool waits_actively = false;     // OMP_WAIT_POLICY=ACTIVE
  std::string affinity_format;     // OMP_AFFINITY_FORMAT
  bool displays_affinity = false;  // OMP_DISPLAY_AFFINITY
};

/// Where libgomp and libomp differ. Each library has its own (of_library/).
struct library_defaults {
  schedule_kind schedule;    // of loops with schedule(runtime), if OMP_SCHEDULE is not set
  bool static_is_monotonic;  // OMP_SCHEDULE=static means monotonic:static
};
extern const library_defaults of_library;

/// Reads the environment at the first call. Thread-safe. Reports a wrong value on stderr and uses the default.
const settings& the_settings() noexcept;

/// Prints the settings on stderr, as OMP_DISPLAY_ENV and omp_display_env() ask for; `verbose`: also those of libgomp.
void display_settings(const settings&, bool verbose);

}  // namespace kith::openmp
