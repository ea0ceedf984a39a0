// What a tool tells of itself: its verbs, and the words that its arguments may be. Help, man pages and shell completion
// are made from this and from the options that verbs declare.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kith::tools {

/// What a verb tells the shell. Each verb's --help says when it gives which.
enum class outcome { fine = 0, limited = 1, error = 2 };

/// Declares a verb's options on its command, and returns what runs it once the command line is read. The options live
/// in what is returned: CLI11 keeps pointers to them.
using verb_setup = std::function<outcome()>(CLI::App& command);

/// A word that may be a verb's first argument and has options of its own: a program of `kith app`.
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

/// The words that stand for a placeholder of the help, as POLICY: the policies' names. An option's type names
/// placeholders and literal words, "MACHINE|FILE", "block|abstract"; a list is "POLICY,...". FILE and FOLDER are paths.
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
