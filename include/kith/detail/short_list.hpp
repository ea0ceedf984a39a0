// A list whose length is set once. A few elements need no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace kith::detail {

template <class T, std::uint32_t few>
class short_list {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  short_list() = default;
  short_list(const short_list&) = delete;
  short_list& operator=(const short_list&) = delete;
  ~short_list() {
    if (size_ > few) delete[] many_;
  }
  /// Makes room for n elements, which must be written before they are read. Call it at most once.
  void set_size(std::size_t n) {
    if (n > few) many_ = new T[n];
    size_ = static_cast<std::uint32_t>(n);
  }
  T* data() noexcept { return size_ > few ? many_ : few_; }
  std::span<const T> all() noexcept { return {data(), size_}; }

 private:
  union {
    T few_[few];
    T* many_;
  };
  std::uint32_t size_ = 0;
};

}  // namespace kith::detail
