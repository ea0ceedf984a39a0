// How far a word is from a known one, for "did you mean".
#pragma once

#include <cstddef>
#include <string_view>

namespace kith {

/// How many letters were left out, put in, replaced, or swapped with their neighbour, if they are at most `most`; else more
/// than `most`. Capitals count as small letters.
std::size_t edits_between(std::string_view a, std::string_view b, std::size_t most);

}  // namespace kith
