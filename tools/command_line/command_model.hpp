// A verb's command as man pages and shell completion need it, read from what it has declared.
#pragma once

#include "command_line/tool.hpp"

#include <CLI/App.hpp>

#include <string>
#include <vector>

namespace kith::tools {

/// What an argument or an option's value may be.
struct value_model {
  std::string type;                // as the help has it: "MACHINE|FILE"
  std::vector<std::string> words;  // those that are known
  bool files = false, folders = false;
  bool list = false;  // several, with commas between
};

struct option_model {
  std::string short_name, long_name;  // "-o", "--output"; an argument has its name as the long one
  std::string text;
  bool takes_value = false, required = false, repeats = false;
  value_model value;
};

struct command_model {
  std::string name, summary;
  std::vector<option_model> arguments, options;
  std::vector<subject> subjects;
  // The footer, by what its paragraphs begin with.
  std::vector<std::string> usage, description, json, exit_code;
};

command_model model_of(const CLI::App&, const verb*, std::span<const placeholder>);

/// All verbs of a tool.
struct tool_model {
  std::string name, summary, version;
  std::vector<option_model> options;  // without a verb
  std::vector<std::string> description;
  std::vector<command_model> commands;
};
tool_model model_of(const tool&, const CLI::App&);

}  // namespace kith::tools
