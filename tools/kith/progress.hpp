// What a long verb is doing. On a terminal: one line that changes. Elsewhere: a line for each stage, and now and then one
// that says how far it is. What takes less than two seconds shows nothing of wait_for() and share().
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace kith::tools {

/// Writes to standard error, so that standard output has the results alone. Thread-safe. Has a thread of its own from the
/// first call on: what is being waited for says nothing itself.
class progress {
 public:
  progress();
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// A new stage, shown at once.
  void stage(const std::string& what);
  /// What the stage is doing now; shown on terminals alone.
  void step(const std::string& what);
  /// Something that may take long, and tells nothing: shown after two seconds, with its seconds.
  void wait_for(const std::string& what);
  /// How much of it is done, 0 to 1.
  void share(const std::string& what, double done);
  /// Removes the line, before something else is written.
  void clear();

 private:
  using clock = std::chrono::steady_clock;
  void begin(const std::string& what);  // with guard_ held, as all below
  void watch();
  void tick();
  std::string now() const;
  void show(const std::string& text);

  std::mutex guard_;
  std::condition_variable ended_;
  std::thread watcher_;
  bool terminal_, shown_ = false, over_ = false;
  bool unnamed_ = false;     // a stage that only share() has told of
  std::string what_, step_;  // what_ is empty: nothing is waited for
  std::optional<double> done_;
  clock::time_point since_{}, last_{};
  std::chrono::seconds next_line_{};
};

}  // namespace kith::tools
