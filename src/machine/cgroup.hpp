// The limits on CPU time and memory from this process's control groups, versions 1 and 2. For limits.cpp and
// memory_left.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kith {

struct cpu_quota {
  double cpus = 0;   // quota / period
  std::string from;  // the file, as the process sees it
};

/// The tightest quota of the groups from the process's own up to the top that is visible below `root`.
std::optional<cpu_quota> cgroup_quota(const std::filesystem::path& root, std::vector<std::string>& notes);

struct group_memory {
  std::uint64_t left = 0;  // the limit, less what its processes use; reclaimable page cache does not count as used
  std::string from;        // the file of the limit
};

/// Of the same groups, the one with the least memory left; none: no limit.
std::optional<group_memory> cgroup_memory(const std::filesystem::path& root);

}  // namespace kith
