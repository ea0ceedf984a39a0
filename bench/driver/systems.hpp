// The systems that can be compared, and the children that run them.
#pragma once

#include "child.hpp"
#include "ping_pong.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kith::bench {

/// What the user chose; the same for both verbs.
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
  child::settings environment;  // always
  child::settings unlimited;    // in addition, when all tasks must exist unstarted
};
std::span<const system_description> all_systems();

/// Where the program of a system is: beside this one.
std::filesystem::path program_of(const std::string& system);

/// Starts what was chosen and is there; says on stderr what is not. Throws on a name that is no system, and if nothing
/// is left.
std::vector<std::unique_ptr<child>> start_systems(const options&, int workers);

/// Bytes for each unstarted task of a case, from a fresh process; 0 if the system cannot tell.
double bytes_per_task(const std::string& system, const request& what, int workers);

int workers_of(const options&, std::size_t cores);

/// A line on stderr that is rewritten, if that is a terminal.
void show_progress(const std::string& text);
void end_progress();

}  // namespace kith::bench
