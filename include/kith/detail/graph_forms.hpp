// The forms that a keyed graph may have, derived from its type.
#pragma once

#include <kith/keyed_graph.hpp>

#include <concepts>
#include <type_traits>

namespace kith::detail {

template <class G, bool has_values>
struct value_type_of {
  using type = void;
};
template <class G>
struct value_type_of<G, true> {
  using type = typename G::value;
};

template <class G>
struct graph_forms {
  using key = typename G::key;
  static constexpr bool has_values = valued_graph<G>;
  using value = typename value_type_of<G, has_values>::type;  // void: there are none
  struct none {};
  using kept_value = std::conditional_t<has_values, value, none>;

  static constexpr bool has_color = requires(G& g, const key& k) { g.color(k); };
  static constexpr bool has_cost = requires(G& g, const key& k) { g.cost(k); };

  // ---- compute()
  using given = const values<kept_value>&;
  static constexpr bool generates = requires(G& g, const key& k, keys<key>& further) {
    requires !has_values;
    g.compute(k, further);
  } || requires(G& g, const key& k, given v, keys<key>& further) {
    requires has_values;
    g.compute(k, v, further);
  };
  static constexpr bool takes_values =
      has_values && (generates || requires(G& g, const key& k, given v) { g.compute(k, v); });

  // ---- what follows
  /// No node computes before all nodes, and so the last reader of each value, are known.
  static constexpr bool finds_first = has_values && !generates;
  /// There is a value to return for a node that a dry run does not compute.
  static constexpr bool has_default = !has_values || std::is_default_constructible_v<kept_value>;
  /// A node can be computed more than once.
  static constexpr bool rehearses = !generates && (!has_values || std::copy_constructible<kept_value>);
};

}  // namespace kith::detail
