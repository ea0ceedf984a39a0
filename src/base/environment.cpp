#include "base/environment.hpp"

#include "base/atomic.hpp"
#include "base/nearest.hpp"

#include <kith/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string_view>

namespace kith {

namespace {

/// Reads "12", and with `bytes` also "12K"; none if the text is no number in [least, most].
std::optional<std::int64_t> read(std::string_view text, std::int64_t least, std::int64_t most, bool bytes) {
  std::int64_t value = 0;
  const char* const begin = std::to_address(text.begin());
  const char* const end = begin + text.size();
  auto [rest, failure] = std::from_chars(begin, end, value);
  std::int64_t unit = 1;
  if (bytes && failure == std::errc() && rest + 1 == end) {
    unit = *rest == 'K' ? 1LL << 10 : *rest == 'M' ? 1LL << 20 : *rest == 'G' ? 1LL << 30 : 1;
    if (unit != 1) ++rest;
  }
  if (failure != std::errc() || rest != end || value < (least + unit - 1) / unit || value > most / unit)
    return std::nullopt;
  return value * unit;
}

/// The length of "KITH_", with which all names begin.
constexpr std::size_t prefix = 5;

/// The letters of a word, as bits. Each letter in which two words differ changes two of these at most.
std::uint32_t letters_of(std::string_view word) noexcept {
  constexpr unsigned letters = 31;
  std::uint32_t bits = 0;
  for (const char c : word) bits |= std::uint32_t{1} << (static_cast<unsigned char>(c) & letters);
  return bits;
}

}  // namespace

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<std::string> value_of(const variable& v) { return environment(v.name); }

std::optional<std::int64_t> number_of(const variable& v) {
  const std::optional<std::string> text = value_of(v);
  if (!text) return std::nullopt;
  const std::optional<std::int64_t> number = read(*text, v.least, v.most, v.bytes);
  if (!number) {
    throw error(std::string(v.name) + "=" + *text + ": expected a number from " + std::to_string(v.least) + " to " +
                    std::to_string(v.most) + (v.bytes ? " (K, M, G allowed)" : ""),
                error_kind::setting);
  }
  return number;
}

std::int64_t standard_number(const variable& v) { return read(v.standard, v.least, v.most, v.bytes).value_or(0); }

std::string table_of_variables() {
  std::string text = "| variable | option | default | meaning |\n| --- | --- | --- | --- |\n";
  const auto code = [](const char* word) { return *word == '\0' ? std::string() : "`" + std::string(word) + "`"; };
  for (const variable* v : var::all)
    text += "| " + code(v->name) + " | " + code(v->option) + " | " + code(v->standard) + " | " + v->meaning + " |\n";
  return text;
}

std::vector<misspelt> misspelt_variables() {
  std::vector<misspelt> found;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const std::string_view name = entry.substr(0, entry.find('='));
    if (std::ranges::find(var::all, name, [](const variable* v) { return std::string_view(v->name); }) !=
        std::end(var::all)) {
      continue;
    }
    const variable* nearest = nullptr;
    std::size_t least = 0;
    for (const variable* v : var::all) {
      const std::string_view known = v->name;
      const std::size_t allowed = known.size() - prefix <= 4 ? 1 : 2;  // two letters are half of a short word
      if (std::max(name.size(), known.size()) - std::min(name.size(), known.size()) > allowed) continue;
      // Most variables are of other programs, and this is known at once.
      if (static_cast<std::size_t>(std::popcount(letters_of(name) ^ letters_of(known))) > 2 * allowed) continue;
      const std::size_t steps = spelling_distance(name, known);
      if (steps <= allowed && (nearest == nullptr || steps < least)) {
        nearest = v;
        least = steps;
      }
    }
    if (nearest != nullptr) found.push_back({std::string(name), nearest});
  }
  return found;
}

void tell_misspelt_variables() {
  static constinit atomic<bool> warned{false};
  if (warned.exchange(true, relaxed)) return;
  for (const misspelt& m : misspelt_variables())
    std::fprintf(stderr, "kith: the environment variable %s is not known; %s is\n", m.name.c_str(), m.meant->name);
}

}  // namespace kith
