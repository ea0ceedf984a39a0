// How a program describes a keyed graph: its keys, what each node needs, how it is computed. graph.hpp has the
// function that runs one.
#pragma once

#include <kith/detail/graph_concepts.hpp>
#include <kith/detail/value_cell.hpp>
#include <kith/error.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kith {

/// Collects the keys that a graph names. A graph's functions take it by reference: it cannot be copied, because what is
/// added to a copy would be lost.
template <class Key>
class keys {
 public:
  keys() = default;
  keys(const keys&) = delete;
  keys& operator=(const keys&) = delete;
  keys(keys&&) noexcept = default;
  keys& operator=(keys&&) noexcept = default;
  ~keys() = default;

  /// Appends a key. The same one may be added again.
  void add(Key k) { list_.push_back(std::move(k)); }
  std::size_t size() const noexcept { return list_.size(); }
  /// The keys, in the order in which they were added.
  auto begin() const noexcept { return list_.begin(); }
  auto end() const noexcept { return list_.end(); }
  void clear() noexcept { list_.clear(); }

 private:
  std::vector<Key> list_;
};

/// The values of a node's predecessors, in the order in which predecessors() named them (a key that was named
/// twice appears twice): a random-access range of const T&. compute() receives it. The values are valid until the
/// node has ended, so tasks that compute() spawns may use them too.
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

  /// The value itself. It is moved out if only this node reads it and explore() was not asked for it, else it is
  /// copied. Throws kith::error if it must be copied and cannot be. Take each value at most once.
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

/// The members of a graph. `key` is any copyable type with == and std::hash. Required:
///  - `predecessors(const key&, keys<key>&)` names the nodes whose results a node needs;
///  - `compute(const key&)` does a node's work. In a graph whose nodes have values (valued_graph) it is `value
///    compute(const key&, values<value>)`, with the values of the predecessors; `value` is a member type of the
///    graph. With one more parameter `keys<key>&` at the end it may name further nodes, which are then found and
///    computed too (a known node is not computed again).
/// Optional:
///  - `int color(const key&)`: the worker that the node's data belongs to (policy `nabbitc`); negative: it uses
///    no data and does not count for remote accesses;
///  - `int node(const key&)`: the memory node it should run on (policy `socket`);
///  - `void accesses(const key&, access_list&)`: what it reads and writes, for policies that use homes and for
///    the count of remote accesses. Accesses order nothing; predecessors do. Commutative accesses are refused;
///  - `double cost(const key&)`: its work, in nanoseconds of computing. Kept in recordings. In a dry run
///    (runtime_options::dry) it replaces compute(), unless compute() names further nodes;
///  - `const task_type& type(const key&)`: its task type.
/// Many workers call these at once. Only compute() may wait for anything. predecessors() is called once for each
/// node, and again when a cycle is reported. All of them may throw, and so may the key's ==, hash and copy; the
/// first exception reaches the caller of explore().
template <class G>
concept keyed_graph =
    detail::hashable<typename G::key> && (detail::computes<G> || detail::computes_values<G>) &&
    requires(G& g, const typename G::key& k, keys<typename G::key>& list) { g.predecessors(k, list); };

/// A keyed graph whose nodes have values. A value is kept until the last node that needs it has ended; a wanted
/// one, until explore() returns it. To know the last reader of each value, explore() finds all nodes before the
/// first one computes. If compute() names further nodes this is impossible, and all values are kept to the end.
template <class G>
concept valued_graph = keyed_graph<G> && detail::computes_values<G>;

/// What explore() did.
struct exploration {
  std::uint64_t nodes = 0;              // nodes found
  std::uint64_t edges = 0;              // predecessors named, by all nodes
  std::uint64_t most_predecessors = 0;  // of any node
  double work = 0;                      // the sum of cost(key), in nanoseconds; 0 if the graph has no cost()
};

/// Thrown by explore() for nodes that wait for each other: each key needs the next one, and the last needs the first.
template <class Key>
class cycle : public error {
 public:
  cycle(const std::string& what, std::vector<Key> circle) : error(what), keys(std::move(circle)) {}
  std::vector<Key> keys;
};

}  // namespace kith
