// A value for each type of task, in the memory of a fixed number of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith {

/// Types are kept apart modulo `different`; types that collide share a value. Threads may share the table if they may
/// share a T.
template <class T>
class type_table {
 public:
  type_table() : values_(different) {}

  T& operator[](std::uint16_t type) noexcept { return values_[type % different]; }
  const T& operator[](std::uint16_t type) const noexcept { return values_[type % different]; }
  auto begin() noexcept { return values_.begin(); }
  auto end() noexcept { return values_.end(); }

 private:
  static constexpr std::size_t different = 256;
  std::vector<T> values_;
};

}  // namespace kith
