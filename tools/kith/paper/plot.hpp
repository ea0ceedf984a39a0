// A reproduced result as a picture, with what the paper prints.
#pragma once

#include "paper/reproduction.hpp"

#include <string>

namespace kith::tools {

/// An SVG document of one metric; if `metric` is empty the speed-up, or else the first. Throws kith::error if there is no such metric.
std::string draw_paper(const reproduction&, const reproduced&, const std::string& metric);

}  // namespace kith::tools
