// Memory that is spread over the machine's nodes: allocation with a distribution, and what is known of where bytes are.
#pragma once

#include <kith/task.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace kith {

class runtime;

/// Over which nodes the pages of an allocation are spread (MIR, section 3: data distribution; `block`, a node and
/// `deferred` are not in the paper). "Nodes" are those that host a worker of the runtime and have memory; for one without
/// memory the nearest that has some. A value; any thread.
class distribution {
 public:
  enum kind : std::uint8_t {
    standard,  // what the runtime's option `memory` says
    system,    // page by page where it is touched first
    fine,      // page by page over the nodes in turn
    coarse,    // all of it on one node; the next allocation on the next node
    local,     // on the node of the calling worker
    block,     // as many contiguous, equal shares as there are nodes
    at_node,   // on the node that is named
    deferred,  // each region where the first task that writes it is placed
  };

  constexpr distribution(kind k = standard) noexcept : kind_(k) {}
  constexpr distribution(node n) noexcept : kind_(at_node), node_(n.value) {}
  /// The same in huge pages (2 MiB on most machines), where the system has them.
  constexpr distribution in_huge_pages() const noexcept {
    distribution d = *this;
    d.huge_ = true;
    return d;
  }

  constexpr kind what() const noexcept { return kind_; }
  constexpr int node_number() const noexcept { return node_; }  // of at_node
  constexpr bool huge() const noexcept { return huge_; }

  /// Reads "fine", "node:3", "coarse,huge". Throws kith::error naming what there is.
  static distribution parse(std::string_view text);
  std::string text() const;

  friend constexpr bool operator==(const distribution&, const distribution&) = default;

 private:
  kind kind_;
  bool huge_ = false;
  int node_ = -1;
};

/// At least `bytes` bytes, zeroed, at the start of a page (a huge one if asked for); none is touched yet. Inside a task or
/// a run they belong to its runtime; else to that of the thread's allocation_scope; else to none: then only `system` (which is also `standard`) and `local` can be
/// asked for. 0 bytes are one page. On one node, or where the system refuses to place memory, every distribution is
/// `system`. Memory counts when it is touched: more can be asked for than the machine has. In a dry run
/// (runtime_options::dry) nothing is placed. Throws kith::error for a wrong distribution, std::bad_alloc if there is no
/// address space left. Thread-safe; some microseconds, and up to one system call for each node: for arrays, not for list
/// nodes.
void* allocate(std::size_t bytes, distribution how = {});
/// The same for a runtime, from any thread; `local` is then the node of the processor that the caller runs on.
void* allocate(runtime& of, std::size_t bytes, distribution how = {});
/// While it lives, allocate() without a runtime, on this thread and outside of tasks, belongs to the runtime: for code that
/// is not told of one, such as containers.
class allocation_scope {
 public:
  explicit allocation_scope(runtime& of) noexcept;
  ~allocation_scope();
  allocation_scope(const allocation_scope&) = delete;
  allocation_scope& operator=(const allocation_scope&) = delete;

 private:
  runtime* before_;
};

/// Gives back what allocate() gave; every runtime forgets where it was. Null is nothing. The runtime may have ended before.
/// Throws kith::error for any other address. Thread-safe. Not while a task uses it.
void deallocate(void* memory);
/// `coarse` begins again at the node of worker 0, as it did when the runtime was made. Thread-safe.
void reset_distribution(runtime& of);

/// Tells every runtime that memory which is not from allocate() is given back, or will be filled anew by others: the homes
/// of regions that begin in it are forgotten. Thread-safe. Not while a task uses it. This and the next two throw kith::error
/// for more bytes than an address space holds.
void forget(const void* memory, std::size_t bytes);

/// Bytes on each node, as policies see them: computed, no page is asked for. The last entry is what nobody knows: not
/// touched yet, or not named by any access. For memory from allocate() exact by page; for other memory by the region that
/// begins at `memory`. Thread-safe; takes locks: for programs that want to know, not for every task.
std::vector<std::uint64_t> known_bytes_on_nodes(runtime& of, const void* memory, std::size_t bytes);

/// Where pages truly are, asked of the system in one go.
struct page_census {
  std::vector<std::uint64_t> on_node;  // pages, by node of the runtime's machine
  std::uint64_t untouched = 0;         // that have no memory behind them yet
  std::uint64_t elsewhere = 0;         // of those with a node: not where the allocation's distribution says
};
/// None if the system refuses, or the machine is a pretended one. One system call for 4096 pages. Thread-safe.
std::optional<page_census> count_pages(runtime& of, const void* memory, std::size_t bytes);

/// For standard containers: `std::vector<double, kith::allocator<double>> v(n, kith::allocator<double>(rt,
/// kith::distribution::fine))`. Each allocation takes whole pages. Note that a vector touches its elements when it makes
/// them: with `system` and `deferred` that decides where they are.
template <class T>
class allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;  // deallocate() needs the address alone

  allocator(distribution how = {}) noexcept : how_(how) {}
  /// The runtime must outlive all allocations made by this and its copies (not what they made).
  allocator(runtime& of, distribution how = {}) noexcept : of_(&of), how_(how) {}
  template <class U>
  allocator(const allocator<U>& other) noexcept : of_(other.of_), how_(other.how_) {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(of_ != nullptr ? kith::allocate(*of_, n * sizeof(T), how_)
                                          : kith::allocate(n * sizeof(T), how_));
  }
  void deallocate(T* p, std::size_t) noexcept { kith::deallocate(p); }

  friend bool operator==(const allocator&, const allocator&) noexcept { return true; }

 private:
  template <class U>
  friend class allocator;
  runtime* of_ = nullptr;
  distribution how_;
};

}  // namespace kith
