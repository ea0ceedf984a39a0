// The CPU quota of the control groups that this process is in, versions 1 and 2. For limits.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kith {

struct cpu_quota {
  double cpus = 0;   // quota / period
  std::string from;  // the file, as the process sees it
};

/// The tightest quota on the way from the process's own group to the top that is visible below `root`.
std::optional<cpu_quota> cgroup_quota(const std::filesystem::path& root, std::vector<std::string>& notes);

}  // namespace kith
