#include "policy/policy_options.hpp"

#include "base/nearest.hpp"

#include <kith/error.hpp>

#include <algorithm>
#include <charconv>

namespace kith {

namespace {

constexpr std::string_view migration_mark = "+pm";

std::size_t end_of_name(const std::string& policy) { return std::min(policy.find(':'), policy.size()); }

}  // namespace

bool take_migration(std::string& policy) {
  constexpr std::string_view mark = migration_mark;
  const std::size_t end = end_of_name(policy);
  if (end < mark.size() || policy.compare(end - mark.size(), mark.size(), mark) != 0) return false;
  policy.erase(end - mark.size(), mark.size());
  return true;
}

void mark_migration(std::string& policy) { policy.insert(end_of_name(policy), migration_mark); }

policy_options::policy_options(std::string_view text) {
  const std::size_t colon = text.find(':');
  name_ = text.substr(0, colon);
  std::string_view rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(item.size() == rest.size() ? item.size() : item.size() + 1);
    const std::size_t equals = item.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == item.size()) {
      throw error("policy '" + std::string(text) + "': expected key=value, found '" + std::string(item) + "'");
    }
    if (!given_.emplace(item.substr(0, equals), item.substr(equals + 1)).second) {
      throw error("policy '" + std::string(text) + "': '" + std::string(item.substr(0, equals)) + "' is given twice");
    }
  }
}

std::string policy_options::text_of(const char* key, const char* otherwise) {
  known_.emplace_back(key);
  const auto at = given_.find(key);
  if (at == given_.end()) return otherwise;
  std::string value = std::move(at->second);
  given_.erase(at);
  return value;
}

std::int64_t policy_options::take_number(const char* key, std::int64_t otherwise, std::int64_t least,
                                         std::int64_t most) {
  const std::string given = text_of(key, "");
  return given.empty() ? otherwise : number_of(key, given, least, most, "");
}

std::int64_t policy_options::take_number_or(const char* key, const char* word, std::int64_t otherwise,
                                            std::int64_t least, std::int64_t most) {
  const std::string given = text_of(key, "");
  return given.empty() || given == word ? otherwise : number_of(key, given, least, most, ", or " + std::string(word));
}

std::int64_t policy_options::number_of(const char* key, const std::string& given, std::int64_t least, std::int64_t most,
                                       const std::string& or_word) const {
  std::int64_t value = 0;
  const auto [rest, failure] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (failure != std::errc() || rest != given.data() + given.size() || value < least || value > most) {
    refuse(key, given, "a number from " + std::to_string(least) + " to " + std::to_string(most) + or_word);
  }
  return value;
}

void policy_options::refuse(const char* key, const std::string& given, const std::string& expected) const {
  throw error("policy '" + name_ + "': " + key + "=" + given + ": expected " + expected);
}

void policy_options::all_taken() const {
  if (given_.empty()) return;
  const std::string& wrong = given_.begin()->first;
  const std::string near = nearest_name(wrong, known_);
  std::string names;
  for (const std::string& key : known_) names += (names.empty() ? "" : ", ") + key;
  throw error("policy '" + name_ + "' has no option '" + wrong + "'; " +
              (near.empty() ? "" : "did you mean '" + near + "'? ") +
              (known_.empty() ? "it has none" : "it has: " + names));
}

}  // namespace kith
