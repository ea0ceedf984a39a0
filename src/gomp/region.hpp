// Parallel regions.
#pragma once

namespace kith::gomp {

class team;

/// Runs fn(data) in each member of a new team; returns after the barrier at its end, with the number of members.
/// `asked`: the number of threads that the program asks for; 0: the setting. `prepare(team, with)` is called, unless it
/// is null, before any member begins.
int run_region(void (*fn)(void*), void* data, unsigned asked, void (*prepare)(team&, void* with) = nullptr,
               void* with = nullptr);

}  // namespace kith::gomp
