// Settings from environment variables. A value that is no number, or out of range, is an error that names the variable; a
// variable whose name is nearly that of a known one is said on stderr.
#pragma once

#include "base/variables.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kith {

/// Any variable; one that is empty counts as not set.
std::optional<std::string> environment(const char* name);

/// What is said of it in the environment.
std::optional<std::string> value_of(const variable& v);
/// The same as a number. Throws kith::error if it is none, or out of range.
std::optional<std::int64_t> number_of(const variable& v);
/// The number that holds if nothing is said.
std::int64_t standard_number(const variable& v);

/// The table of all variables as the documents show it, in Markdown.
std::string table_of_variables();

/// A variable that is set, is not known, and is nearly named as one that is.
struct misspelt {
  std::string name;
  const variable* meant;
};
std::vector<misspelt> misspelt_variables();
/// One line on stderr for each of these; once in a process.
void tell_misspelt_variables();

}  // namespace kith
