// The source lines of a recording's addresses.
#pragma once

#include "recording/recording.hpp"

namespace kith::tools {

/// Fills in file, line, function and `own` of sites and blocks, and makes names of variables readable. Runs addr2line
/// (binutils) on the program and its libraries, which must still be where the recording says. Does nothing if the
/// recording has no addresses. Throws kith::error if addr2line cannot be run.
void add_sources(recording&);

}  // namespace kith::tools
