// FILE.parts, the folder to which a recorded run writes its logs until they are assembled as FILE.
//
// The process that writes the folder holds a lock (flock) on the text `about` in it. The system releases the lock when
// the process ends, however it ends. So a locked folder is being written; an unlocked one is complete, or was left by a
// killed run. The lock is taken before the folder gets its name. On a file system without such locks, other processes
// go unnoticed.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace kith {

/// The folder of recording `file`, whether it exists or not.
std::string parts_of(const std::string& file);
/// The name of the n-th recording of a run that makes several, counted from 1: FILE, FILE-2, FILE-3.
std::string numbered_file(const std::string& file, int n);
/// True while a process writes the folder.
bool parts_in_use(const std::string& folder);
/// Throws kith::error with the folder's name if parts_in_use().
void refuse_parts_in_use(const std::string& folder);

/// FILE, FILE-2, ... as long as each has a folder of parts.
std::vector<std::string> files_with_parts(const std::string& file);
/// Removes these folders. Throws kith::error if one of them is in use or cannot be removed.
void remove_parts(const std::string& file);

/// What to do with a folder that exists and that no process is writing.
enum class old_parts { replace, keep };

/// A folder that this process writes. Not thread-safe.
class parts_folder {
 public:
  /// Makes the folder of `file`, with only the text about the run. `keep`: uses the first of FILE, FILE-2, ... that has
  /// no folder. Throws kith::error if it cannot, or (`replace`) if another process is writing there.
  parts_folder(const std::string& file, const std::map<std::string, std::string>& about, old_parts others);
  ~parts_folder() { release(); }
  parts_folder(const parts_folder&) = delete;
  parts_folder& operator=(const parts_folder&) = delete;

  /// The recording that the folder is to become.
  const std::string& file() const noexcept { return file_; }
  std::string path() const { return parts_of(file_); }
  /// Called when nothing more will be written.
  void release() noexcept;
  /// In a child of fork(): the folder and the lock stay the parent's.
  void cut_off() noexcept;

 private:
  std::string file_;
  int lock_ = -1;
};

/// The folder's text about the run; empty if there is none.
std::map<std::string, std::string> read_about(const std::string& folder);

}  // namespace kith
