// Running a program as a child of this one.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

struct child_result {
  int status = 0;  // as waitpid() gives it

  bool clean() const noexcept;
  /// The signal that ended it; 0: none.
  int signal() const noexcept;
};

/// Runs `words` with these variables added to the environment, and waits; a first word "kith" is this very tool. `quiet`:
/// its standard output is dropped. Meanwhile Ctrl-C is the child's affair, and SIGTERM and SIGHUP are passed on to it. By
/// one thread at a time. Throws kith::error if it cannot be started.
child_result run_child(std::vector<std::string> words,
                       const std::vector<std::pair<std::string, std::string>>& environment, bool quiet = false);

}  // namespace kith::tools
