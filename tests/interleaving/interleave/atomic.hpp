// Replaces the standard's atomics, fences and futexes in sources that are compiled with KITH_INTERLEAVE. Included
// by base/atomic.hpp. Names and meanings are the same; each operation is a scheduling point of the checker.
#pragma once

#include "interleave/execution.hpp"

#include <atomic>
#include <bit>
#include <cstring>
#include <source_location>
#include <type_traits>

namespace kith {

template <class T>
class atomic {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
  using order = std::memory_order;
  using source = std::source_location;

 public:
  using value_type = T;
  static constexpr bool is_always_lock_free = true;

  atomic() noexcept : atomic(T{}) {}
  atomic(T value) noexcept : value_(value) {
    if (auto* run = interleave::execution::current()) run->born(self());
  }
  ~atomic() {
    if (auto* run = interleave::execution::current()) run->dies(self());
  }
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(order o = std::memory_order_seq_cst, source at = source::current()) const noexcept {
    auto* run = interleave::execution::current();
    return run == nullptr ? value_ : to_value(run->load(self(), o, at));
  }
  void store(T value, order o = std::memory_order_seq_cst, source at = source::current()) noexcept {
    if (auto* run = interleave::execution::current()) {
      run->store(self(), to_bits(value), o, at);
    } else {
      value_ = value;
    }
  }
  T exchange(T value, order o = std::memory_order_seq_cst, source at = source::current()) noexcept {
    return modify(interleave::change::exchange, to_bits(value), o, at);
  }
  bool compare_exchange_strong(T& expected, T desired, order success, order failure,
                               source at = source::current()) noexcept {
    auto* run = interleave::execution::current();
    std::uint64_t bits = to_bits(expected);
    bool done = false;
    if (run != nullptr) {
      done = run->compare_exchange(self(), bits, to_bits(desired), success, failure, at);
    } else if (to_bits(value_) == bits) {
      value_ = desired;
      done = true;
    } else {
      bits = to_bits(value_);
    }
    if (!done) expected = to_value(bits);
    return done;
  }
  bool compare_exchange_strong(T& expected, T desired, order o = std::memory_order_seq_cst,
                               source at = source::current()) noexcept {
    return compare_exchange_strong(expected, desired, o, on_failure(o), at);
  }
  /// Never fails spuriously, which is a limit of the checker.
  bool compare_exchange_weak(T& expected, T desired, order success, order failure,
                             source at = source::current()) noexcept {
    return compare_exchange_strong(expected, desired, success, failure, at);
  }
  bool compare_exchange_weak(T& expected, T desired, order o = std::memory_order_seq_cst,
                             source at = source::current()) noexcept {
    return compare_exchange_strong(expected, desired, o, on_failure(o), at);
  }

  template <class D>
  T fetch_add(D by, order o = std::memory_order_seq_cst, source at = source::current()) noexcept {
    return modify(interleave::change::add, distance(by), o, at);
  }
  template <class D>
  T fetch_sub(D by, order o = std::memory_order_seq_cst, source at = source::current()) noexcept {
    return modify(interleave::change::subtract, distance(by), o, at);
  }
  T fetch_and(T with, order o = std::memory_order_seq_cst, source at = source::current()) noexcept {
    return modify(interleave::change::bit_and, to_bits(with), o, at);
  }
  T fetch_or(T with, order o = std::memory_order_seq_cst, source at = source::current()) noexcept {
    return modify(interleave::change::bit_or, to_bits(with), o, at);
  }
  T fetch_xor(T with, order o = std::memory_order_seq_cst, source at = source::current()) noexcept {
    return modify(interleave::change::bit_xor, to_bits(with), o, at);
  }

  operator T() const noexcept { return load(); }
  T operator=(T value) noexcept {
    store(value);
    return value;
  }
  T operator++() noexcept { return static_cast<T>(fetch_add(1) + 1); }
  T operator--() noexcept { return static_cast<T>(fetch_sub(1) - 1); }
  T operator++(int) noexcept { return fetch_add(1); }
  T operator--(int) noexcept { return fetch_sub(1); }

  /// For the futex calls.
  interleave::place self() const noexcept {
    using shown = interleave::place::shown;
    return {&value_, sizeof(T),
            std::is_pointer_v<T>  ? shown::pointer
            : std::is_signed_v<T> ? shown::signed_number
                                  : shown::unsigned_number};
  }

 private:
  static std::uint64_t to_bits(T value) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return bits;
  }
  static T to_value(std::uint64_t bits) noexcept {
    T value;
    std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
    return value;
  }
  template <class D>
  static std::uint64_t distance(D by) noexcept {
    if constexpr (std::is_pointer_v<T>) {
      return static_cast<std::uint64_t>(by) * sizeof(std::remove_pointer_t<T>);
    } else {
      return to_bits(static_cast<T>(by));
    }
  }
  static constexpr order on_failure(order o) noexcept {
    return o == std::memory_order_acq_rel   ? std::memory_order_acquire
           : o == std::memory_order_release ? std::memory_order_relaxed
                                            : o;
  }
  T modify(interleave::change how, std::uint64_t operand, order o, const source& at) noexcept {
    if (auto* run = interleave::execution::current()) return to_value(run->modify(self(), how, operand, o, at));
    const T old = value_;
    value_ = to_value(interleave::changed(how, to_bits(old), operand, sizeof(T)));
    return old;
  }

  alignas(sizeof(T)) T value_;
};

inline void full_fence(std::source_location at = std::source_location::current()) noexcept {
  if (auto* run = interleave::execution::current()) run->full_fence(at);
}

/// Restrains only the compiler, which the checker does not model.
inline void light_fence() noexcept {}

inline void process_fence(std::source_location at = std::source_location::current()) noexcept {
  if (auto* run = interleave::execution::current()) run->process_fence(at);
}

/// For a loop that waits: continues only when another thread has changed memory since the loop's last round.
inline void pause(std::source_location at = std::source_location::current()) noexcept {
  if (auto* run = interleave::execution::current()) run->yield(at);
}

inline void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected,
                       std::source_location at = std::source_location::current()) noexcept {
  if (auto* run = interleave::execution::current()) run->futex_wait(word.self(), expected, at);
}

/// Its time may be over at once, so it returns without waiting; how long it takes is part of the schedule.
inline void futex_wait_for(const atomic<std::uint32_t>&, std::uint32_t, std::int64_t) noexcept {}

inline void futex_wake(const atomic<std::uint32_t>& word, int count,
                       std::source_location at = std::source_location::current()) noexcept {
  if (auto* run = interleave::execution::current()) run->futex_wake(word.self(), count, at);
}

}  // namespace kith
