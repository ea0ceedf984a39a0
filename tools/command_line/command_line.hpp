// A command line of verbs: parsing, help, complaints in one line or as JSON, exit codes. For kith and kith-bench.
#pragma once

#include "command_line/tool.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <cstdint>

namespace kith::tools {

/// Reads the command line, runs a verb, and returns the exit code. What a verb throws becomes one line on stderr, as does
/// output that cannot be written, help included; both end with outcome::error. With --json the error is also on standard
/// output, as {"error": {"command", "message", "hint"}}: who reads JSON there finds JSON in both cases.
///
/// `help VERB` is the same as `VERB --help`; `help --write FOLDER` makes man pages and shell completion.
int run(const tool&, int argc, char** argv);

/// A whole number in [least, most]; the complaint says so.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

}  // namespace kith::tools
