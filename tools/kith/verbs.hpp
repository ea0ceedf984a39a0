// THE list of the command line's verbs: what main.cpp offers. A new verb is one file, verb_NAME.cpp, which defines the
// function declared here, and its line in the list.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include <functional>

namespace kith::tools {

/// What a verb tells the shell. Each verb's --help says when it gives which.
enum class outcome { fine = 0, limited = 1, error = 2 };

/// Declares a verb's options on its command, and returns what runs it once the command line is read. The options live
/// in what is returned: CLI11 keeps pointers to them.
using verb_setup = std::function<outcome()>(CLI::App& command);

verb_setup add_app;
verb_setup add_apps;
verb_setup add_demo;
verb_setup add_doctor;
verb_setup add_machine;
verb_setup add_policies;

struct verb {
  const char* name;
  const char* summary;
  verb_setup* add;
};

inline constexpr verb verbs[] = {
    {"demo", "PageRank of this machine's packages, and heat, under three policies", add_demo},
    {"app", "run a program, verify its result, report what was counted", add_app},
    {"apps", "the programs and their parameters", add_apps},
    {"policies", "the policies and their options", add_policies},
    {"doctor", "what this machine is, what is allowed, and what Kith will do", add_doctor},
    {"machine", "cores, memory nodes and distances of a machine", add_machine},
};

}  // namespace kith::tools
