// How kith::in, kith::out and the others make an access from their arguments, and the compiler's messages about wrong
// ones.
#pragma once

#include <kith/handle.hpp>

#include <cstddef>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

namespace kith {

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

/// Elements at other places (array_range), for tasks of a data_flow.
template <class T>
concept is_range_of_places = requires(const T& t) { t.template accessed_as<mode::in>(); };

template <class T>
concept has_elements = requires(T& t) {
  std::data(t);
  std::size(t);
};

/// An access to them (distributed_array.hpp).
template <class T, mode How, bool Many>
struct flow_access;
template <class T>
inline constexpr bool is_flow_access = false;
template <class T, mode How, bool Many>
inline constexpr bool is_flow_access<flow_access<T, How, Many>> = true;

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
    if constexpr (is_range_of_places<plain>) {
      return object.template accessed_as<How>();
    } else if constexpr (!accessible<How, T>::value) {
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
      detail::bytes_of(first, count, sizeof(T));
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

}  // namespace kith
