// Draws a reproduced result with the values that the paper prints.
#pragma once

#include "paper/reproduction.hpp"

#include <string>

namespace kith::tools {

/// An SVG document of one metric. If `metric` is empty, of the speed-up, or of the first metric if there is no
/// speed-up. Throws kith::error if there is no such metric.
std::string draw_paper(const reproduction&, const reproduced&, const std::string& metric);

}  // namespace kith::tools
