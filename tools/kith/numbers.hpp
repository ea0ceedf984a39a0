// Formats numbers for users. For all verbs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kith::tools {

/// "1 core", "2 cores".
std::string counted(std::size_t count, std::string_view what);
/// "350 ns", "12.5 us", "3.0 ms", "12.00 s": of nanoseconds, with four digits before a larger unit is taken.
std::string in_time(double ns);
/// "512 KiB", "31.3 GiB".
std::string in_bytes(std::uint64_t bytes);
/// "0-3,8" for {0,1,2,3,8}, in any order.
std::string in_ranges(std::vector<int> values);

}  // namespace kith::tools
