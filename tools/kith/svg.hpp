// What the pictures of the verbs share: colours, text, the file.
#pragma once

#include <cstddef>
#include <string>

namespace kith::tools {

/// The i-th of `count` colours. Up to eight are told apart by people who see colours differently (Okabe and Ito).
std::string color_of(std::size_t i, std::size_t count);
/// For text in SVG, in elements and in attributes: what XML cannot hold (control characters, bytes that are no UTF-8) is
/// replaced.
std::string escaped(const std::string& text);
/// Writes a whole SVG document. A name that ends in .png is drawn by rsvg-convert. Throws kith::error if the file cannot be
/// written, has another ending, or if there is no such program.
void write_picture(const std::string& svg, const std::string& file);

}  // namespace kith::tools
