// "name:key=value,key=value": how a policy is chosen, with its options.
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

/// Takes the RIP paper's mark for page migration, "+pm" behind a policy's name, out; true if it was there.
bool take_migration(std::string& policy);
/// Puts it there.
void mark_migration(std::string& policy);

/// "name" of "name:key=value,...".
std::string_view policy_name(std::string_view text) noexcept;

/// The options given to a policy, checked against its table. What is asked for is in the table.
class policy_options {
 public:
  /// Splits "name:key=value,...". Throws kith::error for what does not have that form, for a key that the table does not
  /// have, and for a value that its option does not take.
  policy_options(std::string_view text, std::span<const policy_option> table);

  const std::string& policy() const noexcept { return name_; }

  /// Whether the table has such an option.
  bool has(std::string_view key) const noexcept;
  /// Whether the option has this word, which is one of its words.
  bool is(std::string_view key, std::string_view word) const;
  /// What stands for the word that was given: `values` are in the order of the table's words.
  template <class T, std::size_t N>
  T word(std::string_view key, const T (&values)[N]) const {
    return values[place_of_word(key, N)];
  }
  std::int64_t number(std::string_view key) const;
  /// None if it is a word.
  std::optional<std::int64_t> number_or_word(std::string_view key) const;
  /// Empty if it was not given.
  std::string text(std::string_view key) const;

  /// For what the table cannot know. Throws kith::error that names the policy, the option and its value.
  [[noreturn]] void refuse(std::string_view key, const std::string& expected) const;

 private:
  void check(const policy_option& option, std::string_view given) const;
  const policy_option& option_of(std::string_view key) const;
  std::size_t place_of_word(std::string_view key, std::size_t count) const;
  [[noreturn]] void refuse_key(std::string_view key) const;
  [[noreturn]] void refuse_value(const policy_option& option, std::string_view given) const;

  std::string name_;
  std::span<const policy_option> table_;
  std::map<std::string, std::string, std::less<>> given_;
};

}  // namespace kith
