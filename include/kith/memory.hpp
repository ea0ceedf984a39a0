// Memory that is spread over the machine's nodes: allocation with a distribution, and queries of where bytes are.
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

/// Over which nodes the pages of an allocation are spread (MIR, section 3: data distribution; `block`, `at_node`
/// and `deferred` are not in the paper). "Nodes" are those that host a worker of the runtime and have memory; a
/// node without memory is replaced by the nearest one with memory. A value type; usable from any thread.
class distribution {
 public:
  enum kind : std::uint8_t {
    standard,  // as the runtime's option `memory` says
    system,    // each page where it is touched first
    fine,      // pages round robin over the nodes
    coarse,    // the whole allocation on one node, the next one on the next node
    local,     // on the node of the calling worker
    block,     // one contiguous, equal share for each node
    at_node,   // on a named node; on a machine with fewer nodes it wraps
    deferred,  // each region on the node where the first task that writes it is placed
  };

  constexpr distribution(kind k = standard) noexcept : kind_(k) {}
  constexpr distribution(node n) noexcept : kind_(at_node), node_(n.value) {}
  /// The same in huge pages (2 MiB on most machines), where the system has them.
  [[nodiscard]] constexpr distribution in_huge_pages() const noexcept {
    distribution d = *this;
    d.huge_ = true;
    return d;
  }

  constexpr kind what() const noexcept { return kind_; }
  constexpr int node_number() const noexcept { return node_; }  // of at_node
  constexpr bool huge() const noexcept { return huge_; }

  /// Reads "fine", "node:3", "coarse,huge". Throws kith::error that lists the distributions.
  static distribution parse(std::string_view text);
  /// The text that parse() reads.
  std::string text() const;

  friend constexpr bool operator==(const distribution&, const distribution&) = default;

 private:
  kind kind_;
  bool huge_ = false;
  int node_ = -1;
};

/// At least `bytes` bytes, zeroed, at the start of a page (a huge one if asked for); none is touched yet. Inside
/// a task or a run they belong to its runtime, else to that of the thread's allocation_scope, else to none; with
/// none, only `system` (also meant by `standard`) and `local` are allowed. 0 bytes give one page. On a machine
/// with one node, or if the system refuses to place memory, every distribution acts as `system`. Untouched memory
/// does not count: more can be allocated than the machine has. In a dry run (runtime_options::dry) nothing is
/// placed. Throws kith::error for a wrong distribution, std::bad_alloc if no address space is left. Thread-safe.
/// Takes some microseconds and up to one system call for each node: meant for arrays, not for list nodes.
[[nodiscard]] void* allocate(std::size_t bytes, distribution how = {});
/// The same for a given runtime, from any thread. `local` is the node of the processor that the caller runs on.
[[nodiscard]] void* allocate(runtime& rt, std::size_t bytes, distribution how = {});
/// Rejects a text at compile time, with a message that says what to write.
template <class Text>
  requires std::is_convertible_v<const Text&, std::string_view>
void* allocate(std::size_t, const Text&) {
  static_assert(
      sizeof(Text) == 0,
      "argument 2 of allocate is a text; write kith::distribution::block, or kith::distribution::parse(text)");
  return nullptr;
}
template <class Text>
  requires std::is_convertible_v<const Text&, std::string_view>
void* allocate(runtime&, std::size_t, const Text&) {
  static_assert(
      sizeof(Text) == 0,
      "argument 3 of allocate is a text; write kith::distribution::block, or kith::distribution::parse(text)");
  return nullptr;
}
/// While it lives, memory that this thread allocates outside of tasks, without naming a runtime, belongs to `rt`.
/// For code that cannot pass a runtime, such as containers.
class allocation_scope {
 public:
  explicit allocation_scope(runtime& rt) noexcept;
  ~allocation_scope();
  allocation_scope(const allocation_scope&) = delete;
  allocation_scope& operator=(const allocation_scope&) = delete;

 private:
  runtime* before_;
};

/// Frees memory from allocate(); every runtime forgets where it was. Does nothing for null. The runtime may have ended
/// already. Throws kith::error for any other address. Thread-safe. No task may be using the memory.
void deallocate(void* memory);
/// Makes `coarse` begin again at the node of worker 0, as when the runtime was made. Thread-safe.
void reset_distribution(runtime& rt);

/// Tells every runtime that memory from elsewhere than allocate() is freed, or will be filled again by other code: the
/// homes of regions that begin in it are forgotten. Thread-safe. No task may be using the memory. This and the next two
/// functions throw kith::error for more bytes than an address space holds.
void forget(const void* memory, std::size_t bytes);

/// Bytes on each node, as policies see them: computed, without asking the system for any page. The last entry
/// counts bytes whose node is unknown: not touched yet, or not named by any access. Exact by page for memory from
/// allocate(); for other memory, by the region that begins at `memory`. Thread-safe; takes locks, so do not call
/// it in every task.
std::vector<std::uint64_t> known_bytes_on_nodes(runtime& rt, const void* memory, std::size_t bytes);

/// The nodes where pages really are, according to the system.
struct page_census {
  std::vector<std::uint64_t> on_node;  // pages, by node of the runtime's machine
  std::uint64_t untouched = 0;         // pages that have no memory yet
  std::uint64_t elsewhere = 0;         // pages on another node than the allocation's distribution says
};
/// Empty if the system refuses or the machine is pretended. One system call for each 4096 pages. Thread-safe.
std::optional<page_census> count_pages(runtime& rt, const void* memory, std::size_t bytes);

/// For standard containers: `std::vector<double, kith::allocator<double>> v(n, kith::allocator<double>(rt,
/// kith::distribution::fine))`. Each allocation takes whole pages. Note that a vector touches its elements when
/// it makes them; with `system` that decides where they are.
template <class T>
class allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;  // deallocate() needs only the address

  allocator(distribution how = {}) noexcept : how_(how) {}
  /// The runtime must live whenever this allocator or a copy allocates; the memory may outlive it.
  allocator(runtime& rt, distribution how = {}) noexcept : rt_(&rt), how_(how) {}
  template <class U>
  allocator(const allocator<U>& other) noexcept : rt_(other.rt_), how_(other.how_) {}

  /// As kith::allocate() of n elements; also throws std::bad_array_new_length.
  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(rt_ != nullptr ? kith::allocate(*rt_, n * sizeof(T), how_)
                                          : kith::allocate(n * sizeof(T), how_));
  }
  void deallocate(T* p, std::size_t) noexcept { kith::deallocate(p); }

  friend bool operator==(const allocator&, const allocator&) noexcept { return true; }

 private:
  template <class U>
  friend class allocator;
  runtime* rt_ = nullptr;
  distribution how_;
};

}  // namespace kith
