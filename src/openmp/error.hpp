// The directive `error`.
#pragma once

#include <string_view>

namespace kith::openmp {

/// Prints the message, which may be empty, and where the directive is, if that is known. Ends the program if `fatal`.
void reach_error(bool fatal, std::string_view text, std::string_view where);

}  // namespace kith::openmp
