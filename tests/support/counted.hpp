// Values whose living instances are counted.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace kith::test {

/// Counts its living instances. With its padding, `large` ones are on the heap.
template <std::size_t padding>
struct counted {
  static inline std::atomic<int> alive{0}, most{0};
  static void reset() { most = alive.load(); }
  static void note() {
    const int now = ++alive;
    for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
    }
  }
  explicit counted(std::uint64_t v = 0) : number(v) { note(); }
  counted(const counted& o) : number(o.number) { note(); }
  counted(counted&& o) noexcept : number(std::exchange(o.number, ~std::uint64_t{0})) { note(); }
  counted& operator=(const counted&) = default;
  ~counted() { --alive; }
  std::uint64_t number;
  std::array<char, padding> room{};
};

}  // namespace kith::test
