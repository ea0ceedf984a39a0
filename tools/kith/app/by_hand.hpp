// Runs the program that does by hand, with an MPI and threads, what a program on places does. For `kith app --as
// custom`.
#pragma once

#include "app/report.hpp"

#include <optional>

namespace kith::tools {

/// In a process of an MPI job; `places` and `workers` as they were asked for. None in a process that is not the job's
/// first. Throws kith::error if this is no such process, if there is no program for its MPI, or if that failed.
std::optional<app_report> run_by_hand(const apps::places_entry& e, const apps::arguments& arguments,
                                      std::optional<int> places, const runtime_options& each);

}  // namespace kith::tools
