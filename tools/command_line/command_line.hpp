// A command line of verbs: parsing, complaints in one line, exit codes. For kith and kith-bench.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>

#include <cstdint>
#include <functional>
#include <span>

namespace kith::tools {

/// What a verb tells the shell. Each verb's --help says when it gives which.
enum class outcome { fine = 0, limited = 1, error = 2 };

/// Declares a verb's options on its command, and returns what runs it once the command line is read. The options live
/// in what is returned: CLI11 keeps pointers to them.
using verb_setup = std::function<outcome()>(CLI::App& command);

struct verb {
  const char* name;
  const char* summary;
  verb_setup* add;
};

struct tool {
  const char* name;
  const char* summary;
  const char* version;
  const char* footer;
  std::span<const verb> verbs;
};

/// Reads the command line, runs a verb, and returns the exit code. What a verb throws becomes one line on stderr, as does
/// output that cannot be written, help included; both end with outcome::error.
int run(const tool&, int argc, char** argv);

/// A whole number in [least, most]; the complaint says so.
CLI::Validator whole_number(std::int64_t least, std::int64_t most);

}  // namespace kith::tools
