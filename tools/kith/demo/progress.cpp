#include "demo/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace kith::tools {

progress::progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

void progress::stage(const std::string& what) {
  stage_ = what;
  if (terminal_) {
    show(what);
  } else {
    std::fflush(stdout);  // both may go to one file
    fmt::print(stderr, "{} ...\n", what);
  }
}

void progress::step(const std::string& what) {
  if (terminal_) show(stage_ + ": " + what);
}

void progress::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

void progress::show(const std::string& text) {
  std::fflush(stdout);
  fmt::print(stderr, "\r\033[K{} ...", text.substr(0, 90));  // a line that wraps could not be taken back
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace kith::tools
