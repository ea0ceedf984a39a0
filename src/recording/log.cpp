#include "recording/log.hpp"

#include "base/clock.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
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

}  // namespace

log::log(std::string path, std::uint32_t seat) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) throw error("recording: " + path_ + ": " + std::strerror(errno));
  log_header h{{}, log_version, seat, seconds_per_tick(), ticks()};
  std::memcpy(h.magic, log_magic, sizeof h.magic);
  std::byte* at = room(sizeof h);
  if (at == nullptr) {
    const int why = errno;
    ::close(file_);
    throw error("recording: " + path_ + ": no room for it: " + std::strerror(why));
  }
  std::memcpy(at, &h, sizeof h);
}

log::~log() {
  if (mapped_ != nullptr) ::munmap(mapped_, window_bytes);
  // Zeroes beyond the last record are of no use to anybody; if they stay, nothing is wrong.
  const std::uint64_t used = window_ + static_cast<std::uint64_t>(at_ - mapped_);
  if (mapped_ != nullptr && lost_ == 0 && ::ftruncate(file_, static_cast<off_t>(used)) != 0) ++lost_;
  ::close(file_);
}

bool log::grow(std::size_t bytes) noexcept {
  if (lost_ != 0) {
    ++lost_;
    return false;
  }
  const std::uint64_t used = window_ + static_cast<std::uint64_t>(at_ - mapped_);
  const std::uint64_t start = used / page * page;
  void* fresh = MAP_FAILED;
  // Blocks are reserved here: a full disk must not end in a signal at some later store.
  const int refused = ::posix_fallocate(file_, static_cast<off_t>(start), window_bytes);
  if (refused == 0) {
    fresh = ::mmap(nullptr, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_,
                   static_cast<off_t>(start));
  } else {
    errno = refused;
  }
  if (fresh == MAP_FAILED || (used - start) + bytes > window_bytes) {
    if (fresh != MAP_FAILED) ::munmap(fresh, window_bytes);
    ++lost_;
    return false;
  }
  if (mapped_ != nullptr) ::munmap(mapped_, window_bytes);
  mapped_ = static_cast<std::byte*>(fresh);
  window_ = start;
  at_ = mapped_ + (used - start);
  limit_ = mapped_ + window_bytes;
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
