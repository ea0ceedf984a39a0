// Memory on one node for the runtime's own data: pieces of any size, cut from pages that prefer the node.
//
// The standard's pool over mapped pages, behind one lock. It has pools for each node, not for each thread as
// std::pmr::synchronized_pool_resource, because many threads take few pieces each. Thread-safe. An allocation
// costs the lock, and seldom two system calls (pools grow by doubling). A piece of more than 4 KiB has its own
// pages, with two system calls each time. If the system refuses to place pages, they are where they are first
// touched; they are always fresh.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <mutex>

namespace kith {

/// Whole pages from `node` (the system's number), or from other nodes when that one is full. Caches nothing.
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

/// Reuses pieces that were given back. Its pages go back to the system when it is destroyed.
class node_memory final : public std::pmr::memory_resource {
 public:
  /// `node` is the system's number.
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
