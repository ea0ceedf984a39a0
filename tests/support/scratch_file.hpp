// A place for a file of a test.
#pragma once

#include <kith/error.hpp>

#include <stdlib.h>
#include <filesystem>
#include <string>

namespace kith::test {

/// A name for a file of this test, in a folder of its own. The folder is removed at the end, with what a runtime may
/// have put beside the file: later recordings of the process, and parts.
class scratch_file {
 public:
  scratch_file() : folder_((std::filesystem::temp_directory_path() / "kith-test-XXXXXX").string()) {
    if (::mkdtemp(folder_.data()) == nullptr) throw error("no folder for a test like " + folder_);
    path_ = folder_ + "/test.rec";
  }
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  scratch_file(const scratch_file&) = delete;
  scratch_file& operator=(const scratch_file&) = delete;
  const std::string& path() const noexcept { return path_; }
  const std::string& folder() const noexcept { return folder_; }

 private:
  std::string folder_, path_;
};

}  // namespace kith::test
