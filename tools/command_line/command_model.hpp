// A verb's command as man pages and shell completion need it, read from the options that the verb has declared.
#pragma once

#include "command_line/tool.hpp"

#include <CLI/App.hpp>

#include <string>
#include <vector>

namespace kith::tools {

/// What an argument or an option's value may be.
struct value_model {
  std::string type;                // as shown in the help: "MACHINE|FILE"
  std::vector<std::string> words;  // the known ones
  bool files = false, folders = false;
  bool list = false;  // several values, separated by commas
};

struct option_model {
  std::string short_name, long_name;  // "-o", "--output"; for an argument, its name is the long one
  std::string text;
  bool takes_value = false, required = false, repeats = false;
  value_model value;
};

struct command_model {
  std::string name, summary;
  std::vector<option_model> arguments, options;
  std::vector<subject> subjects;
  // The paragraphs of the footer, by how they begin.
  std::vector<std::string> usage, description, json, exit_code;
};

command_model model_of(const CLI::App&, const verb*, std::span<const placeholder>);

/// All verbs of a tool.
struct tool_model {
  std::string name, summary, version;
  std::vector<option_model> options;  // those that need no verb
  std::vector<std::string> description;
  std::vector<command_model> commands;
};
tool_model model_of(const tool&, const CLI::App&);

}  // namespace kith::tools
