// A new file that replaces an older one when it is complete. For all code that writes files for users.
#pragma once

#include <string>

namespace kith {

/// Until put_in_place() the older file stays as it is. The destructor removes a new file that was not put in place.
class replacement {
 public:
  /// Makes an empty file beside `file`, under an unused name. Throws kith::error if the folder does not exist
  /// or is not writable, or if the name is that of something other than a file (a folder, a device).
  explicit replacement(std::string file);
  ~replacement();
  replacement(const replacement&) = delete;
  replacement& operator=(const replacement&) = delete;

  /// The new file, which the caller must write.
  const std::string& path() const noexcept { return fresh_; }
  /// Throws kith::error.
  void put_in_place();

 private:
  std::string file_, fresh_;
  bool there_ = true;
};

/// Throws kith::error if a replacement of `file` could not be made; leaves no file behind.
void refuse_unwritable(const std::string& file);

}  // namespace kith
