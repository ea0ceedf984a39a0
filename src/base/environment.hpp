// Settings from environment variables. A value that is no number or is out of range is an error that names the
// variable. A variable whose name is close to a known one is reported on stderr.
#pragma once

#include "base/variables.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith {

/// The value of any variable; none if it is not set or empty.
std::optional<std::string> environment(const char* name);

/// The value of the variable in the environment.
std::optional<std::string> value_of(const variable& v);
/// That value as a number. Throws kith::error if it is no number, or out of range.
std::optional<std::int64_t> number_of(const variable& v);
/// The default number.
std::int64_t standard_number(const variable& v);

/// The table of all variables in Markdown, as the documents show it.
std::string table_of_variables();

/// A variable that is set and unknown, but whose name is close to a known one.
struct misspelt {
  std::string name;
  const variable* meant;
};
std::vector<misspelt> misspelt_variables();
/// Prints one line on stderr for each of these, once per process.
void tell_misspelt_variables();

}  // namespace kith
