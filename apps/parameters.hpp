// The parameters of programs. Each program declares its own, with a default and a small preset; arguments
// are checked against these declarations.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kith::apps {

struct parameter {
  const char* name;      // "size" is given as --size VALUE
  const char* standard;  // the value if none is given; `flag`: takes no value, and is off
  const char* small;     // the value with --small; the program must end within 2 seconds on two slow cores,
                         // verification included
  const char* what;
  const char* paper = nullptr;  // the value with --paper, which is the paper's; null: the standard
};

/// Which preset a parameter takes if no value is given.
enum class preset : std::uint8_t { standard, small, paper };

/// The `standard` of a parameter that is on or off. It is recognised by its address, so it is an array:
/// literals in several files need not have one address.
inline constexpr char flag[] = "";

/// The values of a program's parameters: those given, else the presets.
class arguments {
 public:
  using given = std::vector<std::pair<std::string, std::string>>;
  /// Throws kith::error if a parameter is unknown to the program `app`, or is given twice.
  arguments(std::string_view app, std::span<const parameter> parameters, const given& values, preset otherwise,
            std::uint64_t seed = 1);

  /// Throws kith::error unless the value is a whole number in [least, most]. A preset is brought into that
  /// range, because the range depends on other parameters (a block of 32 rows in a grid of 16).
  std::int64_t number(std::string_view name, std::int64_t least, std::int64_t most) const;
  std::string text(std::string_view name) const;
  bool on(std::string_view name) const;
  /// True if the user gave the parameter.
  bool has(std::string_view name) const;
  /// Throws kith::error if both were given.
  void exclude(std::string_view one, std::string_view other) const;

  /// For generated input.
  std::uint64_t seed() const noexcept { return seed_; }

 private:
  const parameter& declared(std::string_view name) const;
  const std::string* find(std::string_view name) const;

  std::string app_;
  std::span<const parameter> parameters_;
  given values_;
  preset otherwise_;
  std::uint64_t seed_;
};

/// Reads a command line: "--name value", "--name=value" or "--flag". Throws kith::error for anything else.
arguments::given read_arguments(std::string_view app, std::span<const parameter> parameters,
                                const std::vector<std::string>& words);

}  // namespace kith::apps
