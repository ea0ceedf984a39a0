// The measurements of kith-bench. Each prints its rows, and throws if there are none.
#pragma once

#include "systems.hpp"

#include "command_line/command_line.hpp"

#include <functional>

namespace kith::bench {

void run_dag(const options&);
void run_metg(const options&);
void run_forkjoin(const options&);
void run_loops(const options&);
void run_graph(const options&);
void run_oversubscribed(const options&);
void run_startup(const options&);

/// Declares the options of `places`, which measures processes, and returns the function that measures.
std::function<tools::outcome()> add_places(CLI::App&);

/// Declares --realtime.
CLI::Option* add_realtime(CLI::App&, options&);

/// Before a measurement: waits until no other benchmark runs on this machine, because two would measure each other, and
/// runs ahead of other programs if that is allowed and was not declined (`said`: the option was given). Throws if it
/// was requested and is refused.
void prepare(options&, bool said);

}  // namespace kith::bench
