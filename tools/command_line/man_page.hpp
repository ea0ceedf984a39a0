// Man pages in roff's man macros: one for the tool, one for each verb.
#pragma once

#include "command_line/command_model.hpp"

#include <string>

namespace kith::tools {

/// NAME(1).
std::string man_page(const tool_model&);
/// NAME-VERB(1).
std::string man_page(const tool_model&, const command_model&);

}  // namespace kith::tools
