// A file that is made anew and takes the place of an older one when it is whole. For whatever writes files for users.
#pragma once

#include <string>

namespace kith {

/// Until put_in_place() the older file stays as it is. What was not put in place is removed.
class replacement {
 public:
  /// Begins an empty file beside `file`, under a name that nobody has. Throws kith::error if its folder is not there or may
  /// not be written, or if something else than a file has the name (a folder, a device).
  explicit replacement(std::string file);
  ~replacement();
  replacement(const replacement&) = delete;
  replacement& operator=(const replacement&) = delete;

  /// What is to be written.
  const std::string& path() const noexcept { return fresh_; }
  /// Throws kith::error.
  void put_in_place();

 private:
  std::string file_, fresh_;
  bool there_ = true;
};

/// Throws kith::error where `file` could not be made, as above; makes nothing.
void refuse_unwritable(const std::string& file);

}  // namespace kith
