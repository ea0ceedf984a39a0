// What the control groups that this process is in allow it, versions 1 and 2: CPU time and memory. For limits.cpp and
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

/// The tightest quota on the way from the process's own group to the top that is visible below `root`.
std::optional<cpu_quota> cgroup_quota(const std::filesystem::path& root, std::vector<std::string>& notes);

struct group_memory {
  std::uint64_t left = 0;  // the limit, less what its processes use; the page cache does not count
  std::string from;        // the file of the limit
};

/// The group on that way with the least memory left; none: no limit.
std::optional<group_memory> cgroup_memory(const std::filesystem::path& root);

}  // namespace kith
