// Panels side by side with a key of the nodes: the frame of all pictures of `kith placement`.
#pragma once

#include <string>
#include <vector>

namespace kith::tools {

struct panel {
  std::string title;
  std::string drawing;             // SVG, starting at (0, 0)
  std::vector<std::string> below;  // lines of text, as many as the other panels have
};
inline constexpr double panel_width = 220;

/// An SVG document.
std::string side_by_side(const std::string& title, const std::vector<panel>&, double panel_height, std::size_t nodes);

}  // namespace kith::tools
