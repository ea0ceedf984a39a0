// The parameters of programs: each program declares its own, with a default and a small preset; arguments are checked
// against them.
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
  const char* standard;  // the value if none is given; flag: takes no value, and is off
  const char* small;     // the same with --small: ends within 2 seconds on two slow cores, verification included
  const char* what;
  const char* paper = nullptr;  // the same with --paper: as the paper has it; null: as standard
};

/// Which of a parameter's values is taken where none is given.
enum class preset : std::uint8_t { standard, small, paper };

/// What `parameter::standard` is for something that is on or off. Known by its address: an array, because literals of
/// several files need not be one.
inline constexpr char flag[] = "";

/// The values of a program's parameters: those given, else the presets.
class arguments {
 public:
  using given = std::vector<std::pair<std::string, std::string>>;
  /// Throws kith::error for a parameter that the program `app` does not have, or one given twice.
  arguments(std::string_view app, std::span<const parameter> parameters, const given& values, preset otherwise,
            std::uint64_t seed = 1);

  /// Throws kith::error unless the value is a whole number in [least, most]. A preset is brought into that range: it
  /// depends on other parameters (a block of 32 rows in a grid of 16).
  std::int64_t number(std::string_view name, std::int64_t least, std::int64_t most) const;
  std::string text(std::string_view name) const;
  bool on(std::string_view name) const;
  /// Whether the user gave it.
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

/// From a command line, "--name value", "--name=value" or "--flag". Throws kith::error for anything else.
arguments::given read_arguments(std::string_view app, std::span<const parameter> parameters,
                                const std::vector<std::string>& words);

}  // namespace kith::apps
