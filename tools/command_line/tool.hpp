// What a tool declares about itself: its verbs, and the words that its arguments may be. Help, man pages
// and shell completion are made from this and from the options that verbs declare.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kith::tools {

/// The exit code of a verb. Each verb's --help says when it returns which.
enum class outcome { fine = 0, limited = 1, error = 2, lost = 3 };

/// Declares a verb's options on its command, and returns the function that runs the verb once the command
/// line is read. That function owns the options, because CLI11 keeps pointers to them.
using verb_setup = std::function<outcome()>(CLI::App& command);

/// A word that may be a verb's first argument and has options of its own, such as a program of `kith app`.
struct subject {
  struct option {
    std::string name, text;
    bool takes_value = true;
  };
  std::string name, text;
  std::vector<option> options;
};

struct verb {
  const char* name;
  const char* summary;
  verb_setup* add;
  std::vector<subject> (*subjects)() = nullptr;
};

/// The words that a placeholder of the help stands for: POLICY stands for the policies' names. An option's
/// type consists of placeholders and literal words: "MACHINE|FILE", "block|abstract"; a list is
/// "POLICY,...". FILE and FOLDER are paths.
struct placeholder {
  const char* name;
  std::vector<std::string> (*words)();
};

struct tool {
  const char* name;
  const char* summary;
  const char* version;
  const char* footer;
  std::span<const verb> verbs;
  std::span<const placeholder> placeholders = {};
};

}  // namespace kith::tools
