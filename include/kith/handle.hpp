// The names of data: handles, and the accesses of tasks.
#pragma once

#include <kith/detail/access_record.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace kith {

/// How a task uses a region. The rules hold among the children of one task, in the order of their creation:
///  - `in` waits for the last task that wrote; any number of `in` tasks run side by side;
///  - `out` and `inout` wait for all earlier accesses;
///  - `concurrent` tasks run side by side with each other (they synchronise themselves) and are ordered against
///    all others;
///  - `commutative` tasks exclude each other but run in any order, and are ordered against all others.
/// A range may contain others. The rules then hold for each byte, but commutative tasks on different ranges are
/// ordered.
enum class mode : std::uint8_t { in, out, inout, concurrent, commutative };

/// An access with the type of what is accessed. A task's function may take one parameter for each of its
/// accesses: `T&` for one object, `std::span<T>` for several; const for `in`.
template <class Parameter>
class access {
 public:
  /// The same access, but the task really uses only `bytes` of its bytes (for example, the border of a
  /// neighbour). Policies see the whole range. A recording keeps both numbers, and a simulation moves only the
  /// bytes that are used.
  [[nodiscard]] access touching(std::size_t bytes) const noexcept {
    access a = *this;
    if (bytes < a.record_.bytes) a.record_.touched = static_cast<float>(bytes) / static_cast<float>(a.record_.bytes);
    return a;
  }

 private:
  friend struct detail::internals;
  access(const detail::access_record& r, Parameter p) noexcept : record_(r), parameter_(p) {}

  detail::access_record record_;
  Parameter parameter_;  // a pointer for one object, a span for several
};

/// A typed name for one object, or for an array of them (`handle<T[]>`), that the user owns.
///
/// A handle is the fastest way to name data: dependences are found without an address lookup. Each handle is a
/// region of its own. Two handles on the same memory are two regions, and nothing orders one against the other
/// (runtime_options::check_handles makes that an error). The handle and the memory must outlive the tasks that
/// use them. A handle belongs to the first scope (a task's children, a run) that uses it, and is fast there; in
/// other scopes it is found by its address.
template <class T>
class handle : public detail::handle_base {
 public:
  explicit handle(T& object) noexcept : handle_base(&object, sizeof(T)) {}
  T* data() const noexcept { return static_cast<T*>(const_cast<void*>(address_)); }
};

/// A name for an array. The constructors throw kith::error for more bytes than an address space holds.
template <class T>
class handle<T[]> : public detail::handle_base {
 public:
  handle(T* first, std::size_t count) : handle_base(first, detail::bytes_of(first, count, sizeof(T))) {}
  explicit handle(std::span<T> elements) : handle(elements.data(), elements.size()) {}
  T* data() const noexcept { return static_cast<T*>(const_cast<void*>(address_)); }
  std::size_t size() const noexcept { return bytes_ / sizeof(T); }
};

}  // namespace kith
