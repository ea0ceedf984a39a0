// Runs the program by hand, with an MPI and threads, that corresponds to a program on places. For `kith app
// --as custom`.
#pragma once

#include "app/report.hpp"

#include <optional>

namespace kith::tools {

/// Called in a process of an MPI job. `places` and `workers` are the numbers asked for. None in a process that is not
/// the job's first. Throws kith::error outside of a job, if there is no program for its MPI, or if that program failed.
std::optional<app_report> run_by_hand(const apps::places_entry& e, const apps::arguments& arguments,
                                      std::optional<int> places, const runtime_options& each);

}  // namespace kith::tools
