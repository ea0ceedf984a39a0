// The construct `teams`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace kith::openmp {

/// A number of threads or teams, as settings have it.
inline int to_limit(std::uint64_t number) noexcept {
  return static_cast<int>(std::min<std::uint64_t>(number, std::numeric_limits<int>::max()));
}

/// Runs the body for each team of a league on the host, one after the other. 0: the setting, else 1 team, and any
/// number of threads.
void run_league(void (*body)(void*), void* data, unsigned teams, unsigned thread_limit);

/// 0: not set. By OMP_NUM_TEAMS and omp_set_num_teams().
int league_size_setting() noexcept;
/// 0: not set. By OMP_TEAMS_THREAD_LIMIT and omp_set_teams_thread_limit().
int league_thread_limit_setting() noexcept;

}  // namespace kith::openmp
