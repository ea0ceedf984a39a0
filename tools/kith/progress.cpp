#include "progress.hpp"

#include <fmt/core.h>

#include <unistd.h>
#include <algorithm>
#include <utility>

namespace kith::tools {

progress_bar::progress_bar(std::string title) : title_(std::move(title)), visible_(::isatty(2) == 1) {}

progress_bar::~progress_bar() {
  if (visible_) fmt::print(stderr, "\r\033[K");
}

void progress_bar::show(const std::string& what, double share) {
  if (!visible_) return;
  const std::lock_guard lock(guard_);
  const auto now = std::chrono::steady_clock::now();
  if (now - shown_ < std::chrono::milliseconds(50)) return;
  shown_ = now;
  constexpr int width = 30;
  const int full = static_cast<int>(std::clamp(share, 0.0, 1.0) * width);
  fmt::print(stderr, "\r\033[K{} [{:#<{}}{:.<{}}] {:3.0f} % {}", title_, "", full, "", width - full, share * 100, what);
}

}  // namespace kith::tools
