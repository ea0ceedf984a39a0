// Checks of calls that create a task. For a wrong call the compiler prints one sentence that says what to write.
//
// The checks are class templates that are instantiated before anything else of the call; a wrong call is compiled
// no further. tests/compile_fail holds the first line that GCC and Clang print for each of them.
#pragma once

#include <kith/detail/task_hints.hpp>

#include <cstddef>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace kith::detail {

template <class T>
T& parameter(T* p) noexcept {
  return *p;
}
template <class T>
std::span<T> parameter(std::span<T> s) noexcept {
  return s;
}

template <class T>
struct parameters_of {
  using type = std::tuple<>;
};
template <class P>
struct parameters_of<access<P>> {
  using type = std::tuple<P>;
};
/// The function's parameters for the accesses among the arguments: a tuple of pointers and spans.
template <class... Args>
using parameters = decltype(std::tuple_cat(std::declval<typename parameters_of<Args>::type>()...));

template <class P>
struct without_const;
template <class T>
struct without_const<T*> {
  using type = std::remove_const_t<T>*;
};
template <class T>
struct without_const<std::span<T>> {
  using type = std::span<std::remove_const_t<T>>;
};

/// Whether a function can be called with the parameters of its accesses.
template <class F, class Parameters>
inline constexpr bool takes = false;
template <class F, class... P>
inline constexpr bool takes<F, std::tuple<P...>> =
    std::is_invocable_v<const F&, decltype(detail::parameter(std::declval<P>()))...> ||
    std::is_invocable_v<F&, decltype(detail::parameter(std::declval<P>()))...>;
/// Whether it could be called if no access were `in`.
template <class F, class Parameters>
inline constexpr bool takes_writable = false;
template <class F, class... P>
inline constexpr bool takes_writable<F, std::tuple<P...>> =
    std::is_invocable_v<F&, decltype(detail::parameter(std::declval<typename without_const<P>::type>()))...>;

/// Checks the arguments after the function, which is argument 1. Refused accesses are not reported again.
template <class... Args>
struct options_check {
  static constexpr bool good(std::size_t number) {
    constexpr bool each[] = {(option<Args> || std::is_same_v<Args, refused_access> || is_flow_access<Args>)..., true};
    return number >= sizeof...(Args) + 2 || each[number - 2];
  }
  static constexpr bool good_from(std::size_t number) {
    return number >= sizeof...(Args) + 2 || (good(number) && good_from(number + 1));
  }
  /// At most one argument is of these kinds.
  template <class... Kinds>
  static constexpr bool single = (std::size_t{0} + ... + std::size_t{one_of<Args, Kinds...>}) <= 1;

  static constexpr bool here = !(is_flow_access<Args> || ...);

  static_assert(here,
                "elements of a distributed_array may be at other places, where this task cannot use them; write "
                "flow.spawn(...) of a kith::data_flow");
  static_assert(good(2),
                "argument 2 of spawn (async, submit, then) is neither an access nor an option; write kith::in(x), "
                "kith::out(x) or kith::inout(x) for data, kith::after{task} for a task");
  static_assert(good(3),
                "argument 3 of spawn (async, submit, then) is neither an access nor an option; write kith::in(x), "
                "kith::out(x) or kith::inout(x) for data, kith::after{task} for a task");
  static_assert(good(4),
                "argument 4 of spawn (async, submit, then) is neither an access nor an option; write kith::in(x), "
                "kith::out(x) or kith::inout(x) for data, kith::after{task} for a task");
  static_assert(good(5),
                "argument 5 of spawn (async, submit, then) is neither an access nor an option; write kith::in(x), "
                "kith::out(x) or kith::inout(x) for data, kith::after{task} for a task");
  static_assert(good(6),
                "argument 6 of spawn (async, submit, then) is neither an access nor an option; write kith::in(x), "
                "kith::out(x) or kith::inout(x) for data, kith::after{task} for a task");
  static_assert(good(7),
                "argument 7 of spawn (async, submit, then) is neither an access nor an option; write kith::in(x), "
                "kith::out(x) or kith::inout(x) for data, kith::after{task} for a task");
  static_assert(good_from(8),
                "argument 8 of spawn (async, submit, then), or a later one, is neither an access nor an option; write "
                "kith::in(x), kith::out(x) or kith::inout(x) for data, kith::after{task} for a task");
  static_assert(single<color>, "spawn (async, submit, then) is given more than one kith::color; leave one");
  static_assert(single<node>, "spawn (async, submit, then) is given more than one kith::node; leave one");
  static_assert(single<work>, "spawn (async, submit, then) is given more than one kith::work; leave one");
  static_assert(single<priority>, "spawn (async, submit, then) is given more than one kith::priority; leave one");
  static_assert(single<task_type, name>,
                "spawn (async, submit, then) is given more than one kith::task_type or kith::name; leave one");

  static constexpr bool value = (option<Args> && ...) && single<color> && single<node> && single<work> &&
                                single<priority> && single<task_type, name>;
};

/// Checks the function, argument 1.
template <class F>
struct function_check {
  using body = std::decay_t<F>;
  static constexpr bool kept = std::is_constructible_v<body, F>;
  static_assert(!option<body> && !std::is_same_v<body, refused_access>,
                "argument 1 of spawn (async, submit, then) is an access or an option; the function comes first");
  static_assert(kept,
                "argument 1 of spawn (async, submit, then) is a function that cannot be copied; write std::move(f)");
  static constexpr bool value = kept && !option<body>;
};

/// Checks that the function can be called.
template <class F, class... Args>
struct parameters_check {
  using body = std::decay_t<F>;
  static constexpr bool any = (is_access<Args> || ...);
  static constexpr bool value = std::is_invocable_v<body&> || (any && takes<body, parameters<Args...>>);
  static constexpr bool may_write() {
    if constexpr (value || !any) {
      return false;
    } else {
      return takes_writable<body, parameters<Args...>>;
    }
  }
  static constexpr bool writes = may_write();

  static_assert(value || any,
                "argument 1 of spawn (async, submit) cannot be called without arguments; write [] { ... }, or give it "
                "an access for each parameter: kith::in(x), kith::out(x), kith::inout(x)");
  static_assert(!writes,
                "argument 1 of spawn (async, submit) may change what kith::in gives it to read; write const T& or "
                "std::span<const T>, or kith::inout(x)");
  static_assert(value || !any || writes,
                "argument 1 of spawn (async, submit) does not take one parameter for each access, in their order; "
                "write T& for an object, std::span<T> for several, both with const for kith::in");
};

/// Whether the arguments are a function that can be stored, followed by options. If not, the compiler says what
/// to write.
template <class F, class... Args>
constexpr bool may_declare() {
  if constexpr (!function_check<F>::value) {
    return false;
  } else {
    return options_check<Args...>::value;
  }
}
/// Whether a task can be made of the arguments. Only the first mistake is reported.
template <class F, class... Args>
constexpr bool is_task_call() {
  if constexpr (!detail::may_declare<F, Args...>()) {
    return false;
  } else {
    return parameters_check<F, Args...>::value;
  }
}

}  // namespace kith::detail

namespace kith {

/// A call without arguments: the compiler says what to write.
template <class Nothing = void>
auto spawn() {
  static_assert(sizeof(Nothing*) == 0,
                "spawn takes a function, then its accesses and options; write kith::spawn([&] { ... })");
  return task_ref();
}
template <class Nothing = void>
auto async() {
  static_assert(sizeof(Nothing*) == 0,
                "async takes a function, then its accesses and options; write kith::async([&] { ... })");
  return task_ref();
}

}  // namespace kith
