// The systems of `kith-bench forkjoin`, and where their programs are.
#pragma once

#include "child.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace kith::bench {

struct fork_system {
  const char* name;
  child::settings environment;
};
const std::vector<fork_system>& all_fork_systems();

/// The program of that system. Throws std::runtime_error that says what is missing. Builds programs of cargo.
std::filesystem::path program_of_fork(const std::string& system);

}  // namespace kith::bench
