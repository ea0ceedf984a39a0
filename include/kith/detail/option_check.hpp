// Checks of options that are true or false. For a wrong value the compiler prints one sentence that says what to write.
#pragma once

#include <type_traits>

namespace kith::detail {

/// Whether T is bool, or a class that converts to it, such as the element of std::vector<bool>.
template <class T>
struct bool_check {
  static constexpr bool value = std::is_same_v<T, bool> || (std::is_class_v<T> && std::is_convertible_v<T, bool>);
  static_assert(value,
                "an option of the runtime that is true or false (oversubscribe, check_handles, migrate, dry) is given "
                "something else; write true or false");
};

template <class T>
constexpr bool bool_of(const T& value) {
  if constexpr (bool_check<T>::value) {
    return static_cast<bool>(value);
  } else {
    return false;
  }
}

}  // namespace kith::detail
