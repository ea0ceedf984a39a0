#include "memory/node_memory.hpp"

#include "memory/numa_calls.hpp"
#include "memory/pages.hpp"

#include <algorithm>
#include <new>

namespace kith {

namespace {

/// Rounds up to a multiple of a power of two.
std::size_t up_to(std::size_t bytes, std::size_t multiple) {
  if (bytes > static_cast<std::size_t>(-1) - multiple) throw std::bad_alloc();
  return (std::max<std::size_t>(1, bytes) + multiple - 1) & ~(multiple - 1);
}

}  // namespace

void* node_pages::do_allocate(std::size_t bytes, std::size_t alignment) {
  const std::size_t whole = up_to(bytes, page_size());
  void* const p = map_pages(whole, std::max(alignment, page_size()));
  if (numa::process_rights().can_place()) {
    numa::prefer(p, whole, node_);
  } else {
    refuse_huge_pages(p, whole);  // a huge page could also cover another node's memory beside it
  }
  return p;
}

void node_pages::do_deallocate(void* p, std::size_t bytes, std::size_t /*alignment*/) {
  unmap_pages(p, up_to(bytes, page_size()));
}

// Sizes are multiples of the alignment, because older pools (libstdc++ before 15) ignore the alignment of other sizes.

void* node_memory::do_allocate(std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(guard_);
  return pool_.allocate(up_to(bytes, alignment), alignment);
}

void node_memory::do_deallocate(void* p, std::size_t bytes, std::size_t alignment) {
  const std::lock_guard lock(guard_);
  pool_.deallocate(p, up_to(bytes, alignment), alignment);
}

}  // namespace kith
