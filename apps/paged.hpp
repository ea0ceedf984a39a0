// Equal blocks of values that do not share pages. So the task that first touches a block decides its home,
// independently of the neighbouring blocks.
//
// RIP paper, section 4.5: blocks of data are page-aligned and initialised by tasks.
#pragma once

#include "untouched.hpp"

#include <kith/access.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace kith::apps {

inline constexpr std::size_t page_bytes = 4096;  // the smallest page size; larger pages are shared by small blocks

template <class T>
class paged {
 public:
  /// `count` blocks of `each` values, all zero and untouched. Throws std::bad_alloc.
  paged(std::int64_t count, std::int64_t each)
      : count_(static_cast<std::size_t>(count)),
        each_(static_cast<std::size_t>(each)),
        stride_((each_ * sizeof(T) + page_bytes - 1) / page_bytes * page_bytes / sizeof(T)),
        data_(make_untouched<T>(count_ * stride_)) {}

  T* operator[](std::int64_t b) const noexcept { return data_.get() + static_cast<std::size_t>(b) * stride_; }
  std::size_t length() const noexcept { return each_; }
  /// All the memory, including the ends of the last pages.
  std::span<std::byte> bytes() const noexcept {
    return std::as_writable_bytes(std::span(data_.get(), count_ * stride_));
  }

  /// Accesses to block b.
  auto in(std::int64_t b) const noexcept { return kith::in((*this)[b], each_); }
  auto out(std::int64_t b) const noexcept { return kith::out((*this)[b], each_); }
  auto inout(std::int64_t b) const noexcept { return kith::inout((*this)[b], each_); }

 private:
  static_assert(page_bytes % sizeof(T) == 0);
  std::size_t count_, each_, stride_;
  untouched<T> data_;
};

}  // namespace kith::apps
