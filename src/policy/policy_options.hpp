// "name:key=value,key=value": how a policy is chosen, with its options.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kith {

/// Takes the RIP paper's mark for page migration, "+pm" behind a policy's name, out; true if it was there.
bool take_migration(std::string& policy);
/// Puts it there.
void mark_migration(std::string& policy);

/// The options given to a policy. Each is taken out by name; what nobody takes is an error.
class policy_options {
 public:
  /// Splits "name:key=value,...". Throws kith::error for what does not have that form.
  explicit policy_options(std::string_view text);

  const std::string& policy() const noexcept { return name_; }

  /// The value of `key`, one of `choices`; `otherwise` if it was not given. Throws kith::error naming the choices.
  template <class Enum>
  Enum take(const char* key, Enum otherwise, std::initializer_list<std::pair<std::string_view, Enum>> choices) {
    std::string given = text_of(key, "");
    if (given.empty()) return otherwise;
    std::string names;
    for (const auto& [name, value] : choices) {
      if (name == given) return value;
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    refuse(key, given, "one of " + names);
  }
  std::int64_t take_number(const char* key, std::int64_t otherwise, std::int64_t least, std::int64_t most);
  std::string take_text(const char* key, const char* otherwise) { return text_of(key, otherwise); }
  /// As take_number(), but `word` also stands for `otherwise`.
  std::int64_t take_number_or(const char* key, const char* word, std::int64_t otherwise, std::int64_t least,
                              std::int64_t most);
  /// Throws kith::error if an option is left that nobody took.
  void all_taken() const;

 private:
  std::int64_t number_of(const char* key, const std::string& given, std::int64_t least, std::int64_t most,
                         const std::string& or_word) const;
  std::string text_of(const char* key, const char* otherwise);
  [[noreturn]] void refuse(const char* key, const std::string& given, const std::string& expected) const;

  std::string name_;
  std::map<std::string, std::string> given_;
  std::vector<std::string> known_;  // keys asked for so far
};

}  // namespace kith
