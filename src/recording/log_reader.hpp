// Reading what log.hpp writes. For whoever puts logs together.
#pragma once

#include "recording/log.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace kith {

/// A log, mapped to be read.
class mapped_log {
 public:
  explicit mapped_log(const std::filesystem::path& path) : path_(path.string()) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw error(path_ + ": " + std::strerror(errno));
    bytes_ = std::filesystem::file_size(path);
    if (bytes_ >= sizeof(log_header)) {
      void* at = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) base_ = static_cast<const std::byte*>(at);
    }
    ::close(file);
    if (base_ == nullptr) throw error(path_ + ": no log: too short");
    std::memcpy(&header, base_, sizeof header);
    if (std::memcmp(header.magic, log_magic, sizeof log_magic) != 0) throw error(path_ + ": no log of Kith");
    if (header.version != log_version)
      throw error(path_ + ": a log of version " + std::to_string(header.version) + "; this Kith reads version " +
                  std::to_string(log_version));
  }
  ~mapped_log() { ::munmap(const_cast<std::byte*>(base_), bytes_); }
  mapped_log(const mapped_log&) = delete;
  mapped_log& operator=(const mapped_log&) = delete;

  /// Calls each(head, rest) for every record; `rest` are the cells after the head.
  template <class Each>
  void for_each(Each&& each) const {
    for (std::uint64_t at = sizeof(log_header); at + sizeof(log_cell) <= bytes_;) {
      log_cell head;
      std::memcpy(&head, base_ + at, sizeof head);
      if (head.kind == log_kind::end) return;
      const std::size_t cells = cells_of(head, at);
      if (at + cells * sizeof head > bytes_) return;  // cut off
      each(head, base_ + at + sizeof head);
      at += cells * sizeof head;
    }
  }

  log_header header{};

 private:
  std::size_t cells_of(const log_cell& head, std::uint64_t at) const {
    const std::size_t text = (head.middle + std::size_t{15}) / 16;
    switch (head.kind) {
      case log_kind::task:
      case log_kind::sample:
      case log_kind::wait: return 3;
      case log_kind::needs:
      case log_kind::executed:
      case log_kind::idle:
      case log_kind::job:
      case log_kind::recorder:
      case log_kind::run:
      case log_kind::home:
      case log_kind::allocation:
      case log_kind::given_back: return 2;
      case log_kind::access:
      case log_kind::steal:
      case log_kind::work:
      case log_kind::key:
      case log_kind::touched: return 1;
      case log_kind::type: return 1 + text;
      case log_kind::mark: return 2 + text;
      case log_kind::end: break;
    }
    throw error(path_ + ": damaged: no record of kind " + std::to_string(static_cast<int>(head.kind)) + " at byte " +
                std::to_string(at));
  }
  std::string path_;
  const std::byte* base_ = nullptr;
  std::uint64_t bytes_ = 0;
};

/// The i-th cell behind the head.
inline log_pair pair_at(const std::byte* rest, int i) {
  log_pair p;
  std::memcpy(&p, rest + static_cast<std::size_t>(i) * sizeof p, sizeof p);
  return p;
}

}  // namespace kith
