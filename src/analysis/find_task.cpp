#include "analysis/find_task.hpp"

#include "base/printable.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace kith::analysis {

namespace {

std::optional<std::uint64_t> number(const std::string& text) {
  std::uint64_t value = 0;
  const bool hex = text.starts_with("0x");
  const char* const begin = text.data() + (hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(begin, end, value, hex ? 16 : 10);
  if (failed == std::errc() && stopped == end) return value;
  std::int64_t below = 0;  // for keys that are negative numbers
  const auto [at, wrong] = std::from_chars(begin, end, below);
  if (hex || wrong != std::errc() || at != end) return std::nullopt;
  return static_cast<std::uint64_t>(below);
}

std::string numbered(std::size_t count, const std::string& type) {
  return count == 1 ? type + ":0" : type + ":0 to " + type + ":" + std::to_string(count - 1);
}

/// Whether the task is found by its type. Runs have one if they are named.
bool is_of_type(const recorded_task& t) noexcept {
  return !t.has(recorded_task::fence) && (!t.has(recorded_task::root) || t.type != 0);
}

/// The types that have tasks, for error messages.
std::string types_of(const recording& r) {
  std::vector<std::size_t> count(r.types.size());
  for (const recorded_task& t : r.tasks) count[t.type] += is_of_type(t);
  std::string text;
  for (std::size_t i = 0; i < count.size(); ++i) {
    if (count[i] != 0) text += (text.empty() ? "" : ", ") + printable(numbered(count[i], r.types[i]));
  }
  return text;
}

std::int32_t find_key(const recording& r, const std::string& name) {
  const std::optional<std::uint64_t> key = number(name.substr(4));
  if (!key)
    throw error("task '" + name + "': expected a whole number after 'key:', a key or its hash", error_kind::setting);
  bool keys = false;
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    if (!r.tasks[t].has(recorded_task::keyed) && !r.tasks[t].has(recorded_task::generated)) continue;
    keys = true;
    if (r.tasks[t].key == *key) return static_cast<std::int32_t>(t);
  }
  throw error("task '" + name +
                  "': " + (keys ? "no node of a graph has this key" : "the recording has no keyed or static graph") +
                  "; expected a number below " + std::to_string(r.tasks.size()) + ", or one of " + types_of(r),
              error_kind::setting);
}

}  // namespace

std::int32_t find_task(const recording& r, const std::string& name) {
  const std::string expected =
      "expected a number below " + std::to_string(r.tasks.size()) + ", one of " + types_of(r) + ", or key:NUMBER";
  if (r.tasks.empty()) throw error("the recording has no tasks", error_kind::setting);
  const bool whole = std::ranges::find(r.types, name) != r.types.end();  // type names may contain colons
  const std::size_t colon = whole ? std::string::npos : name.rfind(':');
  const std::string type = name.substr(0, colon);
  const bool of_type = std::ranges::find(r.types, type) != r.types.end();
  if (!of_type && name.starts_with("key:")) return find_key(r, name);
  if (!of_type) {
    const std::optional<std::uint64_t> n = number(name);
    if (!n || *n >= r.tasks.size()) throw error("no task '" + name + "'; " + expected, error_kind::setting);
    return static_cast<std::int32_t>(*n);
  }
  std::vector<std::int32_t> all;
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    const recorded_task& x = r.tasks[t];
    if (r.types[x.type] == type && is_of_type(x)) all.push_back(static_cast<std::int32_t>(t));
  }
  const std::optional<std::uint64_t> n = colon == std::string::npos
                                             ? std::optional<std::uint64_t>(all.size() == 1 ? 0 : all.size())
                                             : number(name.substr(colon + 1));
  if (!n || *n >= all.size()) {
    throw error("no task '" + name + "'; " +
                    (all.empty() ? "no task has this type; " + expected
                                 : "of this type there " + std::string(all.size() == 1 ? "is " : "are ") +
                                       numbered(all.size(), type)),
                error_kind::setting);
  }
  return all[static_cast<std::size_t>(*n)];
}

}  // namespace kith::analysis
