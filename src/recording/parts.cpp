#include "recording/parts.hpp"

#include "base/atomic.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace kith {

namespace fs = std::filesystem;

namespace {

constexpr const char* about_name = "about";

error cannot(const fs::path& what, const std::string& why) {
  return error("recording: " + what.string() + ": " + why, error_kind::resources);
}

/// Writes the text and locks it; the descriptor returned holds the lock. A file system without locks gives none.
int write_locked(const fs::path& file, const std::string& text) {
  const int lock = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (lock < 0) throw cannot(file, std::strerror(errno));
  (void)::flock(lock, LOCK_EX | LOCK_NB);
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t put = ::write(lock, text.data() + at, text.size() - at);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      const int why = errno;
      ::close(lock);
      throw cannot(file, std::strerror(why));
    }
    at += static_cast<std::size_t>(put);
  }
  return lock;
}

/// Renames a folder. False if a folder that is not empty already has the new name.
bool put_in_place(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return true;
  if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR) return false;
  throw cannot(to, std::strerror(errno));
}

}  // namespace

std::string parts_of(const std::string& file) { return file + ".parts"; }

std::string numbered_file(const std::string& file, int n) { return n == 1 ? file : file + "-" + std::to_string(n); }

bool parts_in_use(const std::string& folder) {
  const int file = ::open((fs::path(folder) / about_name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool used = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return used;
}

void refuse_parts_in_use(const std::string& folder) {
  if (parts_in_use(folder)) throw cannot(folder, "is being written by another process; wait until it has ended");
}

std::vector<std::string> files_with_parts(const std::string& file) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (int n = 1; fs::is_directory(parts_of(numbered_file(file, n)), ignored); ++n)
    files.push_back(numbered_file(file, n));
  return files;
}

void remove_parts(const std::string& file) {
  for (const std::string& f : files_with_parts(file)) {
    refuse_parts_in_use(parts_of(f));
    std::error_code why;
    fs::remove_all(parts_of(f), why);
    if (why) throw cannot(parts_of(f), "cannot be removed: " + why.message());
  }
}

parts_folder::parts_folder(const std::string& file, const std::map<std::string, std::string>& about, old_parts others)
    : file_(file) {
  std::string text;
  for (const auto& [key, value] : about) text.append(key).append(1, '\t').append(value).append(1, '\n');
  static atomic<unsigned> made{0};  // folders made by this process
  const fs::path fresh =
      parts_of(file) + "." + std::to_string(::getpid()) + "." + std::to_string(made.fetch_add(1, relaxed));
  std::error_code why;
  fs::remove_all(fresh, why);
  if (!fs::create_directory(fresh, why))
    throw cannot(fresh, why ? why.message() : "something of this name is in the way");
  try {
    lock_ = write_locked(fresh / about_name, text);
    for (int n = 1; !put_in_place(fresh, path());) {
      if (others == old_parts::keep) {
        file_ = numbered_file(file, ++n);
        continue;
      }
      refuse_parts_in_use(path());
      fs::remove_all(path(), why);
      if (why) throw cannot(path(), "cannot be replaced: " + why.message());
    }
  } catch (...) {
    release();
    fs::remove_all(fresh, why);
    throw;
  }
}

void parts_folder::release() noexcept {
  if (lock_ >= 0) ::flock(lock_, LOCK_UN);  // children of fork() may still have it open before cut_off()
  cut_off();
}

void parts_folder::cut_off() noexcept {
  if (lock_ >= 0) ::close(lock_);
  lock_ = -1;
}

std::map<std::string, std::string> read_about(const std::string& folder) {
  std::map<std::string, std::string> about;
  std::ifstream in(fs::path(folder) / about_name);
  for (std::string line; std::getline(in, line);) {
    const std::size_t at = line.find('\t');
    if (at != std::string::npos) about[line.substr(0, at)] = line.substr(at + 1);
  }
  return about;
}

}  // namespace kith
