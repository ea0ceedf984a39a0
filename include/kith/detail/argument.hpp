// The content of a pending task's argument, and how the task's function receives it.
#pragma once

#include <kith/access.hpp>
#include <kith/detail/creation.hpp>
#include <kith/detail/plain_call.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace kith {

class arguments;

namespace detail {

struct argument_internals;  // makes `arguments`

/// The types that a parameter takes: a reference to const data also binds to data that may be written.
struct argument_types {
  const std::type_info* exact;
  const std::type_info* writable;  // null: only `exact`
};

/// A value, or the parameter that an access would give to a task's function: a pointer to one object, or a span.
struct argument {
  enum class kind : std::uint8_t { value, used, passed };
  static constexpr std::size_t most_bytes = 16;

  alignas(most_bytes) std::byte content[most_bytes];
  const std::type_info* type = nullptr;
  access_record uses = {};  // of a used reference
  kind what = kind::value;
};

template <class T>
struct only_readable {
  static constexpr const std::type_info* writable = nullptr;
};
template <class T>
struct only_readable<const T*> {
  static constexpr const std::type_info* writable = &typeid(T*);
};
template <class T>
struct only_readable<std::span<const T>> {
  static constexpr const std::type_info* writable = &typeid(std::span<T>);
};
template <class T>
inline constexpr argument_types argument_type_of{&typeid(T), only_readable<T>::writable};

/// The content as a T. A reference to data that may be written has the same bytes as one to const data.
template <class T>
T value_in(const argument& a) noexcept {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), a.content, sizeof(T));
  return std::bit_cast<T>(bytes);
}
/// The argument with this number. Throws kith::error if there is none, or if it has another type.
const argument& checked_argument(std::span<const argument> all, std::size_t number, argument_types expected);

template <class P>
struct passed_reference {
  P parameter;
};
template <class T>
inline constexpr bool is_passed = false;
template <class P>
inline constexpr bool is_passed<passed_reference<P>> = true;

template <class T>
argument holding(const T& value, argument::kind what) noexcept {
  argument a;
  std::memcpy(a.content, &value, sizeof value);
  a.type = &typeid(T);
  a.what = what;
  return a;
}
/// The argument of deliver(), as it is kept.
template <class T>
argument argument_of(const T& what) noexcept {
  if constexpr (is_access<T>) {
    argument a = detail::holding(internals::parameter(what), argument::kind::used);
    a.uses = internals::record(what);
    return a;
  } else if constexpr (is_passed<T>) {
    return detail::holding(what.parameter, argument::kind::passed);
  } else {
    constexpr bool fits = std::is_trivially_copyable_v<T> && sizeof(T) <= argument::most_bytes;
    static_assert(fits,
                  "pending_task::deliver() takes values that are trivially copyable and have 16 bytes at most; write "
                  "kith::in(x) or kith::inout(x), for an object that outlives the task");
    return detail::holding(what, argument::kind::value);
  }
}

/// A task that waits for arguments, or whose arguments its function uses.
struct pending_record;
class pending_store;

/// Returns the record to its store.
class record_holder {
 public:
  explicit record_holder(pending_record* r) noexcept : record_(r) {}
  record_holder(record_holder&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  ~record_holder() {
    if (record_ != nullptr) give_record(record_);
  }
  record_holder& operator=(record_holder&&) = delete;
  pending_record* get() const noexcept { return record_; }

 private:
  static void give_record(pending_record*) noexcept;
  pending_record* record_;
};
/// A record for a task with this number of arguments. `types`: of each, null if the function takes them by number.
record_holder take_record(pending_store&, const argument_types* types, std::size_t arguments);
std::span<const argument> arguments_of(const pending_record&) noexcept;
/// Called when the closure has been built: the task waits for its arguments, or starts if it has none. Returns the
/// generation that names it.
std::uint32_t hold(const filled_group&, draft, task_code, const declared&, pending_record&);
void deliver(pending_record*, std::uint32_t generation, std::size_t number, const argument&);

/// How a parameter of a typed function takes its argument.
template <class P>
struct delivered_as {
  using type = std::remove_cv_t<P>;
  static type take(const argument& a) { return detail::value_in<type>(a); }
};
template <class T>
struct delivered_as<T&> {
  using type = T*;
  static T& take(const argument& a) { return *detail::value_in<type>(a); }
};
template <class F, class... P>
struct parameter_list {
  static constexpr std::size_t count = sizeof...(P);
  static const argument_types* types() noexcept {
    static constexpr std::array<argument_types, count + 1> all{argument_type_of<typename delivered_as<P>::type>...};
    return all.data();
  }
  static void call(F& f, std::span<const argument> all) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      std::invoke(f, delivered_as<P>::take(all[I])...);
    }(std::index_sequence_for<P...>());
  }
};
template <class F, class Call>
struct parameters_by;
template <class F, class R, class... P>
struct parameters_by<F, R(P...)> : parameter_list<F, P...> {};
template <class F>
using parameters_in = parameters_by<F, plain_call<F>>;
/// Whether the function's parameters are known, and are not `arguments`.
template <class F>
concept has_parameters =
    requires { typename plain_call<std::decay_t<F>>; } && !std::is_invocable_v<std::decay_t<F>&, const arguments&>;

template <class F>
struct typed_call {
  F f;
  void operator()(std::span<const argument> all) { parameters_in<F>::call(f, all); }
};
}  // namespace detail

}  // namespace kith
