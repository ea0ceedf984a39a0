// The first line of a small system file, for the doctor's checks.
#pragma once

#include <fstream>
#include <optional>
#include <string>

namespace kith::tools {

inline std::optional<std::string> first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

/// The word in brackets, as in "always [madvise] never", which is how the kernel shows a choice.
inline std::optional<std::string> chosen_word(const char* path) {
  const std::optional<std::string> line = first_line(path);
  if (!line) return std::nullopt;
  const std::size_t open = line->find('['), close = line->find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  return line->substr(open + 1, close - open - 1);
}

}  // namespace kith::tools
