// Parses the text that chooses a policy and its options: "name:key=value,key=value".
#pragma once

#include "policy/contract/policy_option.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace kith {

/// Removes the RIP paper's mark for page migration, "+pm" after the policy's name; returns true if it was there.
bool take_migration(std::string& policy);
/// Adds that mark.
void mark_migration(std::string& policy);

/// "name" of "name:key=value,...".
std::string_view policy_name(std::string_view text) noexcept;

/// The options given to a policy, checked against its table. Only options of the table may be asked for.
class policy_options {
 public:
  /// Splits "name:key=value,...". Throws kith::error for text of another form, for a key that is not in the
  /// table, and for a value that its option does not allow.
  policy_options(std::string_view text, std::span<const policy_option> table);

  const std::string& policy() const noexcept { return name_; }

  /// Whether the table has this option.
  bool has(std::string_view key) const noexcept;
  /// Whether the option's value is `word`, which must be one of the option's words.
  bool is(std::string_view key, std::string_view word) const;
  /// The element of `values` for the word that was given; `values` are in the order of the table's words.
  template <class T, std::size_t N>
  T word(std::string_view key, const T (&values)[N]) const {
    return values[index_of_word(key, N)];
  }
  std::int64_t number(std::string_view key) const;
  /// Empty if the value is a word.
  std::optional<std::int64_t> number_or_word(std::string_view key) const;
  /// Empty if the option was not given.
  std::string text(std::string_view key) const;

  /// For checks that the table cannot express. Throws kith::error that names the policy, the option and its
  /// value.
  [[noreturn]] void refuse(std::string_view key, const std::string& expected) const;

 private:
  void check(const policy_option& option, std::string_view given) const;
  const policy_option& option_of(std::string_view key) const;
  std::size_t index_of_word(std::string_view key, std::size_t count) const;
  [[noreturn]] void refuse_key(std::string_view key) const;
  [[noreturn]] void refuse_value(const policy_option& option, std::string_view given) const;

  std::string name_;
  std::span<const policy_option> table_;
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace kith
