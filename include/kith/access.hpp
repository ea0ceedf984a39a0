// What a task says about the data it uses: accesses, on typed handles and on raw memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

namespace kith {

/// How a task uses a region. Among the children of one task, in the order of their creation:
///  - `in` waits for the last task that wrote; any number of `in` run side by side;
///  - `out` and `inout` wait for everything before;
///  - `concurrent` tasks run side by side with each other (they synchronise themselves), ordered against all else;
///  - `commutative` tasks exclude each other but run in any order, ordered against all else.
/// Ranges may contain others. Then this is so for each byte; commutative tasks on different ranges are ordered.
enum class mode : std::uint8_t { in, out, inout, concurrent, commutative };

namespace detail {

/// The dependence state of one region in one scope. Written by the scope's owner alone.
struct tracker {
  std::uint64_t key = 0;     // address (48 bits) and wait epoch (16); in a handle: the scope's serial number
  std::uint64_t writer = 0;  // the task that later accesses wait for
  std::uint64_t member = 0;  // the first member of the group that runs side by side after the writer
  std::uint64_t second = 0;  // and the second
  std::uint32_t block = 0;   // the slot that lists further members
  std::uint32_t region = 0;  // the region's record, 0 while nobody needed one
};
static_assert(sizeof(tracker) == 40);

/// The untyped part of a handle.
class handle_base {
 public:
  handle_base(const void* address, std::size_t bytes) noexcept;
  handle_base(handle_base&& other) noexcept;
  handle_base& operator=(handle_base&&) = delete;
  handle_base(const handle_base&) = delete;
  ~handle_base() = default;

  const void* address;
  std::uint64_t bytes;
  const void* scope = nullptr;  // the first scope that used the handle: its accesses alone go through `state`
  tracker state;
};
static_assert(sizeof(handle_base) == 64);

/// One access, as handed to the library.
struct access_record {
  const void* address;
  std::uint64_t bytes;
  handle_base* handle;  // null for raw memory
  mode how;
  float touched = 1;  // the share of the bytes that is really used
};

template <class T>
concept has_elements = requires(T& t) {
  std::data(t);
  std::size(t);
};

}  // namespace detail

/// An access with the type of what is accessed. A task's function may take one parameter for each of its
/// accesses: `T&` for one object, `std::span<T>` for several; const for `in`.
template <class Parameter>
struct access {
  detail::access_record record;
  Parameter parameter;  // a pointer for one object, a span for several

  /// The same, of which the task uses only so many bytes (the border of a neighbour, say). Policies see the whole; a
  /// recording keeps both, and a replay moves what is used.
  access touching(std::size_t bytes) const noexcept {
    access a = *this;
    if (bytes < a.record.bytes) a.record.touched = static_cast<float>(bytes) / static_cast<float>(a.record.bytes);
    return a;
  }
};

/// A typed name for one object, or for an array of them (`handle<T[]>`), that the user owns.
///
/// Naming data by a handle is the fastest way: dependences are found without looking an address up. Each handle is
/// a region of its own: two handles on the same memory are two regions, and nothing orders one against the other
/// (runtime_options::check_handles makes that an error). The handle and the memory must
/// outlive the tasks that use them. A handle belongs to the first scope (a task's children, a run) that uses it and is
/// fast there; in other scopes it is found by its address.
template <class T>
class handle : public detail::handle_base {
 public:
  explicit handle(T& object) noexcept : handle_base(&object, sizeof(T)) {}
  T* data() const noexcept { return static_cast<T*>(const_cast<void*>(address)); }
};

template <class T>
class handle<T[]> : public detail::handle_base {
 public:
  handle(T* first, std::size_t count) noexcept : handle_base(first, count * sizeof(T)) {}
  explicit handle(std::span<T> elements) noexcept : handle(elements.data(), elements.size()) {}
  T* data() const noexcept { return static_cast<T*>(const_cast<void*>(address)); }
  std::size_t size() const noexcept { return bytes / sizeof(T); }
};

namespace detail {

template <mode How, class T>
using accessed = std::conditional_t<How == mode::in, const T, T>;

template <mode How, class T>
access<accessed<How, T>*> one(T* object, handle_base* by) noexcept {
  return {{object, sizeof(T), by, How}, object};
}

template <mode How, class T>
access<std::span<accessed<How, T>>> many(T* first, std::size_t count, handle_base* by) noexcept {
  return {{first, count * sizeof(T), by, How}, {first, count}};
}

/// The five functions below differ in the mode alone; this is what they have in common.
template <mode How>
struct access_maker {
  template <class T>
  auto operator()(handle<T>& h) const noexcept {
    return one<How>(h.data(), &h);
  }
  template <class T>
  auto operator()(handle<T[]>& h) const noexcept {
    return many<How>(h.data(), h.size(), &h);
  }
  /// `count` elements from `first` on.
  template <class T>
  auto operator()(T* first, std::size_t count) const noexcept {
    return many<How>(first, count, nullptr);
  }
  /// One object, or all elements of a contiguous range (vector, span, array).
  template <class T>
    requires(!std::is_base_of_v<handle_base, std::remove_cvref_t<T>> && !std::is_pointer_v<std::remove_cvref_t<T>>)
  auto operator()(T&& object) const noexcept {
    if constexpr (has_elements<std::remove_reference_t<T>>) {
      return many<How>(std::data(object), std::size(object), nullptr);
    } else {
      static_assert(std::is_lvalue_reference_v<T>, "an access names an object that outlives the task");
      return one<How>(&object, nullptr);
    }
  }
};

}  // namespace detail

/// in(x), out(x), inout(x), concurrent(x), commutative(x): an access to a handle, to an object, to a
/// contiguous range, or, with two arguments (pointer, count), to raw memory. A range may lie in another one, at any depth
/// (tiles and their array); ranges that cross are an error, until a wait has ended. A range without bytes is no access.
/// A region's home, where first touch put it, stays that of its address until the memory is given back
/// (kith::deallocate, kith::forget).
inline constexpr detail::access_maker<mode::in> in{};
inline constexpr detail::access_maker<mode::out> out{};
inline constexpr detail::access_maker<mode::inout> inout{};
inline constexpr detail::access_maker<mode::concurrent> concurrent{};
inline constexpr detail::access_maker<mode::commutative> commutative{};

}  // namespace kith
