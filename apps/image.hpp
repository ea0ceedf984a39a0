// Reads images as shades of grey from PNG files. For the programs of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kith::apps {

struct image {
  std::int64_t rows = 0, columns = 0;
  std::vector<std::uint8_t> shades;  // by rows; 0: black
};

/// Colours become shades; transparent pixels are drawn on black. Throws kith::error, with the file name, if the file is
/// no PNG or is cut off, and in every build without libpng.
image read_image(const std::string& path);

}  // namespace kith::apps
