#include "openmp/league.hpp"

#include "openmp/context.hpp"
#include "openmp/region.hpp"

#include <algorithm>

namespace kith::openmp {

void run_league(void (*body)(void*), void* data, unsigned teams, unsigned thread_limit) {
  const icv_set before = here().icv();
  const unsigned limit = thread_limit != 0 ? thread_limit : static_cast<unsigned>(league_thread_limit_setting());
  const int size = to_limit(std::max(teams != 0 ? teams : static_cast<unsigned>(league_size_setting()), 1U));
  for (int i = 0; i < size; ++i) {
    icv_set icv = before;  // a team's settings are its own
    if (limit != 0) icv.thread_limit = to_limit(limit);
    icv.teams = size;
    icv.team_number = i;
    team alone(icv);
    const membership initial(alone, 0);
    body(data);
  }
}

}  // namespace kith::openmp
