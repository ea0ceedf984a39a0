// Names of types as a person writes them.
#pragma once

#include <string>

namespace kith {

/// Of the name that std::type_info gives, or that name itself if it is none of the compiler's.
std::string demangled(const char* name);

}  // namespace kith
