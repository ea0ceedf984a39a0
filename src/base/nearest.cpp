#include "base/nearest.hpp"

#include <algorithm>
#include <vector>

namespace kith {

namespace {

char small(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::size_t spelling_distance(std::string_view a, std::string_view b) {
  // Three rows of the table of distances between prefixes of a and of b: the last two, and the new one.
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = small(a[i - 1]), y = small(b[j - 1]);
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (x == y ? 0 : 1)});
      if (i > 1 && j > 1 && x == small(b[j - 2]) && y == small(a[i - 2])) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

std::string nearest_name(std::string_view word, std::span<const std::string> names) {
  std::string best;
  std::size_t least = 0;
  for (const std::string& name : names) {
    const std::size_t distance = spelling_distance(word, name);
    if (3 * distance > std::max(word.size(), name.size())) continue;
    if (best.empty() || distance < least) {
      best = name;
      least = distance;
    }
  }
  return best;
}

std::string no_such(std::string_view what, std::string_view word, std::span<const std::string> names) {
  std::string text = "no " + std::string(what) + " '" + std::string(word) + "'; ";
  const std::string near = nearest_name(word, names);
  text += near.empty() ? "there are: " : "did you mean '" + near + "'? There are: ";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text;
}

}  // namespace kith
