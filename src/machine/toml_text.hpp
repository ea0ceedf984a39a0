// toml++, such that no text ends the program. Includes it for whoever reads TOML.
//
// toml++ states what it takes for given by assertions. Some texts (`[[[[`) break them: then a build with assertions ends,
// and in one without, what follows is not defined. Here they are checked in every build, and a broken one is an error.
#pragma once

#include <string>

namespace kith {

/// Thrown in the place of a failed assertion.
struct toml_assertion {};
[[noreturn]] inline void broken_toml_assertion() { throw toml_assertion(); }

}  // namespace kith

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(holds) ((holds) ? static_cast<void>(0) : ::kith::broken_toml_assertion())
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace kith {

inline constexpr std::size_t most_toml_bytes = std::size_t{16} << 20;

/// Throws kith::error that names `file` and the line. For texts of up to most_toml_bytes.
toml::table parse_toml(const std::string& text, const std::string& file);

}  // namespace kith
