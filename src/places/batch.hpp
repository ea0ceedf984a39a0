// A batch: what a transport between processes sends to one place at once. It is a sequence of records, each a head
// followed by the data that the head announces.
//
// Heads and numbers have the byte order of the machine. batch_reader checks everything that reading the records relies
// on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace kith::distributed {

enum class record_kind : std::uint32_t {
  message = 1,
  large,    // announces a message of `bytes` bytes
  near,     // announces a message in the sender's memory; data: its number at the sender, then `place` near_parts
  taken,    // the receiver has read the near message with the number `bytes`
  sign,     // of life: the sender runs
  lost,     // `place` was lost; the data says why
  leaving,  // the sender spawns nothing more
};
struct record {
  record_kind kind;
  std::uint32_t place;
  std::uint64_t bytes;
};
/// A part of a message in its sender's memory.
struct near_part {
  std::uint64_t address;
  std::uint64_t size;
};

/// Reads the records of a batch, one after the other.
class batch_reader {
 public:
  /// `places`: how many the job has. The batch must outlive the reader.
  batch_reader(std::span<const std::byte> batch, std::size_t places) : rest_(batch), places_(places) {}

  /// The next record; none at the end, or if the rest cannot be read.
  std::optional<record> next() noexcept {
    record r{record_kind::sign, 0, 0};
    if (rest_.size() < sizeof r) return {};
    std::memcpy(&r, rest_.data(), sizeof r);
    const std::size_t size = size_of_data(r);
    if (size > rest_.size() - sizeof r) return {};
    data_ = rest_.subspan(sizeof r, size);
    rest_ = rest_.subspan(sizeof r + size);
    return r;
  }
  /// The data of the last record.
  std::span<const std::byte> data() const noexcept { return data_; }
  /// The number of a `near` message at its sender.
  std::uint64_t near_number() const noexcept {
    std::uint64_t number = 0;
    std::memcpy(&number, data_.data(), sizeof number);
    return number;
  }
  /// REQUIRES: the last record is `near`, and has more than `i` parts.
  near_part part(std::size_t i) const noexcept {
    near_part p{};
    std::memcpy(&p, data_.data() + sizeof(std::uint64_t) + i * sizeof p, sizeof p);
    return p;
  }
  /// Whether the whole batch has been read; false after next() returned none for an unreadable record.
  bool at_end() const noexcept { return rest_.empty(); }

 private:
  static constexpr std::size_t unreadable = ~std::size_t{0};

  std::size_t size_of_data(const record& r) const noexcept {
    switch (r.kind) {
      case record_kind::message: return r.bytes;
      case record_kind::near: return sizeof(std::uint64_t) + std::size_t{r.place} * sizeof(near_part);
      case record_kind::lost: return r.place < places_ ? r.bytes : unreadable;
      case record_kind::large:
      case record_kind::taken:
      case record_kind::leaving:
      case record_kind::sign: return 0;
    }
    return unreadable;
  }

  std::span<const std::byte> rest_, data_;
  std::size_t places_;
};

}  // namespace kith::distributed
