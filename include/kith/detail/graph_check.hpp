// What a call of explore() must look like, and the one sentence that the compiler says about a wrong one.
#pragma once

#include <kith/keyed_graph.hpp>

#include <concepts>
#include <span>
#include <type_traits>

namespace kith::detail {

/// compute() returns something, and the graph names no type of values: nobody would get it.
template <class G>
concept loses_values =
    keyed_graph<G> && !valued_graph<G> && !requires(G& g, const typename G::key& k, keys<typename G::key>& further) {
      g.compute(k, further);
    } && requires(G& g, const typename G::key& k) { requires !std::is_void_v<decltype(g.compute(k))>; };

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
  static constexpr bool value = can_compute() && !loses_values<G>;
};

/// What braces can hold: an argument of explore() in a call that is refused.
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
