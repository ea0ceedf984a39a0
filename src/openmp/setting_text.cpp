#include "openmp/setting_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <memory>
#include <utility>

namespace kith::openmp {

namespace {

constexpr std::array<std::string_view, 4> schedule_names{"static", "dynamic", "guided", "auto"};  // from 1
constexpr std::array<std::string_view, 8> allocator_names{
    "omp_default_mem_alloc", "omp_large_cap_mem_alloc", "omp_const_mem_alloc", "omp_high_bw_mem_alloc",
    "omp_low_lat_mem_alloc", "omp_cgroup_mem_alloc",    "omp_pteam_mem_alloc", "omp_thread_mem_alloc"};  // from 1
constexpr std::array<std::string_view, 5> abstract_places{"threads", "cores", "ll_caches", "numa_domains", "sockets"};

/// The place in the list, from 1.
template <std::size_t N>
std::optional<std::size_t> place_in(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto* const found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin()) + 1;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// The parts between commas, without spaces at their ends.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t comma = text.find(','); comma != std::string::npos; comma = text.find(',', begin)) {
    parts.push_back(plain(text.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  parts.push_back(plain(text.substr(begin)));
  return parts;
}

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; });
  return text;
}

/// Of OMP_SCHEDULE with that name alone.
schedule_setting usual_schedule(schedule_kind kind) noexcept {
  const bool is_static = kind == schedule_kind::static_;
  return {kind, is_static && of_library.static_is_monotonic, is_static ? 0 : 1};
}

}  // namespace

std::string plain(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return lower;
}

std::optional<bool> read_bool(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<std::int64_t> read_number(const std::string& text, std::int64_t least, std::int64_t most) {
  std::int64_t value = 0;
  const bool has_plus = text.size() > 1 && text.front() == '+' && text[1] != '-';
  const char* const begin = text.data() + (has_plus ? 1 : 0);
  const char* const end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(begin, end, value);
  if (failure != std::errc() || rest != end || value < least || value > most) return std::nullopt;
  return value;
}

std::optional<std::vector<int>> read_numbers(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& part : parts_of(text)) {
    const std::optional<std::int64_t> number = read_number(part, 1, std::numeric_limits<int>::max());
    if (!number) return std::nullopt;
    numbers.push_back(static_cast<int>(*number));
  }
  return numbers;
}

std::optional<std::int64_t> read_bytes(const std::string& text) {
  constexpr std::string_view units = "bkmg";
  constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
  const std::size_t unit = text.empty() ? units.npos : units.find(text.back());
  const int shift = unit == units.npos ? 10 : static_cast<int>(unit) * 10;
  const std::string number = unit == units.npos ? text : plain(text.substr(0, text.size() - 1));
  const std::optional<std::int64_t> value = read_number(number, 1, most_bytes >> shift);
  if (!value) return std::nullopt;
  return *value << shift;
}

schedule_setting usual_schedule() noexcept {
  schedule_setting usual = usual_schedule(of_library.schedule);
  usual.monotonic = false;
  return usual;
}

std::optional<schedule_setting> read_schedule(const std::string& text) {
  std::string kind = text;
  std::optional<bool> monotonic;
  if (const std::size_t colon = kind.find(':'); colon != std::string::npos) {
    const std::string modifier = plain(kind.substr(0, colon));
    if (modifier != "monotonic" && modifier != "nonmonotonic") return std::nullopt;
    monotonic = modifier == "monotonic";
    kind = plain(kind.substr(colon + 1));
  }
  const std::size_t comma = kind.find(',');
  const std::optional<std::size_t> place = place_in(schedule_names, plain(kind.substr(0, comma)));
  if (!place) return std::nullopt;
  schedule_setting read = usual_schedule(static_cast<schedule_kind>(*place));
  read.monotonic = monotonic.value_or(read.monotonic);
  if (comma == std::string::npos) return read;
  const std::optional<std::int64_t> chunk = read_number(plain(kind.substr(comma + 1)), 0, 0x7fffffff);
  if (!chunk) return std::nullopt;
  if (*chunk > 0) read.chunk = *chunk;
  return read;
}

std::optional<std::uintptr_t> read_allocator(const std::string& text) { return place_in(allocator_names, text); }

bool is_binding(const std::string& text) {
  if (read_bool(text)) return true;
  constexpr std::array<std::string_view, 4> names{"master", "primary", "close", "spread"};
  return std::ranges::all_of(parts_of(text),
                             [&](const std::string& part) { return place_in(names, part).has_value(); });
}

bool is_places(const std::string& text) {
  const std::size_t open = text.find('(');
  if (place_in(abstract_places, plain(text.substr(0, open)))) {
    return open == std::string::npos ||
           (text.back() == ')' &&
            read_number(plain(text.substr(open + 1, text.size() - open - 2)), 1, 0x7fffffff).has_value());
  }
  return text.find_first_not_of("{}0123456789:,-! \t") == std::string::npos && text.find('{') != std::string::npos;
}

std::string to_text(bool value) { return value ? "TRUE" : "FALSE"; }

std::string to_text(std::int64_t value) { return std::to_string(value); }

std::string to_text(const std::vector<int>& values) {
  std::string text;
  for (const int value : values) text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

std::string to_text(const schedule_setting& s) {
  const schedule_setting usual = usual_schedule(s.kind);
  std::string text;
  if (s.monotonic != usual.monotonic) text = s.monotonic ? "MONOTONIC:" : "NONMONOTONIC:";
  text += upper(std::string(schedule_names[static_cast<std::size_t>(s.kind) - 1]));
  if (s.chunk != usual.chunk) text += "," + std::to_string(s.chunk);
  return text;
}

std::string allocator_text(std::uintptr_t allocator) {
  return std::string(allocator - 1 < allocator_names.size() ? allocator_names[allocator - 1] : "");
}

}  // namespace kith::openmp
