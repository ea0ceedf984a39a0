// The requirements on a call of explore(), and the one sentence that the compiler says about a wrong one.
#pragma once

#include <kith/keyed_graph.hpp>
#include <kith/options.hpp>

#include <concepts>
#include <span>
#include <type_traits>

namespace kith::detail {

/// Whether compute() returns something while the graph names no type of values: the result would be lost.
template <class G>
concept loses_values =
    keyed_graph<G> && !valued_graph<G> && !requires(G& g, const typename G::key& k, keys<typename G::key>& further) {
      g.compute(k, further);
    } && requires(G& g, const typename G::key& k) { requires !std::is_void_v<decltype(g.compute(k))>; };

/// The functions that a graph may have. Each is true if the graph does not have it, or explore() can call it.
template <class G>
struct optional_functions {
  static constexpr bool color() {
    if constexpr (requires { requires std::is_member_function_pointer_v<decltype(&G::color)>; }) {
      return requires(G& g, const typename G::key& k) { kith::color{g.color(k)}; };
    } else {
      return true;
    }
  }
  static constexpr bool node() {
    if constexpr (requires { requires std::is_member_function_pointer_v<decltype(&G::node)>; }) {
      return requires(G& g, const typename G::key& k) { kith::node{g.node(k)}; };
    } else {
      return true;
    }
  }
  static constexpr bool cost() {
    if constexpr (requires { requires std::is_member_function_pointer_v<decltype(&G::cost)>; }) {
      return requires(G& g, const typename G::key& k) { kith::work{g.cost(k)}; };
    } else {
      return true;
    }
  }
  static constexpr bool type() {
    if constexpr (requires { requires std::is_member_function_pointer_v<decltype(&G::type)>; }) {
      return requires(G& g, const typename G::key& k) {
        { g.type(k) } -> std::convertible_to<const task_type&>;
      };
    } else {
      return true;
    }
  }
  static constexpr bool accesses() {
    if constexpr (requires { requires std::is_member_function_pointer_v<decltype(&G::accesses)>; }) {
      return requires(G& g, const typename G::key& k, access_list& list) { g.accesses(k, list); };
    } else {
      return true;
    }
  }
  static constexpr bool good = color() && node() && cost() && type() && accesses();
};

template <class G>
concept explorable = keyed_graph<G> && !loses_values<G> && optional_functions<G>::good;

/// Whether G is a keyed graph whose functions are all called. Only the first fault is reported.
template <class G>
struct graph_check {
  static constexpr bool has_key = requires { typename G::key; };
  static constexpr bool can_hash() {
    if constexpr (has_key) {
      return hashable<typename G::key>;
    } else {
      return false;
    }
  }
  static constexpr bool names_predecessors() {
    if constexpr (can_hash()) {
      return requires(G& g, const typename G::key& k, keys<typename G::key>& list) { g.predecessors(k, list); };
    } else {
      return false;
    }
  }
  static constexpr bool can_compute() {
    if constexpr (names_predecessors()) {
      return computes<G> || computes_values<G>;
    } else {
      return false;
    }
  }
  static_assert(has_key, "argument 1 of explore is a graph without a type of keys; write using key = ...; in it");
  static_assert(
      !has_key || can_hash(),
      "argument 1 of explore is a graph whose keys cannot be looked up; give the key operator== and std::hash");
  static_assert(!can_hash() || names_predecessors(),
                "argument 1 of explore is a graph without predecessors, or they take other parameters; write void "
                "predecessors(const key&, kith::keys<key>&) in it, which names the nodes that a node needs");
  static_assert(!names_predecessors() || can_compute(),
                "argument 1 of explore is a graph without compute; write void compute(const key&) in it, or value "
                "compute(const key&, const kith::values<value>&) and using value = ...;");
  static_assert(!loses_values<G>,
                "argument 1 of explore is a graph whose compute returns a value that nobody gets; write using value = "
                "...; in it, or let compute return void");
  static_assert(!can_compute() || optional_functions<G>::color(),
                "argument 1 of explore is a graph whose color takes other parameters, or returns no number; write int "
                "color(const key&)");
  static_assert(!can_compute() || optional_functions<G>::node(),
                "argument 1 of explore is a graph whose node takes other parameters, or returns no number; write int "
                "node(const key&)");
  static_assert(
      !can_compute() || optional_functions<G>::cost(),
      "argument 1 of explore is a graph whose cost takes other parameters, or returns no number; write double "
      "cost(const key&), in nanoseconds");
  static_assert(!can_compute() || optional_functions<G>::type(),
                "argument 1 of explore is a graph whose type takes other parameters, or returns no type; write const "
                "kith::task_type& type(const key&)");
  static_assert(
      !can_compute() || optional_functions<G>::accesses(),
      "argument 1 of explore is a graph whose accesses take other parameters; write void accesses(const key&, "
      "kith::access_list&)");
  static constexpr bool value = explorable<G>;
};

/// Stands for a braced argument of explore() in a call that is refused.
struct any_key {
  template <class T>
  any_key(const T&) {}
};

/// The result of such a call, so that its use is no further error.
struct any_value {
  template <class T>
  operator T() const;
};

/// Whether W is one key of G, or several.
template <class G, class W>
concept keys_of =
    std::convertible_to<W&&, const typename G::key&> || std::convertible_to<W&&, std::span<const typename G::key>>;

/// A call of explore() that no overload takes, and what is wrong with it.
template <class G>
struct explore_check {
  using graph = std::remove_reference_t<G>;
  static constexpr bool good = graph_check<graph>::value;
  static_assert(!good || std::is_lvalue_reference_v<G>,
                "argument 1 of explore is a temporary; give the graph a name that outlives the call");
  static_assert(!good || !std::is_lvalue_reference_v<G>,
                "argument 2 of explore is neither a key nor a span of keys; write the wanted key, or {key, key}");
};

}  // namespace kith::detail
