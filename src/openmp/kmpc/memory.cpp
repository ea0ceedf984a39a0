// Memory: the directive `allocate`, and the functions of LLVM's omp.h.
#include "openmp/omp.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

KITH_OPENMP_API void* __kmpc_alloc(int, std::size_t bytes, std::uintptr_t allocator) {
  return omp_alloc(bytes, allocator);
}
KITH_OPENMP_API void* __kmpc_aligned_alloc(int, std::size_t alignment, std::size_t bytes, std::uintptr_t allocator) {
  return omp_aligned_alloc(alignment, bytes, allocator);
}
KITH_OPENMP_API void* __kmpc_calloc(int, std::size_t count, std::size_t bytes, std::uintptr_t allocator) {
  return omp_calloc(count, bytes, allocator);
}
KITH_OPENMP_API void* __kmpc_realloc(int, void* block, std::size_t bytes, std::uintptr_t allocator,
                                     std::uintptr_t free_allocator) {
  return omp_realloc(block, bytes, allocator, free_allocator);
}
KITH_OPENMP_API void __kmpc_free(int, void* block, std::uintptr_t allocator) { omp_free(block, allocator); }
KITH_OPENMP_API std::uintptr_t __kmpc_init_allocator(int, std::uintptr_t space, int traits,
                                                     const kith::openmp::allocator_trait* list) {
  return omp_init_allocator(space, traits, list);
}
KITH_OPENMP_API void __kmpc_destroy_allocator(int, std::uintptr_t allocator) { omp_destroy_allocator(allocator); }
KITH_OPENMP_API void __kmpc_set_default_allocator(int, std::uintptr_t allocator) {
  omp_set_default_allocator(allocator);
}
KITH_OPENMP_API std::uintptr_t __kmpc_get_default_allocator(int) { return omp_get_default_allocator(); }

KITH_OPENMP_API void* kmp_malloc(std::size_t bytes) { return std::malloc(bytes); }
KITH_OPENMP_API void* kmp_aligned_malloc(std::size_t bytes, std::size_t alignment) {
  void* block = nullptr;
  return posix_memalign(&block, std::max(alignment, sizeof(void*)), bytes) == 0 ? block : nullptr;
}
KITH_OPENMP_API void* kmp_calloc(std::size_t count, std::size_t bytes) { return std::calloc(count, bytes); }
KITH_OPENMP_API void* kmp_realloc(void* block, std::size_t bytes) { return std::realloc(block, bytes); }
KITH_OPENMP_API void kmp_free(void* block) { std::free(block); }
