#include "recording/log.hpp"

#include "base/clock.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kith {

namespace {

/// A window of the file is mapped at a time; windows overlap by as much as a record may be long.
constexpr std::size_t window_bytes = std::size_t{4} << 20;
constexpr std::size_t page = 4096;

/// Of a window that begins there, as many bytes as this process's files may have: whole pages.
std::size_t allowed_from(std::uint64_t start) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return window_bytes;
  const std::uint64_t left = limit.rlim_cur - std::min<std::uint64_t>(limit.rlim_cur, start);
  return static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, left / page * page));
}

}  // namespace

log::log(std::string path, std::uint32_t seat) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) throw error("recording: " + path_ + ": " + std::strerror(errno));
  log_header h{{}, log_version, seat, seconds_per_tick(), ticks()};
  std::memcpy(h.magic, log_magic, sizeof h.magic);
  std::byte* at = room(sizeof h);
  if (at == nullptr) {
    ::close(file_);
    throw error("recording: " + path_ + ": no room for it: " + std::strerror(why_));
  }
  std::memcpy(at, &h, sizeof h);
}

log::~log() {
  // Zeroes beyond the last record are of no use to anybody; if they stay, nothing is wrong.
  const std::uint64_t used = window_ + static_cast<std::uint64_t>(at_ - mapped_);
  ::munmap(mapped_, window_bytes_);
  if (::ftruncate(file_, static_cast<off_t>(used)) != 0) lose(errno);
  ::close(file_);
}

bool log::lose(int why) noexcept {
  if (lost_++ == 0) why_ = why;
  return false;
}

bool log::grow(std::size_t bytes) noexcept {
  if (full_) return lose(why_);
  if (bytes > window_bytes - page) return lose(EMSGSIZE);
  const std::uint64_t used = window_ + static_cast<std::uint64_t>(at_ - mapped_);
  const std::uint64_t start = used / page * page;
  const std::size_t size = allowed_from(start);
  // Blocks are reserved here: a full disk must not end in a signal at some later store. Nor must the limit on files in one
  // now: beyond it the system sends SIGXFSZ.
  int refused = size < used - start + bytes
                    ? EFBIG
                    : ::posix_fallocate(file_, static_cast<off_t>(start), static_cast<off_t>(size));
  void* fresh = MAP_FAILED;
  if (refused == 0) {
    fresh = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, static_cast<off_t>(start));
    if (fresh == MAP_FAILED) refused = errno;
  }
  if (refused != 0) {
    full_ = true;
    return lose(refused);
  }
  if (mapped_ != nullptr) ::munmap(mapped_, window_bytes_);
  mapped_ = static_cast<std::byte*>(fresh);
  window_ = start;
  window_bytes_ = size;
  at_ = mapped_ + (used - start);
  limit_ = mapped_ + size;
  return true;
}

void log::append_text(const log_cell& head, const std::string& text) noexcept {
  const std::size_t cells = (text.size() + 15) / 16;
  std::byte* at = room((1 + cells) * sizeof head);
  if (at == nullptr) return;
  std::memcpy(at + sizeof head, text.data(), text.size());
  finish(at, head);
}

void log::append_text(const log_cell& head, const log_pair& a, const std::string& text) noexcept {
  const std::size_t cells = (text.size() + 15) / 16;
  std::byte* at = room((2 + cells) * sizeof head);
  if (at == nullptr) return;
  std::memcpy(at + sizeof head, &a, sizeof a);
  std::memcpy(at + 2 * sizeof head, text.data(), text.size());
  finish(at, head);
}

}  // namespace kith
