// The memory that this process can still take: for checks before work that may need more.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace kith {

struct memory_left {
  std::uint64_t bytes = 0;
  std::string from;  // the file that it was read from
};

/// The least of the memory that the kernel calls available and the memory that control groups leave. Reads below
/// `root`, as if that were "/". None: not known.
std::optional<memory_left> read_memory_left(const std::filesystem::path& root = "/");

}  // namespace kith
