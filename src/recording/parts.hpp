// The folder that a recorded run writes its logs in, FILE.parts, until they are put together as FILE.
//
// Whoever writes it holds a lock (flock) on its text `about`, which the system takes back when the process ends, however it
// ends: a folder that is locked is being written, one that is not is complete, or what a killed run has left. A folder
// appears under its name with the lock held. On a file system without such locks, other processes are not noticed.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kith {

/// The folder of recording `file`, whether it is there or not.
std::string parts_of(const std::string& file);
/// The name of the n-th recording of a run that makes several, from 1: FILE, FILE-2, FILE-3.
std::string numbered_file(const std::string& file, int n);
/// True while a process writes the folder.
bool parts_in_use(const std::string& folder);
/// The same as an error that names the folder.
void refuse_parts_in_use(const std::string& folder);

/// FILE, FILE-2, ... as long as they have a folder: what one run has left, or several.
std::vector<std::string> files_with_parts(const std::string& file);
/// Removes these folders. Throws kith::error if one of them is in use, or stays.
void remove_parts(const std::string& file);

/// What to do with a folder that is there and that nobody writes.
enum class old_parts { replace, keep };

/// A folder of one's own. Not thread-safe.
class parts_folder {
 public:
  /// Makes the folder of `file`, empty but for what is said about the run. `keep`: of `file` and its numbers, the first one
  /// that has no folder. Throws kith::error if it cannot, or if another process writes there (`replace`).
  parts_folder(const std::string& file, const std::map<std::string, std::string>& about, old_parts others);
  ~parts_folder() { release(); }
  parts_folder(const parts_folder&) = delete;
  parts_folder& operator=(const parts_folder&) = delete;

  /// The recording that it is to become.
  const std::string& file() const noexcept { return file_; }
  std::string path() const { return parts_of(file_); }
  /// Nothing will be written any more.
  void release() noexcept;
  /// In a child of fork(): the folder, and the lock, are the parent's.
  void cut_off() noexcept;

 private:
  std::string file_;
  int lock_ = -1;
};

/// What is said about the run; empty if nothing is.
std::map<std::string, std::string> read_about(const std::string& folder);

}  // namespace kith
