#include "base/replacement.hpp"

#include "base/atomic.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace kith {

namespace fs = std::filesystem;

namespace {

/// Throws for anything that is not a regular file: renaming over a device or a pipe would remove it for all users.
void refuse_obstacles(const std::string& file) {
  if (file.empty()) throw error("a file to write has no name", error_kind::resources);
  std::error_code ignored;
  const fs::path folder = fs::path(file).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    throw error(file + ": cannot be written: there is no folder " + folder.string() + "; make it, or name another file",
                error_kind::resources);
  const fs::file_status there = fs::status(file, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there))
    throw error(file + ": cannot be written: it is " +
                    (fs::is_directory(there) ? "a folder" : "no regular file (a device or a pipe)") +
                    "; name another file",
                error_kind::resources);
}

}  // namespace

replacement::replacement(std::string file) : file_(std::move(file)) {
  refuse_obstacles(file_);
  static atomic<unsigned> made{0};  // counts those made by this process
  for (;;) {
    fresh_ = file_ + ".new-" + std::to_string(::getpid()) + "-" + std::to_string(made.fetch_add(1, relaxed));
    const int fresh = ::open(fresh_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fresh >= 0) {
      ::close(fresh);
      return;
    }
    if (errno != EEXIST && errno != EINTR)
      throw error(file_ + ": cannot be written: " + std::strerror(errno) + "; name a file in another folder",
                  error_kind::resources);
  }
}

replacement::~replacement() {
  if (there_) ::unlink(fresh_.c_str());
}

void replacement::put_in_place() {
  if (::rename(fresh_.c_str(), file_.c_str()) != 0)
    throw error(file_ + ": " + std::strerror(errno), error_kind::resources);
  there_ = false;
}

void refuse_unwritable(const std::string& file) { const replacement tried(file); }

}  // namespace kith
