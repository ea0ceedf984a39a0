// A function that another place can be asked to run: its number, and the code that reads its arguments.
#pragma once

#include <kith/detail/access_maker.hpp>
#include <kith/detail/plain_call.hpp>
#include <kith/detail/serialize.hpp>

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

namespace kith {
template <class R>
class activity;
}  // namespace kith

namespace kith::detail {

/// A coroutine that an activity runs.
class activity_coroutine {
 public:
  /// The handle that resumes and destroys it.
  virtual std::coroutine_handle<> handle() noexcept = 0;
  /// Writes what it has returned to `result` unless that is null, or throws its exception. REQUIRES: it has ended. Null
  /// except for spawned functions, because others may return what cannot be sent.
  void (*write_result)(activity_coroutine&, byte_buffer* result) = nullptr;

 protected:
  activity_coroutine() = default;
  ~activity_coroutine() = default;
};

/// Reads the arguments, calls the function, and writes what it returns to `result` unless that is null. For a coroutine
/// it returns the suspended one, which has not begun; the arguments must outlive that.
using remote_code = activity_coroutine* (*)(std::span<const std::byte> arguments, byte_buffer* result);

/// A function that is known to all places. Objects are static: they are made before main(), and are numbered in the
/// order of their names when the first places start. So all processes of one program have the same numbers.
class remote_function {
 public:
  remote_function(const char* name, remote_code code, bool by_progress) noexcept;

  const char* const name;
  const remote_code code;
  std::uint32_t number = 0;  // from 1 on; 0: not numbered
  const bool by_progress;    // progress_function
  remote_function* const registered_before;
};

/// Whether the elements that a parameter P refers to belong to the argument, not to a temporary object.
template <class P, class Argument>
inline constexpr bool stays = std::is_same_v<P, Argument> || (is_span<P> && (is_span<Argument> || is_vector<Argument>));

/// The parameters and the result of a function or a function object.
template <class F>
struct signature : signature<plain_call<F>> {};
/// The type of the value that arrives where an activity's result is asked for.
template <class R>
struct result_value {
  static constexpr bool is_coroutine = false;
  using type = std::remove_cvref_t<R>;
};
template <class R>
struct result_value<activity<R>> {
  static constexpr bool is_coroutine = true;
  using type = R;
};

template <class R, class... P>
struct signature<R(P...)> {
  static constexpr bool takes_references =
      ((std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>>) || ...);
  static constexpr bool takes_pointers = (std::is_pointer_v<std::remove_cvref_t<P>> || ...);
  static constexpr bool is_coroutine = result_value<R>::is_coroutine;
  static constexpr bool takes_any_references = (std::is_reference_v<P> || ...);
  static constexpr bool gives_pointer = std::is_pointer_v<typename result_value<R>::type>;
  static constexpr bool can_be_sent =
      (detail::goes<std::remove_cvref_t<P>>() && ...) && detail::goes<typename result_value<R>::type>();
  using result = R;
  using values = std::tuple<std::remove_cvref_t<P>...>;
  static constexpr std::size_t parameters = sizeof...(P);

  /// The arguments, after room for a header. They must stay until the message was taken.
  template <class... Args>
  static packed_arguments pack(std::size_t header, const Args&... args) {
    packed_arguments message{byte_buffer(header)};
    output_archive to(message);
    (detail::put<std::remove_cvref_t<P>, stays<std::remove_cvref_t<P>, Args>>(to, args), ...);
    return message;
  }
  static values unpack(std::span<const std::byte> arguments) {
    input_archive from(arguments);
    values read{detail::get<std::remove_cvref_t<P>>(from)...};  // braces: in this order
    from.expect_end();
    return read;
  }
  template <class... Args>
  static constexpr bool accepts = (std::is_convertible_v<const Args&, std::remove_cvref_t<P>> && ...);
};
/// A function as a type.
template <auto F>
struct constant_function {
  template <class... A>
    requires std::is_invocable_v<decltype(F), A...>
  decltype(auto) operator()(A&&... args) const {
    return F(std::forward<A>(args)...);
  }
};

/// A function as a type, for a place's progress thread to call when the message arrives, however busy the workers are.
/// It must be short, must not wait or spawn, and gets its place as an argument, because it is no activity.
template <auto F>
struct progress_function : constant_function<F> {
  static constexpr bool by_progress = true;
};

template <class F>
struct signature_of {};  // none: a generic lambda, or no function at all
template <class F>
  requires requires { typename plain_call<F>; }
struct signature_of<F> {
  using type = signature<F>;
};
template <auto F>
struct signature_of<constant_function<F>> {
  using type = signature<decltype(F)>;
};
template <auto F>
struct signature_of<progress_function<F>> : signature_of<constant_function<F>> {};

template <class F>
concept called_by_progress = requires { F::by_progress; };

/// The entry of a callable without state.
template <class F>
struct registered {
  using call = typename signature_of<F>::type;

  static activity_coroutine* run(std::span<const std::byte> arguments, byte_buffer* result) {
    auto values = call::unpack(arguments);
    if constexpr (call::is_coroutine) {
      auto* const made = std::apply(F{}, std::move(values)).release();
      made->write_result = &write_result<std::remove_pointer_t<decltype(made)>>;
      return made;
    } else if constexpr (std::is_void_v<typename call::result>) {
      std::apply(F{}, std::move(values));
    } else if (result == nullptr) {
      static_cast<void>(std::apply(F{}, std::move(values)));
    } else {
      output_archive to(*result);
      detail::put<std::remove_cvref_t<typename call::result>>(to, std::apply(F{}, std::move(values)));
    }
    return nullptr;
  }
  template <class Coroutine>
  static void write_result(activity_coroutine& ended, byte_buffer* result) {
    auto& mine = static_cast<Coroutine&>(ended);
    using R = typename result_value<typename call::result>::type;
    if constexpr (std::is_void_v<R>) {
      mine.take_or_throw();
    } else if (const R value = mine.take_or_throw(); result != nullptr) {
      output_archive to(*result);
      detail::put<R>(to, value);
    }
  }
  static inline remote_function entry{typeid(F).name(), &run, called_by_progress<F>};
};

template <class F>
concept stateless =
    std::is_empty_v<F> && std::is_default_constructible_v<F> && requires { typename signature_of<F>::type; };

template <class F, class... Args>
constexpr bool is_remote_call() {
  if constexpr (!stateless<F>) {
    static_assert(stateless<F>,
                  "a place runs functions that all places know: write at(p).spawn<function>(arguments...), or a lambda "
                  "without captures whose parameters have types, and pass what it needs as arguments");
    return false;
  } else {
    using call = typename signature_of<F>::type;
    static_assert(!call::takes_references,
                  "a parameter of a function that another place runs cannot be a reference to something here; write a "
                  "value or a const reference");
    static_assert(
        !call::is_coroutine || !call::takes_any_references,
        "a parameter of a coroutine cannot be a reference, which would not outlive its first co_await; write a "
        "value");
    static_assert(
        !call::takes_pointers && !call::gives_pointer,
        "no pointer crosses a place; pass or return the value, a std::vector or a std::span of what it points "
        "to");
    if constexpr (!call::takes_pointers && !call::gives_pointer) {
      static_assert(call::can_be_sent,
                    "a parameter or the result has a type that cannot be sent: write a default constructor and "
                    "serialize() in it, or include cereal's header for it, such as <cereal/types/map.hpp>");
    }
    static_assert(call::parameters == sizeof...(Args),
                  "the function takes another number of arguments; give one for each of its parameters");
    if constexpr (call::parameters == sizeof...(Args) && !call::takes_pointers && !call::gives_pointer) {
      constexpr bool accesses =
          ((is_access<Args> || is_flow_access<Args> || std::is_same_v<Args, refused_access>) || ...);
      constexpr bool accepted = call::template accepts<Args...>;
      static_assert(accepted || !accesses,
                    "an activity has values as arguments, not accesses; pass a distributed_array itself, or write "
                    "flow.spawn(...) of a kith::data_flow");
      static_assert(accepted || accesses, "an argument cannot be converted to the function's parameter");
      return !call::takes_references && !(call::is_coroutine && call::takes_any_references) && call::can_be_sent &&
             accepted;
    }
    return false;
  }
}

}  // namespace kith::detail
