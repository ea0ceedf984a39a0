// A progress bar on standard error, where that is a terminal; nothing elsewhere. Thread-safe.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace kith::tools {

class progress_bar {
 public:
  explicit progress_bar(std::string title);
  /// Wipes itself out.
  ~progress_bar();
  progress_bar(const progress_bar&) = delete;
  progress_bar& operator=(const progress_bar&) = delete;

  /// `share` of the work is done, 0 to 1; `what` is said beside it.
  void show(const std::string& what, double share);

 private:
  std::string title_;
  bool visible_;
  std::chrono::steady_clock::time_point shown_{};
  std::mutex guard_;
};

}  // namespace kith::tools
