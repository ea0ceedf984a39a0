// The parts that the verbs' pictures share: colours, text, the file.
#pragma once

#include <cstddef>
#include <string>

namespace kith::tools {

/// The i-th of `count` colours. Colour-blind readers can tell up to eight apart (Okabe and Ito).
std::string color_of(std::size_t i, std::size_t count);
/// Escapes text for SVG elements and attributes. Bytes that XML cannot represent (control characters, invalid UTF-8)
/// are replaced.
std::string escaped(const std::string& text);
/// Writes an SVG document. If the name ends in .png, rsvg-convert renders it. Throws kith::error if the
/// file cannot be written or has another ending, or if there is no such program.
void write_picture(const std::string& svg, const std::string& file);

}  // namespace kith::tools
