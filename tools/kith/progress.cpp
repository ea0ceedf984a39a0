#include "progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace kith::tools {

namespace {

using namespace std::chrono_literals;
constexpr auto notice_delay = 2s;

}  // namespace

progress::progress() : terminal_(isatty(STDERR_FILENO) == 1) {}

progress::~progress() {
  clear();
  {
    const std::lock_guard lock(guard_);
    over_ = true;
  }
  ended_.notify_one();
  if (watcher_.joinable()) watcher_.join();
}

void progress::stage(const std::string& what) {
  const std::lock_guard lock(guard_);
  begin(what);
  if (terminal_) {
    show(now());
  } else {
    std::fflush(stdout);  // both streams may go to one file
    fmt::print(stderr, "{} ...\n", what);
  }
}

void progress::step(const std::string& what) {
  const std::lock_guard lock(guard_);
  step_ = what;
  if (terminal_) show(now());
}

void progress::wait_for(const std::string& what) {
  const std::lock_guard lock(guard_);
  begin(what);
}

void progress::share(const std::string& what, double done) {
  const std::lock_guard lock(guard_);
  if (what_.empty()) {
    begin(what);
    unnamed_ = true;
  }
  (unnamed_ ? what_ : step_) = what;
  done_ = std::clamp(done, 0.0, 1.0);
  if (!terminal_ || clock::now() - last_ < 50ms) return;
  show(now());
}

void progress::clear() {
  const std::lock_guard lock(guard_);
  what_.clear();
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

void progress::begin(const std::string& what) {
  what_ = what;
  unnamed_ = false;
  step_.clear();
  done_.reset();
  since_ = clock::now();
  next_line_ = notice_delay;
  if (!watcher_.joinable()) watcher_ = std::thread([this] { watch(); });
}

void progress::watch() {
  std::unique_lock lock(guard_);
  while (!ended_.wait_for(lock, 500ms, [this] { return over_; })) tick();
}

void progress::tick() {
  const auto waited = clock::now() - since_;
  if (what_.empty() || waited < notice_delay) return;
  if (terminal_) {
    if (clock::now() - last_ >= 1s) show(now());
  } else if (waited >= next_line_) {
    next_line_ *= 2;
    std::fflush(stdout);
    fmt::print(stderr, "{}\n", now());
  }
}

std::string progress::now() const {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(clock::now() - since_);
  const std::string what = step_.empty() ? what_ : what_ + ": " + step_;
  const std::string time = seconds < notice_delay ? "" : fmt::format(", {} s", seconds.count());
  if (!done_) return what + " ..." + time;
  constexpr int width = 30;
  const int full = static_cast<int>(*done_ * width);
  return fmt::format("[{:#<{}}{:.<{}}] {:3.0f} % {}{}", "", full, "", width - full, *done_ * 100, what, time);
}

void progress::show(const std::string& text) {
  std::fflush(stdout);
  fmt::print(stderr, "\r\033[K{}", text.substr(0, 90));  // a line that wraps could not be removed again
  std::fflush(stderr);
  shown_ = true;
  last_ = clock::now();
}

}  // namespace kith::tools
