#include "policy/contract/policy_options.hpp"

#include "base/nearest.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <charconv>
#include <vector>

namespace kith {

namespace {

constexpr std::string_view migration_mark = "+pm";

std::size_t end_of_name(std::string_view policy) noexcept { return std::min(policy.find(':'), policy.size()); }

std::vector<std::string_view> words_of(const policy_option& option) {
  std::vector<std::string_view> words;
  if (option.is_text) return words;
  for (std::string_view rest = option.words; !rest.empty();) {
    const std::size_t end = std::min(rest.find('|'), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return words;
}

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && rest == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Throws kith::error: the policy's constructor asks for an option in a wrong way.
[[noreturn]] void blame_constructor(const std::string& policy, std::string_view key, const std::string& why) {
  throw error("policy '" + policy + "': its constructor asks for the option '" + std::string(key) + "'" + why);
}

}  // namespace

std::string text_of(const policy_option& option) {
  std::string text = std::string(option.key) + "=" + std::string(option.words);
  if (option.most < option.least) return text;
  return text + (option.words.empty() ? std::to_string(option.otherwise) : "|N");
}

std::string text_of(std::span<const policy_option> options) {
  std::string text;
  for (const policy_option& o : options) text += (text.empty() ? "" : ", ") + text_of(o);
  return text;
}

bool take_migration(std::string& policy) {
  constexpr std::string_view mark = migration_mark;
  const std::size_t end = end_of_name(policy);
  if (end < mark.size() || policy.compare(end - mark.size(), mark.size(), mark) != 0) return false;
  policy.erase(end - mark.size(), mark.size());
  return true;
}

void mark_migration(std::string& policy) { policy.insert(end_of_name(policy), migration_mark); }

std::string_view policy_name(std::string_view text) noexcept { return text.substr(0, end_of_name(text)); }

policy_options::policy_options(std::string_view text, std::span<const policy_option> table)
    : name_(policy_name(text)), table_(table) {
  std::string_view rest = text.substr(std::min(text.size(), name_.size() + 1));
  while (!rest.empty()) {
    const auto last = std::ranges::find_if(table_, [&](const policy_option& o) {
      return o.is_last && rest.starts_with(o.key) && rest.substr(o.key.size()).starts_with('=');
    });
    const std::string_view item = last != table_.end() ? rest : rest.substr(0, rest.find(','));
    rest.remove_prefix(item.size() == rest.size() ? item.size() : item.size() + 1);
    const std::size_t equals = item.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == item.size()) {
      throw error("policy '" + std::string(text) + "': expected key=value, found '" + std::string(item) + "'",
                  error_kind::setting);
    }
    const std::string_view key = item.substr(0, equals), value = item.substr(equals + 1);
    if (!given_.emplace(key, value).second)
      throw error("policy '" + std::string(text) + "': '" + std::string(key) + "' is given twice", error_kind::setting);
  }
  for (const auto& [key, value] : given_) {
    const auto known = std::ranges::find(table_, key, &policy_option::key);
    if (known == table_.end()) refuse_key(key);
    check(*known, value);
  }
}

bool policy_options::has(std::string_view key) const noexcept {
  return std::ranges::find(table_, key, &policy_option::key) != table_.end();
}

bool policy_options::is(std::string_view key, std::string_view word) const {
  const policy_option& option = option_of(key);
  const std::vector<std::string_view> words = words_of(option);
  if (std::ranges::find(words, word) == words.end())
    blame_constructor(name_, key, " being '" + std::string(word) + "', which is not one of its words");
  const auto given = given_.find(key);
  return word == (given == given_.end() ? words.front() : std::string_view(given->second));
}

std::int64_t policy_options::number(std::string_view key) const {
  const policy_option& option = option_of(key);
  if (!option.words.empty())
    blame_constructor(name_, key, " as a number, but it may be a word; write is(), number_or_word() or text()");
  const auto given = given_.find(key);
  return given == given_.end() ? option.otherwise : *number_in(given->second);
}

std::optional<std::int64_t> policy_options::number_or_word(std::string_view key) const {
  static_cast<void>(option_of(key));
  const auto given = given_.find(key);
  return given == given_.end() ? std::nullopt : number_in(given->second);
}

std::string policy_options::text(std::string_view key) const {
  static_cast<void>(option_of(key));
  const auto given = given_.find(key);
  return given == given_.end() ? std::string() : given->second;
}

void policy_options::refuse(std::string_view key, const std::string& expected) const {
  const auto given = given_.find(key);
  throw error("policy '" + name_ + "': " + std::string(key) + "=" + (given == given_.end() ? "" : given->second) +
                  ": expected " + expected,
              error_kind::setting);
}

void policy_options::check(const policy_option& option, std::string_view given) const {
  if (option.is_text || std::ranges::count(words_of(option), given) != 0) return;
  const std::optional<std::int64_t> value = number_in(given);
  if (!value || *value < option.least || *value > option.most) refuse_value(option, given);
}

const policy_option& policy_options::option_of(std::string_view key) const {
  const auto at = std::ranges::find(table_, key, &policy_option::key);
  if (at == table_.end()) blame_constructor(name_, key, ", which is not in the table of its options");
  return *at;
}

std::size_t policy_options::index_of_word(std::string_view key, std::size_t count) const {
  const std::vector<std::string_view> words = words_of(option_of(key));
  if (words.size() != count) {
    blame_constructor(name_, key,
                      " with " + std::to_string(count) + " values for its " + std::to_string(words.size()) +
                          " words; expected one for each");
  }
  const auto given = given_.find(key);
  if (given == given_.end()) return 0;
  return static_cast<std::size_t>(std::ranges::find(words, given->second) - words.begin());
}

void policy_options::refuse_key(std::string_view key) const {
  std::vector<std::string> known;
  for (const policy_option& o : table_) known.emplace_back(o.key);
  const std::string near = nearest_name(key, known);
  std::string names;
  for (const std::string& k : known) names += (names.empty() ? "" : ", ") + k;
  throw error("policy '" + name_ + "' has no option '" + std::string(key) + "'; " +
                  (near.empty() ? "" : "did you mean '" + near + "'? ") +
                  (known.empty() ? "it has none" : "it has: " + names),
              error_kind::setting);
}

void policy_options::refuse_value(const policy_option& option, std::string_view given) const {
  std::string words;
  for (const std::string_view w : words_of(option)) words += (words.empty() ? "" : ", ") + std::string(w);
  const bool numbers = option.least <= option.most;
  std::string expected =
      numbers ? "a whole number from " + std::to_string(option.least) + " to " + std::to_string(option.most)
              : "one of " + words;
  if (numbers && !words.empty()) expected += ", or " + words;
  throw error(
      "policy '" + name_ + "': " + std::string(option.key) + "=" + std::string(given) + ": expected " + expected,
      error_kind::setting);
}

}  // namespace kith
