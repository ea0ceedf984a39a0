// Reads the logs that log.hpp writes. For code that merges logs.
#pragma once

#include "events/log.hpp"

#include <kith/error.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace kith {

/// A log, mapped for reading.
class mapped_log {
 public:
  /// Throws kith::error if the file is no log, or a log of another version. An empty file is empty().
  explicit mapped_log(const std::filesystem::path& path) : path_(path.string()), bytes_(map(path_)) {
    if (bytes_.size() < sizeof header) return;
    std::memcpy(&header, bytes_.data(), sizeof header);
    constexpr char nothing[sizeof log_magic]{};
    if (std::memcmp(header.magic, nothing, sizeof log_magic) == 0) return;
    if (std::memcmp(header.magic, log_magic, sizeof log_magic) != 0)
      throw error(path_ + ": no log of Kith", error_kind::input);
    if (header.version < log_version || header.version > log_version_of_place)
      throw error(path_ + ": a log of version " + std::to_string(header.version) + "; this Kith reads versions " +
                      std::to_string(log_version) + " to " + std::to_string(log_version_of_place),
                  error_kind::input);
    if (!(header.seconds_per_tick > 1e-15 && header.seconds_per_tick < 1))
      throw error(path_ + ": damaged: a tick of " + std::to_string(header.seconds_per_tick) +
                      " s, expected more than 0 and less than 1; record the run again",
                  error_kind::input);
    empty_ = false;
    const std::uint64_t room = bytes_.size() - std::min<std::uint64_t>(bytes_.size(), log_front_bytes);
    if (header.behind != log_all_behind && header.behind > room)
      throw error(path_ + ": damaged: " + std::to_string(header.behind) + " bytes of records behind the front, " +
                      std::to_string(room) + " are there; record the run again",
                  error_kind::input);
    behind_ = std::min(header.behind, room);
  }
  mapped_log(const mapped_log&) = delete;
  mapped_log& operator=(const mapped_log&) = delete;

  /// True if the run was killed after it made the file and before it wrote the header.
  bool empty() const noexcept { return empty_; }

  /// Calls each(head, rest) for every record, in the order in which they were written. `rest` is the cells
  /// after the head.
  template <class Each>
  void for_each(Each&& each) const {
    if (empty_) return;
    const std::uint64_t end = log_front_bytes + behind_, at = for_each(log_front_bytes, end, each);
    if (at < end && header.behind != log_all_behind)
      throw error(path_ + ": damaged: no record at byte " + std::to_string(at) + ", expected more up to byte " +
                      std::to_string(end) + "; record the run again",
                  error_kind::input);
    if (header.behind != log_all_behind)
      for_each(sizeof header, std::min<std::uint64_t>(bytes_.size(), log_front_bytes), each);
  }

  log_header header{};

 private:
  /// Returns where the records end.
  template <class Each>
  std::uint64_t for_each(std::uint64_t at, std::uint64_t end, Each& each) const {
    while (at + sizeof(log_cell) <= end) {
      log_cell head;
      std::memcpy(&head, bytes_.data() + at, sizeof head);
      if (head.kind == log_kind::end) return at;
      const std::size_t cells = cells_of(head, at);
      if (at + cells * sizeof head > end) return at;  // cut off
      each(head, bytes_.data() + at + sizeof head);
      at += cells * sizeof head;
    }
    return at;
  }
  std::size_t cells_of(const log_cell& head, std::uint64_t at) const {
    const std::size_t text = (head.middle + std::size_t{15}) / 16;
    switch (head.kind) {
      case log_kind::message:
      case log_kind::delivered:
      case log_kind::made:
      case log_kind::clock:
      case log_kind::sample:
      case log_kind::wait: return 3;
      case log_kind::task:
      case log_kind::family:
      case log_kind::completed:
      case log_kind::part:
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
      case log_kind::ran:
      case log_kind::steal:
      case log_kind::work:
      case log_kind::key:
      case log_kind::touched: return 1;
      case log_kind::counts:
      case log_kind::flow:
      case log_kind::type: return 1 + text;
      case log_kind::place:
      case log_kind::mark: return 2 + text;
      case log_kind::end: break;
    }
    throw error(path_ + ": damaged: no record of kind " + std::to_string(static_cast<int>(head.kind)) + " at byte " +
                    std::to_string(at) + "; record the run again",
                error_kind::input);
  }

  /// The bytes of a file.
  class mapping {
   public:
    mapping(const std::byte* base, std::size_t size) noexcept : base_(base), size_(size) {}
    ~mapping() {
      if (base_ != nullptr) ::munmap(const_cast<std::byte*>(base_), size_);
    }
    mapping(const mapping&) = delete;
    mapping& operator=(const mapping&) = delete;
    const std::byte* data() const noexcept { return base_; }
    std::size_t size() const noexcept { return size_; }

   private:
    const std::byte* base_;
    std::size_t size_;
  };
  static mapping map(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) throw error(path + ": " + std::strerror(errno), error_kind::input);
    struct stat is{};
    const bool known = ::fstat(file, &is) == 0;
    const auto size = static_cast<std::size_t>(is.st_size);
    void* at = nullptr;
    if (known && size != 0) at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    const int why = errno;
    ::close(file);
    if (!known || at == MAP_FAILED) throw error(path + ": " + std::strerror(why), error_kind::input);
    return {static_cast<const std::byte*>(at), size};
  }

  std::string path_;
  mapping bytes_;
  std::uint64_t behind_ = 0;  // bytes of records after the front
  bool empty_ = true;
};

/// The i-th cell after the head.
inline log_pair pair_at(const std::byte* rest, int i) {
  log_pair p;
  std::memcpy(&p, rest + static_cast<std::size_t>(i) * sizeof p, sizeof p);
  return p;
}

}  // namespace kith
