// Makes text from files and other sources safe for a terminal.
//
// A name in a recording may hold any bytes: escape sequences that move the cursor or set the clipboard,
// newlines that forge a line of output. Code that shows such text must pass it through these functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kith {

/// The text, with control characters, characters that change the writing direction, and bytes that are not
/// UTF-8 written as \x1b or \u202e. A text of more than `most` bytes is cut and ends in "...".
std::string printable(std::string_view text, std::size_t most = std::string_view::npos);

/// The same for text of several lines, such as errors: keeps newlines.
std::string printable_lines(std::string_view text);

}  // namespace kith
