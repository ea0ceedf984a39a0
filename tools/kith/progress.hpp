// Shows the progress of a long verb. On a terminal, one line that changes. Elsewhere, a line for each stage, and a line
// with its progress from time to time. wait_for(), and share() without a terminal, show nothing for the first two
// seconds.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace kith::tools {

/// Writes to standard error, so that standard output has only the results. Thread-safe. Has its own thread from the
/// first call on, because the work that it shows may not report anything.
class progress {
 public:
  progress();
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// A new stage, shown at once.
  void stage(const std::string& what);
  /// The present step of the stage; shown only on terminals.
  void step(const std::string& what);
  /// Work that may take long and does not report progress: shown after two seconds, with the seconds so far.
  void wait_for(const std::string& what);
  /// The share of `what` that is done, 0 to 1.
  void share(const std::string& what, double done);
  /// Removes the line. Must be called before anything else is written.
  void clear();

 private:
  using clock = std::chrono::steady_clock;
  void begin(const std::string& what);  // REQUIRES: guard_ held; so do all below
  void watch();
  void tick();
  std::string now() const;
  void show(const std::string& text);

  std::mutex guard_;
  std::condition_variable ended_;
  std::thread watcher_;
  bool terminal_, shown_ = false, over_ = false;
  bool unnamed_ = false;     // the stage is known only from share()
  std::string what_, step_;  // what_ is empty if nothing is waited for
  std::optional<double> done_;
  clock::time_point since_{}, last_{};
  std::chrono::seconds next_line_{};
};

}  // namespace kith::tools
