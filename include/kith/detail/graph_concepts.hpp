// The requirements on a keyed graph as concepts. keyed_graph.hpp says them in words.
#pragma once

#include <concepts>
#include <functional>
#include <type_traits>

namespace kith {

template <class Key>
class keys;
template <class T>
class values;

}  // namespace kith

namespace kith::detail {

template <class G>
class keyed_run;

template <class Key>
concept hashable = std::equality_comparable<Key> && requires(const Key& k) { std::hash<Key>()(k); };
/// compute() takes no values.
template <class G>
concept computes = requires(G& g, const typename G::key& k, keys<typename G::key>& further) {
  g.compute(k, further);
} || requires(G& g, const typename G::key& k) { g.compute(k); };
/// The graph has a type `value` that can be stored and moved.
template <class G>
concept names_value =
    std::same_as<typename G::value, std::remove_cv_t<typename G::value>> && std::move_constructible<typename G::value>;
/// compute() takes values and returns a value.
template <class G>
concept computes_values =
    names_value<G> && (requires(G& g, const typename G::key& k, const values<typename G::value>& needed) {
      { g.compute(k, needed) } -> std::convertible_to<typename G::value>;
    } || requires(G& g, const typename G::key& k, const values<typename G::value>& needed,
                  keys<typename G::key>& further) {
      { g.compute(k, needed, further) } -> std::convertible_to<typename G::value>;
    } || requires(G& g, const typename G::key& k) {
      { g.compute(k) } -> std::same_as<typename G::value>;
    });

}  // namespace kith::detail
