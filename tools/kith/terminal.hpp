// Output of the verbs: colours only on a terminal, and folded lines.
#pragma once

#include "command_line/folded.hpp"

#include <string>
#include <string_view>

namespace kith::tools {

enum class tone { plain, strong, faint, good, warning, bad };

/// `text` in the colours of `t` if standard output is a terminal and NO_COLOR is not set; else as it is.
std::string styled(std::string_view text, tone t);

}  // namespace kith::tools
