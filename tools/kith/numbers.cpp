#include "numbers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kith::tools {

std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string in_time(double ns) {
  if (ns < 1e4) return fmt::format("{:.0f} ns", ns);
  if (ns < 1e7) return fmt::format("{:.1f} us", ns / 1e3);
  return ns < 1e10 ? fmt::format("{:.1f} ms", ns / 1e6) : fmt::format("{:.2f} s", ns / 1e9);
}

std::string in_bytes(std::uint64_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == static_cast<double>(static_cast<std::uint64_t>(value));
  return fmt::format("{:.{}f} {}", value, whole ? 0 : 1, units[unit]);
}

std::string in_ranges(std::vector<int> values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::string text;
  for (std::size_t first = 0; first < values.size();) {
    std::size_t last = first;
    while (last + 1 < values.size() && values[last + 1] == values[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", values[first]);
    if (last > first) text += fmt::format("-{}", values[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace kith::tools
