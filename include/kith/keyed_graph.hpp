// What a program says of a keyed graph: its keys, what each needs, how it is computed. graph.hpp has the function that
// runs one.
#pragma once

#include <kith/detail/value_cell.hpp>
#include <kith/error.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kith {

/// Collects the keys that a graph names.
template <class Key>
class keys {
 public:
  void add(Key k) { list_.push_back(std::move(k)); }
  std::size_t size() const noexcept { return list_.size(); }
  auto begin() const noexcept { return list_.begin(); }
  auto end() const noexcept { return list_.end(); }
  void clear() noexcept { list_.clear(); }

 private:
  std::vector<Key> list_;
};

namespace detail {
template <class G>
class keyed_run;
}

/// The values of a node's predecessors, in the order in which predecessors() named them (a key that was named twice is
/// there twice): a random-access range of const T&. It is given to compute(), and the values
/// are valid until the node has ended, that is, for the tasks that compute() spawns as well.
template <class T>
class values {
 public:
  using value_type = T;
  using iterator = detail::value_iterator<T>;

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const T& operator[](std::size_t i) const noexcept { return *cells_[i]->value; }
  const T& front() const noexcept { return (*this)[0]; }
  const T& back() const noexcept { return (*this)[size_ - 1]; }
  iterator begin() const noexcept { return iterator(cells_); }
  iterator end() const noexcept { return iterator(cells_ + size_); }

  /// The value itself: moved out if this node is the only one that reads it and explore() was not asked for it, else
  /// copied. Throws kith::error if it would have to be copied and cannot be. Take each at most once.
  T take(std::size_t i) const {
    detail::value_cell<T>& cell = *cells_[i];
    if (may_move_ && cell.has_one_reader()) return std::move(*cell.value);
    if constexpr (std::copy_constructible<T>) {
      return *cell.value;
    } else {
      throw error(
          "kith::values::take(" + std::to_string(i) +
          "): others read this value as well, and it cannot be copied; read it in place, or let the graph give a "
          "shared_ptr");
    }
  }

 private:
  template <class G>
  friend class detail::keyed_run;
  values(detail::value_cell<T>* const* cells, std::size_t size, bool may_move) noexcept
      : cells_(cells), size_(size), may_move_(may_move) {}

  detail::value_cell<T>* const* cells_;
  std::size_t size_;
  bool may_move_;
};

namespace detail {

template <class Key>
concept hashable = std::equality_comparable<Key> && requires(const Key& k) { std::hash<Key>()(k); };
/// compute() without values.
template <class G>
concept computes = requires(G& g, const typename G::key& k, keys<typename G::key>& further) {
  g.compute(k, further);
} || requires(G& g, const typename G::key& k) { g.compute(k); };
/// A type `value` that can be kept and handed over.
template <class G>
concept names_value =
    std::same_as<typename G::value, std::remove_cv_t<typename G::value>> && std::move_constructible<typename G::value>;
/// compute() from values to a value.
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

}  // namespace detail

/// What a graph says. `key` is any type with == and std::hash that can be copied. Required:
///  - `predecessors(const key&, keys<key>&)` names the nodes whose results a node needs;
///  - `compute(const key&)` does a node's work. In a graph whose nodes have values (valued_graph) it is
///    `value compute(const key&, values<value>)`, with the values of the predecessors, and `value` is a type of the
///    graph. With a last parameter `keys<key>&` more it may name further nodes, which are then found and computed as
///    well (a node that is known already is not computed again).
/// Optional:
///  - `int color(const key&)`: the worker that the node's data belongs to (policy `nabbitc`); negative: it uses no data,
///    and is left out of the count of remote accesses;
///  - `int node(const key&)`: the memory node it should run on (policy `socket`);
///  - `void accesses(const key&, access_list&)`: what it reads and writes, for policies that look at homes and for the
///    count of remote accesses. Orders nothing: predecessors do. Not commutative;
///  - `double cost(const key&)`: its work, in nanoseconds of computing. Kept in recordings; in a dry one
///    (runtime_options::dry) it takes the place of compute(), unless that names further nodes;
///  - `const task_type& type(const key&)`: its kind.
/// All of them are called by many workers at once. Only compute() may wait for anything. predecessors() is called once
/// for each node, and again where a cycle is to be reported. All of them may throw, and so may the key's ==, hash and
/// copy: the first exception reaches the caller of explore().
template <class G>
concept keyed_graph =
    detail::hashable<typename G::key> && (detail::computes<G> || detail::computes_values<G>) &&
    requires(G& g, const typename G::key& k, keys<typename G::key>& list) { g.predecessors(k, list); };

/// A keyed graph whose nodes have values. A value is kept until the last node that needs it has computed, those that
/// explore() was asked for until they are handed over. That it is known who is the last, all nodes are found before the
/// first one computes; where compute() names further nodes this cannot be, and all values are kept to the end.
template <class G>
concept valued_graph = keyed_graph<G> && detail::computes_values<G>;

/// What explore() did.
struct exploration {
  std::uint64_t nodes = 0;              // that were found
  std::uint64_t edges = 0;              // predecessors named, by all nodes
  std::uint64_t most_predecessors = 0;  // of one node
  double work = 0;                      // the sum of cost(key), nanoseconds; 0 where the graph does not say
};

/// Thrown by explore() for nodes that wait for each other: each key needs the next one, the last one needs the first.
template <class Key>
class cycle : public error {
 public:
  cycle(const std::string& what, std::vector<Key> circle) : error(what), keys(std::move(circle)) {}
  std::vector<Key> keys;
};

}  // namespace kith
