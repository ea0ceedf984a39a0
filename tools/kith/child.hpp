// Runs a program as a child of this one.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

struct child_result {
  int status = 0;  // as returned by waitpid()

  bool clean() const noexcept;
  /// The signal that ended the child; 0: it exited.
  int signal() const noexcept;
};

/// Runs `words` with these variables added to the environment, and waits. A first word "kith" stands for
/// this tool itself. `quiet`: the child's standard output is dropped. Meanwhile Ctrl-C is left to the
/// child, and SIGTERM and SIGHUP are passed on to it. `bound`: the child gets SIGTERM if this process is killed.
/// `started` is called with the child's id; if it throws, the child gets SIGTERM, and has ended when run_child() passes
/// the exception on. Must not be called by two threads at once. Throws kith::error if the child cannot be started.
child_result run_child(std::vector<std::string> words,
                       const std::vector<std::pair<std::string, std::string>>& environment, bool quiet = false,
                       bool bound = false, const std::function<void(pid_t)>& started = {});

}  // namespace kith::tools
