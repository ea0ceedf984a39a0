// The records of a handle and of one access.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith {

enum class mode : std::uint8_t;

namespace detail {

struct internals;

/// The dependence state of one region in one scope. Only the scope's owner writes it.
struct tracker {
  std::uint64_t key = 0;     // address (48 bits) and wait epoch (16); in a handle: the scope's serial number
  std::uint64_t writer = 0;  // the task that later accesses wait for
  std::uint64_t member = 0;  // the first member of the group that runs side by side after the writer
  std::uint64_t second = 0;  // the second one
  std::uint32_t block = 0;   // the slot that lists further members
  std::uint32_t region = 0;  // the region's record; 0 until one is needed
};
static_assert(sizeof(tracker) == 40);

/// The bytes of `count` elements. Throws kith::error for more than an address space holds.
inline constexpr std::size_t most_bytes = std::size_t{1} << 47;
[[noreturn]] void refuse_count(const void* first, std::size_t count, std::size_t element);
inline std::size_t bytes_of(const void* first, std::size_t count, std::size_t element) {
  if (count > most_bytes / element) [[unlikely]]
    refuse_count(first, count, element);
  return count * element;
}

/// The untyped part of a handle.
class handle_base {
 protected:
  handle_base(const void* address, std::size_t bytes) noexcept : address_(address), bytes_(bytes) {}
  handle_base(handle_base&& other) noexcept;
  ~handle_base() = default;

  const void* address_;
  std::uint64_t bytes_;

 private:
  friend struct internals;
  const void* scope_ = nullptr;  // the first scope that used the handle; only its accesses go through the tracker
  tracker state_;
};
static_assert(sizeof(handle_base) == 64);

/// One access, as passed to the library.
struct access_record {
  const void* address;
  std::uint64_t bytes;
  handle_base* handle;  // null for raw memory
  mode how;
  float touched = 1;  // the share of the bytes that is really used
};

}  // namespace detail

}  // namespace kith
