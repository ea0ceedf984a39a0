// Settings from environment variables. A value that is no number, or out of range, is an error that names the variable.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kith {

std::optional<std::string> environment(const char* variable);
/// Accepts a decimal number in [least, most]; with `bytes`, also a suffix K, M or G.
std::optional<std::int64_t> environment_number(const char* variable, std::int64_t least, std::int64_t most,
                                               bool bytes = false);

}  // namespace kith
