// A command line of verbs: parsing, help, complaints in one line or as JSON, exit codes. Used by kith and kith-bench.
#pragma once

#include "command_line/tool.hpp"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kith::tools {

/// Reads the command line, runs a verb, and returns the exit code. If the verb throws, or output (help
/// included) cannot be written, one line on stderr says so and the exit code is outcome::error. With --json
/// the error is also on standard output, as {"error": {"command", "message", "hint"}}, so that a reader of
/// JSON gets JSON in both cases.
///
/// `help VERB` is the same as `VERB --help`; `help --write FOLDER` makes man pages and shell completion.
int run(const tool&, int argc, char** argv);

/// A whole number in [least, most]; the error message names the bounds.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

/// Any text but an empty one, which a script passes by mistake where a variable is not set.
CLI::Validator some_text();

/// For an option with several values: it takes one each time that it is given, and leaves what follows to others.
CLI::Option* one_value_each_time(CLI::Option*);

/// "a,b:x=1,y=2,c" is a, b:x=1,y=2 and c: a word with '=' is an option of the choice before it.
std::vector<std::string> split_choices(const std::string& text);

}  // namespace kith::tools
