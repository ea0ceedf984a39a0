#include "task/large_memory.hpp"

#include "base/address.hpp"
#include "base/made_once.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace kith {

namespace {

constexpr std::size_t large = std::size_t{4} << 20;  // two huge pages of most machines

class malloc_resource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t align) override {
    if (align > alignof(std::max_align_t)) return std::pmr::new_delete_resource()->allocate(bytes, align);
    void* const memory = bytes < large ? std::malloc(bytes) : allocate_zeros(bytes);
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t align) override {
    if (align > alignof(std::max_align_t)) {
      std::pmr::new_delete_resource()->deallocate(memory, bytes, align);
    } else {
      std::free(memory);
    }
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

void* allocate_zeros(std::size_t bytes) noexcept {
  void* const memory = std::calloc(1, bytes);  // does not touch pages that are fresh from the system
  if (memory == nullptr || bytes < large) return memory;
  constexpr std::uintptr_t page = 4096;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t first = (begin + page - 1) / page * page, end = (begin + bytes) / page * page;
  madvise(at_address(first), end - first, MADV_HUGEPAGE);  // if refused, the pages stay small
  return memory;
}

std::pmr::memory_resource* large_memory() {
  static constinit made_once<std::unique_ptr<malloc_resource>> resource;  // containers may outlive static objects
  return resource.get([] { return std::make_unique<malloc_resource>(); }).get();
}

}  // namespace kith
