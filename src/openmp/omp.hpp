// OpenMP's functions for programs in C: those of GCC's omp.h, except locks and events. Enumerations are their numbers.
#pragma once

#include "openmp/abi.hpp"

#include <cstddef>
#include <cstdint>

namespace kith::openmp {

struct allocator_trait {
  std::uint32_t key;
  std::uintptr_t value;
};

}  // namespace kith::openmp

// Threads (query.cpp).
KITH_OPENMP_API void omp_set_num_threads(int);
KITH_OPENMP_API int omp_get_num_threads();
KITH_OPENMP_API int omp_get_max_threads();
KITH_OPENMP_API int omp_get_thread_num();
KITH_OPENMP_API int omp_get_num_procs();
KITH_OPENMP_API int omp_get_thread_limit();
KITH_OPENMP_API int omp_in_parallel();
KITH_OPENMP_API int omp_in_final();
KITH_OPENMP_API int omp_in_explicit_task();
KITH_OPENMP_API int omp_get_level();
KITH_OPENMP_API int omp_get_active_level();
KITH_OPENMP_API int omp_get_ancestor_thread_num(int level);
KITH_OPENMP_API int omp_get_team_size(int level);
KITH_OPENMP_API double omp_get_wtime();
KITH_OPENMP_API double omp_get_wtick();

// Settings (query.cpp).
KITH_OPENMP_API void omp_set_dynamic(int);
KITH_OPENMP_API int omp_get_dynamic();
KITH_OPENMP_API void omp_set_nested(int);
KITH_OPENMP_API int omp_get_nested();
KITH_OPENMP_API void omp_set_schedule(unsigned kind, int chunk);
KITH_OPENMP_API void omp_get_schedule(unsigned* kind, int* chunk);
KITH_OPENMP_API void omp_set_max_active_levels(int);
KITH_OPENMP_API int omp_get_max_active_levels();
KITH_OPENMP_API int omp_get_supported_active_levels();
KITH_OPENMP_API int omp_get_cancellation();
KITH_OPENMP_API int omp_get_max_task_priority();
KITH_OPENMP_API void omp_display_env(int verbose);

// Places (affinity.cpp).
KITH_OPENMP_API int omp_get_proc_bind();
KITH_OPENMP_API int omp_get_num_places();
KITH_OPENMP_API int omp_get_place_num_procs(int place);
KITH_OPENMP_API void omp_get_place_proc_ids(int place, int* ids);
KITH_OPENMP_API int omp_get_place_num();
KITH_OPENMP_API int omp_get_partition_num_places();
KITH_OPENMP_API void omp_get_partition_place_nums(int* places);
KITH_OPENMP_API void omp_set_affinity_format(const char*);
KITH_OPENMP_API std::size_t omp_get_affinity_format(char* to, std::size_t bytes);
KITH_OPENMP_API void omp_display_affinity(const char* format);
KITH_OPENMP_API std::size_t omp_capture_affinity(char* to, std::size_t bytes, const char* format);

// Devices and leagues of teams (devices.cpp).
KITH_OPENMP_API void omp_set_default_device(int);
KITH_OPENMP_API int omp_get_default_device();
KITH_OPENMP_API int omp_get_num_devices();
KITH_OPENMP_API int omp_get_device_num();
KITH_OPENMP_API int omp_get_initial_device();
KITH_OPENMP_API int omp_is_initial_device();
KITH_OPENMP_API int omp_pause_resource(int kind, int device);
KITH_OPENMP_API int omp_pause_resource_all(int kind);
KITH_OPENMP_API int omp_get_num_teams();
KITH_OPENMP_API int omp_get_team_num();
KITH_OPENMP_API void omp_set_num_teams(int);
KITH_OPENMP_API int omp_get_max_teams();
KITH_OPENMP_API void omp_set_teams_thread_limit(int);
KITH_OPENMP_API int omp_get_teams_thread_limit();
KITH_OPENMP_API void* omp_target_alloc(std::size_t bytes, int device);
KITH_OPENMP_API void omp_target_free(void*, int device);
KITH_OPENMP_API int omp_target_is_present(const void*, int device);
KITH_OPENMP_API int omp_target_memcpy(void* to, const void* from, std::size_t bytes, std::size_t to_offset,
                                      std::size_t from_offset, int to_device, int from_device);
KITH_OPENMP_API int omp_target_memcpy_rect(void* to, const void* from, std::size_t element_bytes, int dimensions,
                                           const std::size_t* volume, const std::size_t* to_offsets,
                                           const std::size_t* from_offsets, const std::size_t* to_extents,
                                           const std::size_t* from_extents, int to_device, int from_device);
KITH_OPENMP_API int omp_target_associate_ptr(const void* host, const void* on_device, std::size_t bytes,
                                             std::size_t offset, int device);
KITH_OPENMP_API int omp_target_disassociate_ptr(const void*, int device);

// Memory (allocator.cpp).
KITH_OPENMP_API std::uintptr_t omp_init_allocator(std::uintptr_t space, int traits,
                                                  const kith::openmp::allocator_trait* trait);
KITH_OPENMP_API void omp_destroy_allocator(std::uintptr_t allocator);
KITH_OPENMP_API void omp_set_default_allocator(std::uintptr_t allocator);
KITH_OPENMP_API std::uintptr_t omp_get_default_allocator();
KITH_OPENMP_API void* omp_alloc(std::size_t bytes, std::uintptr_t allocator);
KITH_OPENMP_API void* omp_aligned_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t allocator);
KITH_OPENMP_API void* omp_calloc(std::size_t count, std::size_t bytes, std::uintptr_t allocator);
KITH_OPENMP_API void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t bytes,
                                         std::uintptr_t allocator);
KITH_OPENMP_API void* omp_realloc(void*, std::size_t bytes, std::uintptr_t allocator, std::uintptr_t free_allocator);
KITH_OPENMP_API void omp_free(void*, std::uintptr_t allocator);
