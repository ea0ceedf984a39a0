// The name that was probably meant, for errors about unknown names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kith {

/// How many letters were added, left out, changed, or swapped with their neighbour. Ignores case.
std::size_t spelling_distance(std::string_view a, std::string_view b);

/// The one of `names` that is spelt most like `word`; empty if each differs in more than a third of its letters.
std::string nearest_name(std::string_view word, std::span<const std::string> names);

/// "no WHAT 'WORD'; did you mean 'NAME'? There are: NAMES", or without the question if no name is near.
std::string no_such(std::string_view what, std::string_view word, std::span<const std::string> names);

}  // namespace kith
