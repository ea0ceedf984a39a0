// Folds text into lines of a bounded width.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kith::tools {

/// The width of tables, help and messages.
inline constexpr std::size_t page_columns = 100;

/// Folds `text` into lines of at most `width` columns. Each line after the first starts with `indent`
/// spaces; the first line has that many columns less.
std::string folded(std::string_view text, std::size_t indent, std::size_t width = page_columns);

}  // namespace kith::tools
