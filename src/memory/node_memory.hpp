// Memory on one node, for what the runtime itself keeps there: pieces of any size, cut from pages that prefer the node.
//
// The standard's pool over mapped pages, behind one lock: its pools are kept by node and not by thread, as those of
// std::pmr::synchronized_pool_resource are, since many threads take few pieces. Any thread may allocate and deallocate.
// An allocation costs the lock, and seldom (pools grow by doubling) two system calls; a piece of more than 4 KiB is pages
// of its own, with two system calls each time. Where the system refuses to place pages they lie where they are first
// touched: they are always fresh.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <mutex>

namespace kith {

/// Whole pages that come from `node` (by the system's number), from others when that one is full. Keeps nothing back.
class node_pages final : public std::pmr::memory_resource {
 public:
  explicit node_pages(int node) noexcept : node_(node) {}

 private:
  /// Throws std::bad_alloc.
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  const int node_;
};

/// Pieces that were given back are used again; pages go back to the system when the whole goes.
class node_memory final : public std::pmr::memory_resource {
 public:
  /// `node`: by the system's number.
  explicit node_memory(int node) : pages_(node), pool_(&pages_) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* p, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  node_pages pages_;
  std::mutex guard_;
  std::pmr::unsynchronized_pool_resource pool_;
};

}  // namespace kith
