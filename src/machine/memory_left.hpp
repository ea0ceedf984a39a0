// How much memory this process can still take: for checks before work that may need more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace kith {

struct memory_left {
  std::uint64_t bytes = 0;
  std::string from;  // the file that says so
};

/// The least of what the kernel calls available and what control groups leave. Reads below `root`, as if that
/// were "/". None: not known.
std::optional<memory_left> read_memory_left(const std::filesystem::path& root = "/");

}  // namespace kith
