// The systems that can be compared, and their child processes.
#pragma once

#include "child.hpp"
#include "ping_pong.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::bench {

/// The user's choices, which are the same for both verbs.
struct options {
  std::vector<std::string> systems;  // empty: all that are installed
  int rounds = 5;
  int workers = 0;  // 0: one for each core this process may use
  bool quick = false;
  bool realtime = false;
  bool json = false;
};

struct system_description {
  const char* name;
  child::settings environment;  // set always
  child::settings unlimited;    // set in addition when all tasks must exist unstarted
};
std::span<const system_description> all_systems();

/// What to do where a system's program was not built: a part of a sentence.
std::string remedy_for(std::string_view system);
/// The environment of OpenMP programs: threads bound to cores.
child::settings bound_openmp();

/// The path of a system's program, which is in the folder of this one.
std::filesystem::path program_of(const std::string& system);

/// Starts the chosen systems that are installed, and names the missing ones on stderr. Throws if a name is
/// no system, or if no system is left.
std::vector<std::unique_ptr<child>> start_systems(const options&, int workers);

/// Bytes for each unstarted task of a case, measured in a fresh process; 0 if the system cannot measure it.
double bytes_per_task(const std::string& system, const request& what, int workers);

/// The number of workers in `oversubscribed`: many more than there are cores.
inline constexpr int many_workers = 64;
int workers_of(const options&, std::size_t cores);
/// 1 and all workers; or the number that the options ask for.
std::vector<int> one_and_all(const options&, std::size_t cores);

/// Shows a line on stderr that is rewritten, if stderr is a terminal.
void show_progress(const std::string& text);
void end_progress();

}  // namespace kith::bench
