// What a long verb is doing: one line that changes, on a terminal; elsewhere a line for each stage.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace kith::tools {

/// Writes to standard error, so that standard output has the results alone. Thread-safe.
class progress {
 public:
  progress();
  ~progress() { clear(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// A new stage.
  void stage(const std::string& what);
  /// What the stage is doing now; shown on terminals alone.
  void step(const std::string& what);
  /// The same with a bar: how much of it is done, 0 to 1. Not shown more often than people can read.
  void share(const std::string& what, double done);
  /// Removes the line, before something else is written.
  void clear();

 private:
  void show(const std::string& text);

  std::mutex guard_;
  bool terminal_;
  bool shown_ = false;
  std::string stage_;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace kith::tools
