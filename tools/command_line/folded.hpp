// Text in lines of a bounded width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kith::tools {

/// What tables, help and messages keep to.
inline constexpr std::size_t page_columns = 100;

/// Folds `text` into lines of at most `width` columns; each line after the first starts with `indent` spaces, and so
/// many columns of the first are taken.
std::string folded(std::string_view text, std::size_t indent, std::size_t width = page_columns);

}  // namespace kith::tools
