// Further runs of a program that `kith record` makes: with --addresses a second one, which tells whether the tasks
// touch the same addresses under another schedule; with --counted one that counts instructions. For verb_record.cpp.
#pragma once

#include "child.hpp"
#include "recording/recording.hpp"

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace kith::tools {

/// Standard input for two runs: both read a file from the same position. Other input can be read only once, so both
/// runs get an empty one. Throws kith::error if standard input cannot be replaced.
class input_of_two {
 public:
  input_of_two();
  ~input_of_two();
  input_of_two(const input_of_two&) = delete;
  input_of_two& operator=(const input_of_two&) = delete;

  /// Called before each further run.
  void again() const;
  /// Throws if a pipe has data, which the program might need.
  void refuse_data() const;

 private:
  off_t begin_;
  int original_ = -1;
};

/// A further run of a program whose recording is `file`. Only its parts are written, beside the recording, in
/// FILE.again.parts. They are removed with this object at the latest.
class further_run {
 public:
  /// Removes what an earlier run has left. Throws kith::error if it cannot.
  explicit further_run(const std::string& file);
  ~further_run();
  further_run(const further_run&) = delete;
  further_run& operator=(const further_run&) = delete;

  /// Runs the program with a variable that says what is recorded, without its output. Shows `what` as the progress.
  child_result run(const std::string& what, const std::vector<std::string>& program,
                   const std::pair<std::string, std::string>& variable) const;
  /// What was recorded, of each runtime.
  std::vector<std::string> folders() const;
  /// Throws kith::error if parts cannot be removed.
  void remove();

 private:
  std::string file_;
  bool removed_ = false;
};

enum class comparison { same, different, stopped };

/// Runs the program a second time, under another schedule, and compares the addresses that its tasks touched with those
/// of `files`, the recordings of the first run, of which `file` is the first. Prints the differences.
comparison under_another_schedule(const std::string& file, const std::vector<std::string>& program,
                                  const std::vector<std::string>& files);

}  // namespace kith::tools
