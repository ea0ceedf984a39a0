// Shared by the modes of the program job (job.cpp lists them): options, checks of one feature each, and activities. The
// checks run inside place_runtime::run(); a check that fails ends the process.
#pragma once

#include <kith/activity.hpp>
#include <kith/places.hpp>

#include <cstdint>

namespace job {

/// Unless `holds`, ends the process with code 1 and prints the text.
void check(bool holds, const char* what);

/// Two workers at each place, on any cores, unless the environment says otherwise.
kith::place_options options();

/// A tree of activities that add to the sums of all places; the expected total; and the sums, which are reset to 0.
void add(int depth, long value);
long serial_sum(int depth, long value);
long sum_of_all();
/// The same tree, of coroutines that return their sums.
kith::activity<long> sum_of_tree(int depth, long value);

void all_checks();
void check_collectives();
void check_data_flow(std::uint64_t size, int steps);

// ---- wrong use of places (wrong_use.cpp): each is a mode of the program, and returns its exit code

int run_again();
int run_differ();
int run_fewer();
int run_late();

// ---- losses that the others survive (survivors.cpp), likewise

int run_survive();
int run_lose();
int run_outlive(bool counted);
int run_end_after();
int run_squares(bool without_first);
int run_sums();

}  // namespace job
