// How a task declares the data it uses: accesses to typed handles and to raw memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

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
  handle_base(const void* address, std::size_t bytes) noexcept;
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

/// One access, as handed to the library.
struct access_record {
  const void* address;
  std::uint64_t bytes;
  handle_base* handle;  // null for raw memory
  mode how;
  float touched = 1;  // the share of the bytes that is really used
};

}  // namespace detail

/// An access with the type of what is accessed. A task's function may take one parameter for each of its
/// accesses: `T&` for one object, `std::span<T>` for several; const for `in`.
template <class Parameter>
class access {
 public:
  /// The same access, but the task really uses only `bytes` of its bytes (for example, the border of a
  /// neighbour). Policies see the whole range. A recording keeps both numbers, and a simulation moves only the
  /// bytes that are used.
  access touching(std::size_t bytes) const noexcept {
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

/// The constructors throw kith::error for more bytes than an address space holds.
template <class T>
class handle<T[]> : public detail::handle_base {
 public:
  handle(T* first, std::size_t count) : handle_base(first, detail::bytes_of(first, count, sizeof(T))) {}
  explicit handle(std::span<T> elements) : handle(elements.data(), elements.size()) {}
  T* data() const noexcept { return static_cast<T*>(const_cast<void*>(address_)); }
  std::size_t size() const noexcept { return bytes_ / sizeof(T); }
};

namespace detail {

/// Gives the library access to what it keeps in handles and accesses.
struct internals {
  static const void*& scope(handle_base& h) noexcept { return h.scope_; }
  static tracker& state(handle_base& h) noexcept { return h.state_; }

  template <class P>
  static access<P> make(const access_record& r, P parameter) noexcept {
    return access<P>(r, parameter);
  }
  template <class P>
  static const access_record& record(const access<P>& a) noexcept {
    return a.record_;
  }
  template <class P>
  static P parameter(const access<P>& a) noexcept {
    return a.parameter_;
  }
};

template <class T>
inline constexpr bool is_access = false;
template <class P>
inline constexpr bool is_access<access<P>> = true;

template <class T>
inline constexpr bool is_handle = std::is_base_of_v<handle_base, T>;

template <class T>
concept has_elements = requires(T& t) {
  std::data(t);
  std::size(t);
};

/// Stands for an access that a static_assert has refused; spawn() reports no further error about it.
struct refused_access {
  refused_access touching(std::size_t) const noexcept { return {}; }
};

/// The type that an access to a `T` reads or writes.
template <class T>
struct accessed {
  using type = T;
};
template <class T>
  requires(has_elements<T> && !is_handle<T>)
struct accessed<T> {
  using type = std::remove_pointer_t<decltype(std::data(std::declval<T&>()))>;
};
template <class T>
struct accessed<handle<T>> {
  using type = std::remove_extent_t<T>;
};

/// Whether an `Argument` (the type of a forwarding reference) can be accessed as `How`. If not, the compiler says
/// why.
template <mode How, class Argument>
struct accessible {
  using object = std::remove_reference_t<Argument>;
  using plain = std::remove_cv_t<object>;
  static constexpr bool lives = std::is_lvalue_reference_v<Argument> || std::ranges::enable_borrowed_range<plain>;
  static constexpr bool fixed = is_handle<plain> && std::is_const_v<object>;
  static constexpr bool writable = How == mode::in || fixed || !std::is_const_v<typename accessed<object>::type>;

  static_assert(
      !std::is_pointer_v<plain>,
      "a pointer alone does not say how much is accessed; write kith::in(p, count), or kith::in(*p) for one object");
  static_assert(!is_access<plain>,
                "the argument of kith::in, out, ... is an access already; name the object or the handle");
  static_assert(lives || std::is_pointer_v<plain> || is_access<plain>,
                "the argument of kith::in, out, ... is a temporary, gone before the task runs; name an object that "
                "outlives the task");
  static_assert(!fixed, "the handle is const, but keeps which tasks use the data; make the handle itself non-const");
  static_assert(writable,
                "kith::out, inout, concurrent and commutative write their argument, which is const; write kith::in(x)");

  static constexpr bool value = lives && !fixed && writable && !std::is_pointer_v<plain> && !is_access<plain>;
};

/// The five functions below differ only in the mode; this is their common part.
template <mode How>
struct access_maker {
  /// One object, all elements of a contiguous range (vector, span, array), or what a handle names.
  template <class T>
  auto operator()(T&& object) const noexcept {
    using plain = std::remove_cvref_t<T>;
    if constexpr (!accessible<How, T>::value) {
      return refused_access();
    } else if constexpr (is_handle<plain>) {
      return of_handle(object);
    } else if constexpr (has_elements<std::remove_reference_t<T>>) {
      return many(std::data(object), std::size(object), nullptr);
    } else {
      return one(&object, nullptr);
    }
  }
  /// `count` elements from `first` on. Throws kith::error for more than an address space holds.
  template <class T>
  auto operator()(T* first, std::size_t count) const {
    constexpr bool typed = !std::is_void_v<T>, writable = How == mode::in || !std::is_const_v<T>;
    static_assert(typed,
                  "a pointer to void does not say how large an element is; cast it to std::byte*, and count bytes");
    static_assert(
        writable,
        "kith::out, inout, concurrent and commutative write their argument, which is const; write kith::in(p, count)");
    if constexpr (typed && writable) {
      bytes_of(first, count, sizeof(T));
      return many(first, count, nullptr);
    } else {
      return refused_access();
    }
  }
  template <class First, class... More>
    requires(!std::is_pointer_v<std::decay_t<First>> || sizeof...(More) != 1 ||
             !(std::is_convertible_v<More, std::size_t> && ...))
  auto operator()(First&&, More&&...) const noexcept {
    static_assert(sizeof...(More) == 0,
                  "kith::in, out, ... take one object, or a pointer and a count; write kith::in(a), kith::in(b)");
    return refused_access();
  }

 private:
  template <class T>
  using parameter = std::conditional_t<How == mode::in, const T, T>;

  template <class T>
  static auto one(T* object, handle_base* named) noexcept {
    return internals::make<parameter<T>*>({object, sizeof(T), named, How}, object);
  }
  template <class T>
  static auto many(T* first, std::size_t count, handle_base* named) noexcept {
    return internals::make<std::span<parameter<T>>>({first, count * sizeof(T), named, How}, {first, count});
  }
  template <class T>
  static auto of_handle(handle<T>& h) noexcept {
    return one(h.data(), &h);
  }
  template <class T>
  static auto of_handle(handle<T[]>& h) noexcept {
    return many(h.data(), h.size(), &h);
  }
};

}  // namespace detail

/// in(x), out(x), inout(x), concurrent(x), commutative(x): an access to a handle, to an object, to a contiguous
/// range, or, with two arguments (pointer, count), to raw memory. A range may lie inside another one, at any
/// depth (tiles and their array). Ranges that cross are an error until a wait has ended. An empty range is no
/// access. The home that first touch gave a region stays with its address until the memory is given back
/// (kith::deallocate, kith::forget). Temporaries are refused; const data can only be accessed with `in`.
inline constexpr detail::access_maker<mode::in> in{};
inline constexpr detail::access_maker<mode::out> out{};
inline constexpr detail::access_maker<mode::inout> inout{};
inline constexpr detail::access_maker<mode::concurrent> concurrent{};
inline constexpr detail::access_maker<mode::commutative> commutative{};

}  // namespace kith
