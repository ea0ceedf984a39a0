// Checks of the calls that make nodes of static graphs. For a wrong one the compiler prints one sentence that says what
// to write.
#pragma once

#include <kith/detail/call_check.hpp>

#include <type_traits>

namespace kith::detail {

/// Checks the arguments of static_graph::add, as parameters_check does for spawn().
template <class F, class... Options>
struct node_check {
  static constexpr bool unordered = (!order<Options> && ...);
  static_assert(unordered,
                "static_graph::add takes no access, access_list or kith::after: its nodes run in the order of "
                "their edges; write graph.edge(before, after)");
  static_assert(!unordered || std::is_invocable_v<std::decay_t<F>&>,
                "argument 1 of static_graph::add cannot be called without arguments; write [] { ... }");
  static constexpr bool value = unordered && std::is_invocable_v<std::decay_t<F>&>;
};
template <class F, class... Options>
constexpr bool is_node_call() {
  if constexpr (!detail::may_declare<F, Options...>()) {
    return false;
  } else {
    return node_check<F, Options...>::value;
  }
}

}  // namespace kith::detail
