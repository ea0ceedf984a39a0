#include "base/environment.hpp"

#include <kith/error.hpp>

#include <charconv>
#include <cstdlib>

namespace kith {

std::optional<std::string> environment(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<std::int64_t> environment_number(const char* variable, std::int64_t least, std::int64_t most,
                                               bool bytes) {
  const std::optional<std::string> text = environment(variable);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  auto [rest, failure] = std::from_chars(text->data(), end, value);
  std::int64_t unit = 1;
  if (bytes && failure == std::errc() && rest + 1 == end) {
    unit = *rest == 'K' ? 1LL << 10 : *rest == 'M' ? 1LL << 20 : *rest == 'G' ? 1LL << 30 : 1;
    if (unit != 1) ++rest;
  }
  if (failure != std::errc() || rest != end || value < least / unit || value > most / unit) {
    throw error(std::string(variable) + "=" + *text + ": expected a number from " + std::to_string(least) + " to " +
                std::to_string(most) + (bytes ? " (K, M, G allowed)" : ""));
  }
  return value * unit;
}

}  // namespace kith
