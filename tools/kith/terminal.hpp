// How the verbs write for people: colours only where a terminal shows them, and columns.
#pragma once

#include <string>
#include <string_view>

namespace kith::tools {

enum class tone { plain, strong, faint, good, warning, bad };

/// `text` in the colours of `t` if standard output is a terminal and NO_COLOR is not set; else as it is.
std::string styled(std::string_view text, tone t);

/// Folds `text` into lines of at most `width` columns; each line after the first starts with `indent` spaces.
std::string folded(std::string_view text, std::size_t indent, std::size_t width = 100);

}  // namespace kith::tools
