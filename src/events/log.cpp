#include "events/log.hpp"

#include "base/clock.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kith {

namespace {

/// Whether this process may write files of this size. Beyond its limit the system sends SIGXFSZ.
bool may_have(std::uint64_t bytes) noexcept {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

}  // namespace

log::log(std::string path, std::uint32_t seat, std::uint32_t version) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file_ < 0) throw error("recording: " + path_ + ": " + std::strerror(errno), error_kind::resources);
  // Blocks are reserved here, so that a full disk cannot raise a signal at a later store.
  int refused = may_have(log_front_bytes) ? ::posix_fallocate(file_, 0, log_front_bytes) : EFBIG;
  void* mapped = MAP_FAILED;
  if (refused == 0) {
    mapped = ::mmap(nullptr, log_front_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_, 0);
    if (mapped == MAP_FAILED) refused = errno;
  }
  if (refused != 0) {
    ::close(file_);
    throw error("recording: " + path_ + ": no room for its first " + std::to_string(log_front_bytes >> 10) +
                    " KB: " + std::strerror(refused),
                error_kind::resources);
  }
  front_ = static_cast<std::byte*>(mapped);
  at_ = front_ + sizeof(log_header);
  limit_ = front_ + log_front_bytes;
  const log_header h{{}, version, seat, seconds_per_tick(), ticks(), 0, 0};
  std::memcpy(front_, &h, sizeof h);
  in_this_order();
  std::memcpy(front_, log_magic, sizeof log_magic);
}

log::~log() {
  ::munmap(front_, log_front_bytes);
  ::close(file_);
}

void log::cut_off() noexcept {
  // The child gets private pages in place of those of the file.
  [[maybe_unused]] const void* const own =
      ::mmap(front_, log_front_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  ::close(file_);
  file_ = -1;
}

bool log::lose(int why) noexcept {
  if (lost_++ == 0) why_ = why;
  return false;
}

int log::write_behind(std::size_t bytes) noexcept {
  const std::byte* from = front_ + sizeof(log_header);
  std::uint64_t to = log_front_bytes + header().behind;
  if (!may_have(to + bytes)) return EFBIG;
  while (bytes != 0) {
    const ssize_t done = ::pwrite(file_, from, bytes, static_cast<off_t>(to));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return done == 0 ? ENOSPC : errno;
    from += done;
    to += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
  return 0;
}

bool log::make_room(std::size_t bytes) noexcept {
  if (full_) return lose(why_);
  if (bytes > log_front_bytes - sizeof(log_header)) return lose(EMSGSIZE);
  const auto used = static_cast<std::size_t>(at_ - front_) - sizeof(log_header);
  if (const int refused = write_behind(used); refused != 0) {
    full_ = true;
    limit_ = at_;  // shorter records are dropped too: they would follow a record that they do not belong to
    return lose(refused);
  }
  // The records are in both places here. At each moment, `behind` says where to read them exactly once.
  const std::uint64_t behind = header().behind + used;
  header().behind = log_all_behind;
  in_this_order();
  at_ = front_ + sizeof(log_header);
  std::memset(at_, 0, used);
  in_this_order();
  header().behind = behind;
  return true;
}

void log::append_numbers(log_cell head, std::span<const std::uint64_t> numbers) noexcept {
  head.middle = static_cast<std::uint32_t>(numbers.size_bytes());
  std::byte* at = room((1 + (numbers.size_bytes() + 15) / 16) * sizeof head);
  if (at == nullptr) return;
  std::memcpy(at + sizeof head, numbers.data(), numbers.size_bytes());
  finish(at, head);
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
