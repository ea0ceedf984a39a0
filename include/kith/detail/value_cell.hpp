// The value of a keyed graph's node, and the count of its readers.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace kith::detail {

/// Memory for one value: in place if it is small, else on the heap, so that clear() frees its memory.
template <class T>
class value_box {
 public:
  /// Holds what make() returns.
  template <class Make>
  void fill(Make&& make) {
    if constexpr (in_place) {
      held_.emplace(make());
    } else {
      held_ = std::make_unique<T>(make());
    }
  }
  void clear() noexcept { held_.reset(); }
  explicit operator bool() const noexcept { return static_cast<bool>(held_); }
  T& operator*() noexcept { return *held_; }

 private:
  static constexpr bool in_place = sizeof(T) <= 4 * sizeof(void*);
  std::conditional_t<in_place, std::optional<T>, std::unique_ptr<T>> held_;
};

/// The node's computation writes the value, its successors' computations read it, and the last of these clears
/// it. Readers are counted while the graph is explored, before any node computes.
template <class T>
struct value_cell {
  value_box<T> value;
  std::int32_t color = -1;                // the color of the node
  std::atomic<std::uint64_t> readers{0};  // lower half: readers that have not ended; upper half: all readers ever added

  /// True if it is the first reader.
  bool add_reader() noexcept { return readers.fetch_add(first_reader, std::memory_order_relaxed) == 0; }
  bool has_one_reader() const noexcept { return readers.load(std::memory_order_relaxed) >> 32 == 1; }
  /// True if the caller was the last reader: no other node will read the value.
  bool end_reading() noexcept {
    // If 1 is left, it is the caller's. acquire and acq_rel pair with the fetch_sub of the other readers: they have
    // read the value before the caller changes it.
    return left(readers.load(std::memory_order_acquire)) == 1 ||
           left(readers.fetch_sub(1, std::memory_order_acq_rel)) == 1;
  }

 private:
  static constexpr std::uint64_t first_reader = std::uint64_t{1} << 32 | 1;
  static std::uint32_t left(std::uint64_t readers) noexcept { return static_cast<std::uint32_t>(readers); }
};

/// Iterates over the values of cells given by pointers.
template <class T>
class value_iterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = const T&;

  value_iterator() = default;
  explicit value_iterator(value_cell<T>* const* at) noexcept : at_(at) {}
  reference operator*() const noexcept { return *(*at_)->value; }
  pointer operator->() const noexcept { return &**this; }
  reference operator[](difference_type n) const noexcept { return *(*this + n); }
  value_iterator& operator+=(difference_type n) noexcept {
    at_ += n;
    return *this;
  }
  value_iterator& operator-=(difference_type n) noexcept { return *this += -n; }
  value_iterator& operator++() noexcept { return *this += 1; }
  value_iterator& operator--() noexcept { return *this += -1; }
  value_iterator operator++(int) noexcept { return std::exchange(*this, *this + 1); }
  value_iterator operator--(int) noexcept { return std::exchange(*this, *this - 1); }
  friend value_iterator operator+(value_iterator i, difference_type n) noexcept { return i += n; }
  friend value_iterator operator+(difference_type n, value_iterator i) noexcept { return i += n; }
  friend value_iterator operator-(value_iterator i, difference_type n) noexcept { return i -= n; }
  friend difference_type operator-(value_iterator a, value_iterator b) noexcept { return a.at_ - b.at_; }
  bool operator==(const value_iterator&) const = default;
  auto operator<=>(const value_iterator&) const = default;

 private:
  value_cell<T>* const* at_ = nullptr;
};

}  // namespace kith::detail
