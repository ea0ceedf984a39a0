// Runs a program on places. For `kith app`.
#pragma once

#include "app/report.hpp"

#include <optional>

namespace kith::tools {

/// `each` has the options of each place's runtime. Says on stderr if there are fewer workers than `each` asks for. None
/// in a process without place 0, which only works for the others. Throws kith::error for a wrong option,
/// kith::place_lost if a place is lost.
std::optional<app_report> run_on_places(const apps::places_entry& e, const apps::arguments& arguments,
                                        std::optional<int> places, const runtime_options& each);

}  // namespace kith::tools
