// One table of a machine file, as model.cpp reads it: keys with their types and ranges, and errors that name the line.
#pragma once

#include "base/printable.hpp"
#include "machine/toml_text.hpp"

#include <kith/error.hpp>

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace kith {

/// Remembers the keys that were requested. Refers to the file's name and its tables. Every member throws kith::error
/// for a value that is not as expected. Missing numbers are reported together, by all_known() or before another error,
/// which may be a consequence; until then each is the least that it may be.
class model_section {
 public:
  model_section(const std::string& file, const toml::table& root, const std::string& name)
      : file_(file), name_(name), table_(root[name].as_table()) {
    if (table_ == nullptr)
      throw error(file + ": no table [" + name + "]; docs/machines.md lists what is needed", error_kind::input);
  }

  [[noreturn]] void refuse(const toml::node* at, const std::string& key, const std::string& expected) const {
    if (!missing_.empty()) refuse_missing();
    const toml::source_region& where = at != nullptr ? at->source() : table_->source();
    throw error(file_ + ":" + std::to_string(where.begin.line) + ": " + name_ +
                    (key.empty() ? "" : "." + printable(key)) +
                    (at != nullptr ? ": expected " : " is missing: expected ") + expected,
                error_kind::input);
  }
  const toml::node* find(const std::string& key) {
    taken_.insert(key);
    return table_->get(key);
  }
  const toml::node& need(const std::string& key, const std::string& expected) {
    const toml::node* n = find(key);
    if (n == nullptr) {
      miss(key, expected);
      refuse_missing();
    }
    return *n;
  }
  /// Notes that a key is missing, for all_there().
  void miss(const std::string& key, const std::string& expected) { missing_.emplace_back(key, expected); }
  void all_there() const {
    if (!missing_.empty()) refuse_missing();
  }
  double number(const toml::node& n, const std::string& key, double least, double most) const {
    const std::optional<double> v = n.is_number() ? n.value<double>() : std::nullopt;
    if (!v || !std::isfinite(*v) || *v < least || *v > most) {
      std::ostringstream range;
      range << "a number from " << least << " to " << most;
      refuse(&n, key, range.str());
    }
    return *v;
  }
  double number(const std::string& key, double least, double most) {
    if (const toml::node* n = find(key)) return number(*n, key, least, most);
    miss(key, "a number");
    return least;
  }
  std::int64_t whole(const toml::node& n, const std::string& key, std::int64_t least, std::int64_t most) const {
    const std::optional<std::int64_t> v = n.is_integer() ? n.value<std::int64_t>() : std::nullopt;
    if (!v || *v < least || *v > most)
      refuse(&n, key, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return *v;
  }
  std::int64_t whole(const std::string& key, std::int64_t least, std::int64_t most) {
    if (const toml::node* n = find(key)) return whole(*n, key, least, most);
    miss(key, "a whole number");
    return least;
  }
  std::string text(const std::string& key) {
    const toml::node& n = need(key, "a text");
    if (!n.is_string()) refuse(&n, key, "a text");
    return *n.value<std::string>();
  }
  const toml::array& list(const toml::node& n, const std::string& key, const std::string& expected) const {
    if (!n.is_array()) refuse(&n, key, expected);
    return *n.as_array();
  }
  model_section inner(const std::string& key) {
    const toml::node& n = need(key, "a table");
    if (!n.is_table()) refuse(&n, key, "a table in braces");
    return {file_, name_ + "." + key, *n.as_table()};
  }
  /// Refuses missing keys, and those that were never requested. REQUIRES: all keys were requested before.
  void all_known() const {
    all_there();
    for (const auto& [key, value] : *table_) {
      if (taken_.count(std::string(key.str())) != 0) continue;
      std::string known;
      for (const std::string& k : taken_) known += (known.empty() ? "" : ", ") + k;
      refuse(&value, std::string(key.str()), "one of the keys " + known);
    }
  }
  std::vector<std::string> keys() const {
    std::vector<std::string> all;
    for (const auto& [key, value] : *table_) all.emplace_back(key.str());
    return all;
  }
  const toml::table& table() const { return *table_; }

 private:
  model_section(const std::string& file, std::string name, const toml::table& t)
      : file_(file), name_(std::move(name)), table_(&t) {}
  [[noreturn]] void refuse_missing() const {
    const std::string line = file_ + ":" + std::to_string(table_->source().begin.line) + ": ";
    if (missing_.size() == 1)
      throw error(line + name_ + "." + printable(missing_[0].first) + " is missing: expected " + missing_[0].second,
                  error_kind::input);
    std::string keys;
    bool alike = true;
    for (const auto& [key, expected] : missing_) {
      keys += (keys.empty() ? "" : ", ") + name_ + "." + printable(key);
      alike = alike && expected == missing_[0].second;
    }
    throw error(line + "missing are " + keys +
                    (alike ? ": expected " + missing_[0].second : "; docs/machines.md says what they are"),
                error_kind::input);
  }
  const std::string& file_;
  std::string name_;
  const toml::table* table_;
  std::set<std::string> taken_;
  std::vector<std::pair<std::string, std::string>> missing_;  // keys, with what was expected
};

}  // namespace kith
