// The demo's case in which placement matters: a program on a simulated machine of eight sockets. For `kith demo`.
#pragma once

#include "progress.hpp"

#include <string>

namespace kith::tools {

/// Records heat dry, as on eight sockets, and runs the recording on a modelled machine under several
/// policies. Prints a table, writes a picture to `picture` (unless that is empty), and returns the
/// conclusion as a sentence. The figures are the same on every machine.
std::string run_elsewhere(const std::string& picture, progress&);

}  // namespace kith::tools
