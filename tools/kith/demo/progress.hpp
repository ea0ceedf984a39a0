// What a long verb is doing: one line that changes, on a terminal; elsewhere a line for each stage.
#pragma once

#include <string>

namespace kith::tools {

/// Writes to standard error, so that standard output has the results alone.
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
  /// Removes the line, before something else is written.
  void clear();

 private:
  void show(const std::string& text);

  bool terminal_;
  bool shown_ = false;
  std::string stage_;
};

}  // namespace kith::tools
