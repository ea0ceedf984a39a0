// What the guards of a job's places tell each other and `kith launch`: files of a folder that only this job has.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace kith::tools {

class guard_folder {
 public:
  explicit guard_folder(std::filesystem::path folder) : folder_(std::move(folder)) {}

  const std::filesystem::path& path() const noexcept { return folder_; }

  /// How a place's process ended, as waitpid()'s status; none: it runs, or was never started.
  std::optional<int> status(int place) const;
  void write_status(int place, int status) const;

  /// Whether a guard has run.
  bool is_started() const;
  void mark_started() const;

  /// Whether this tool has ended the place, because another one has failed.
  bool is_ended(int place) const;
  void mark_ended(int place) const;

  /// Only the first place to fail is named: guards end the others.
  bool any_failed() const;
  void name_failed(int place) const;
  /// The text for messages.
  std::string failed_place() const;

  /// Whether the place has joined the job, so that it finds losses itself.
  bool has_joined(int place) const;
  /// Whether the place waits in MPI_Init, or soon after, for one of `places` that has ended without joining the job: it
  /// would wait for ever. Names the one that has ended as failed.
  bool waits_in_vain(int place, int places) const;
  /// Whether the program survives losses, and place 0, without which the others cannot go on, has not failed.
  bool survivors_go_on() const;
  /// Whether a place has failed and the others must not go on.
  bool should_end() const { return any_failed() && !survivors_go_on(); }

 private:
  bool has(const std::string& file) const;
  void mark(const std::string& file) const;

  std::filesystem::path folder_;
};

}  // namespace kith::tools
