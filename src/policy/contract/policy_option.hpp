// One option of a policy, described once: parsing, `kith policies` and the documents read it from here.
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
  std::string_view words;             // that are values, separated by '|', the default first; empty: none
  std::string_view help;              // one line, without a full stop
  std::int64_t least = 0, most = -1;  // numbers that are values; most < least: none
  std::int64_t otherwise = 0;         // the default, where there are no words
  bool is_text = false;               // any text; `words` is then what it stands for
  bool is_last = false;               // ... with all that follows, commas included
};

/// One of these words.
constexpr policy_option one_of(std::string_view key, std::string_view words, std::string_view help) {
  return {.key = key, .words = words, .help = help};
}
constexpr policy_option number(std::string_view key, std::int64_t otherwise, std::int64_t least, std::int64_t most,
                               std::string_view help) {
  return {.key = key, .words = {}, .help = help, .least = least, .most = most, .otherwise = otherwise};
}
/// A number, or the word, which is the default.
constexpr policy_option number_or(std::string_view key, std::string_view word, std::int64_t least, std::int64_t most,
                                  std::string_view help) {
  return {.key = key, .words = word, .help = help, .least = least, .most = most};
}
constexpr policy_option file_name(std::string_view key, std::string_view stands_for, std::string_view help) {
  return {.key = key, .words = stands_for, .help = help, .is_text = true};
}

/// A policy with its options: the last option of a text.
constexpr policy_option policy_text(std::string_view key, std::string_view help) {
  return {.key = key, .words = "POLICY", .help = help, .is_text = true, .is_last = true};
}

/// The tables of a policy and of what it is composed of, as one.
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

/// "victim=nearest|cyclic", "batch=32", "window=auto|N", "file=RECORDING": the default first.
std::string text_of(const policy_option& option);
/// All of them, separated by ", ".
std::string text_of(std::span<const policy_option> options);

}  // namespace kith
