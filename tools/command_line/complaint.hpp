// What was wrong with a command line, and what the user probably meant.
#pragma once

#include "command_line/tool.hpp"

#include <CLI/App.hpp>
#include <CLI/Error.hpp>

#include <string>
#include <vector>

namespace kith::tools {

struct complaint {
  std::string command;  // "kith sim"
  std::string message;
  std::string hint = {};  // what to do next; may be empty

  /// Two lines for people.
  std::string text() const;
  /// A complete document: {"error": {...}}.
  std::string json() const;
};

/// The complaint for an error of CLI11 about the words that were `given`.
complaint complaint_of(const tool&, const CLI::App&, const CLI::Error&, const std::vector<std::string>& given);

}  // namespace kith::tools
