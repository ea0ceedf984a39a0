// How many teams, and threads in each, a construct `teams` has that does not say it.
#pragma once

namespace kith::gomp {

/// 0: not set. By OMP_NUM_TEAMS and omp_set_num_teams().
int league_size_setting() noexcept;
/// 0: not set. By OMP_TEAMS_THREAD_LIMIT and omp_set_teams_thread_limit().
int league_thread_limit_setting() noexcept;

}  // namespace kith::gomp
