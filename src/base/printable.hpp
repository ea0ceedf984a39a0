// Text from files and from outside, made safe for a terminal.
//
// A name in a recording may hold any bytes: escape sequences that move the cursor or set the clipboard, newlines that forge
// a line of output. Whatever shows such text to people passes it through here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kith {

/// The text with control characters, characters that turn the direction of writing, and bytes that are no UTF-8 written
/// as \x1b or \u202e; of more than `most` bytes the first ones, and "...".
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

/// The same for text of several lines, such as errors: a newline stays one.
std::string printable_lines(std::string_view text);

}  // namespace kith
