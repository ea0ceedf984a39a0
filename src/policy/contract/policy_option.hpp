// The description of one option of a policy. Parsing, `kith policies` and the documents use it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kith {

/// Made by one_of(), number(), number_or(), file_name() and policy_text().
struct policy_option {
  std::string_view key;
  std::string_view words;             // the words allowed as values, separated by '|', the default first; empty: none
  std::string_view help;              // one line, without a full stop
  std::int64_t least = 0, most = -1;  // the numbers allowed as values; most < least: none
  std::int64_t otherwise = 0;         // the default, if there are no words
  bool is_text = false;               // any text is allowed; `words` is then its placeholder
  bool is_last = false;               // the text includes all that follows, even commas
};

/// An option whose value is one of these words.
constexpr policy_option one_of(std::string_view key, std::string_view words, std::string_view help) {
  return {.key = key, .words = words, .help = help};
}
constexpr policy_option number(std::string_view key, std::int64_t otherwise, std::int64_t least, std::int64_t most,
                               std::string_view help) {
  return {.key = key, .words = {}, .help = help, .least = least, .most = most, .otherwise = otherwise};
}
/// An option whose value is a number, or the word, which is the default.
constexpr policy_option number_or(std::string_view key, std::string_view word, std::int64_t least, std::int64_t most,
                                  std::string_view help) {
  return {.key = key, .words = word, .help = help, .least = least, .most = most};
}
/// An option that names a file, without which the policy cannot run (policy_entry::needs_file).
constexpr policy_option file_name(std::string_view key, std::string_view stands_for, std::string_view help) {
  return {.key = key, .words = stands_for, .help = help, .is_text = true};
}

/// An option whose value is a policy with its options; must come last in a text.
constexpr policy_option policy_text(std::string_view key, std::string_view help) {
  return {.key = key, .words = "POLICY", .help = help, .is_text = true, .is_last = true};
}

/// Joins the tables of a policy and its parts into one.
template <std::size_t... Sizes>
constexpr auto joined(const std::array<policy_option, Sizes>&... tables) {
  std::array<policy_option, (Sizes + ... + 0)> all{};
  std::size_t n = 0;
  (
      [&] {
        for (const policy_option& o : tables) all[n++] = o;
      }(),
      ...);
  return all;
}

/// As "victim=nearest|cyclic", "batch=32", "window=auto|N", "file=RECORDING": the default comes first.
std::string text_of(const policy_option& option);
/// The texts of all options, separated by ", ".
std::string text_of(std::span<const policy_option> options);

}  // namespace kith
