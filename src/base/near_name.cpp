#include "base/near_name.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace kith {

namespace {

char small(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

// The rows of Wagner and Fischer's table, the last three of them: a swap looks two rows back.
std::size_t edits_between(std::string_view a, std::string_view b, std::size_t most) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > most) return most + 1;
  std::array<std::vector<std::size_t>, 3> rows;
  for (std::vector<std::size_t>& r : rows) r.resize(b.size() + 1);
  auto& [before, last, now] = rows;
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = small(a[i - 1]), y = small(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == small(b[j - 2]) && y == small(a[i - 2])) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    if (*std::ranges::min_element(now) > most) return most + 1;
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace kith
