#include "progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace kith::tools {

progress::progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

void progress::stage(const std::string& what) {
  const std::lock_guard lock(guard_);
  stage_ = what;
  if (terminal_) {
    show(what + " ...");
  } else {
    std::fflush(stdout);  // both may go to one file
    fmt::print(stderr, "{} ...\n", what);
  }
}

void progress::step(const std::string& what) {
  const std::lock_guard lock(guard_);
  if (terminal_) show(stage_ + ": " + what + " ...");
}

void progress::share(const std::string& what, double done) {
  const std::lock_guard lock(guard_);
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_ || now - last_ < std::chrono::milliseconds(50)) return;
  last_ = now;
  constexpr int width = 30;
  const int full = static_cast<int>(std::clamp(done, 0.0, 1.0) * width);
  show(fmt::format("[{:#<{}}{:.<{}}] {:3.0f} % {}", "", full, "", width - full, done * 100, what));
}

void progress::clear() {
  const std::lock_guard lock(guard_);
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

void progress::show(const std::string& text) {
  std::fflush(stdout);
  fmt::print(stderr, "\r\033[K{}", text.substr(0, 90));  // a line that wraps could not be taken back
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace kith::tools
