// OpenMP's functions for programs in Fortran: the names end in an underscore, and arguments are references, with _8 to
// integers of 8 bytes. Texts have a length in place of a zero at their end, and are filled with spaces.
#include "openmp/affinity.hpp"
#include "openmp/omp.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

using namespace kith::openmp;

namespace {

int to_int(std::int64_t value) noexcept {
  return static_cast<int>(
      std::clamp<std::int64_t>(value, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
}

constexpr unsigned kind_bits = 0x7fffffffU;  // programs for OpenMP 4.5 do not expect the modifier `monotonic`

std::int32_t give_text(const std::string& text, char* to, std::size_t bytes) noexcept {
  const std::size_t fitting = std::min(text.size(), bytes);
  if (fitting != 0) std::copy_n(text.data(), fitting, to);
  if (bytes > fitting) std::memset(to + fitting, ' ', bytes - fitting);
  return static_cast<std::int32_t>(text.size());
}

}  // namespace

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are parts of names

#define KITH_GET(NAME) \
  KITH_OPENMP_API std::int32_t NAME##_() { return NAME(); }
KITH_GET(omp_get_dynamic)
KITH_GET(omp_get_nested)
KITH_GET(omp_in_parallel)
KITH_GET(omp_get_max_threads)
KITH_GET(omp_get_num_procs)
KITH_GET(omp_get_num_threads)
KITH_GET(omp_get_thread_num)
KITH_GET(omp_get_thread_limit)
KITH_GET(omp_get_max_active_levels)
KITH_GET(omp_get_supported_active_levels)
KITH_GET(omp_get_level)
KITH_GET(omp_get_active_level)
KITH_GET(omp_in_final)
KITH_GET(omp_in_explicit_task)
KITH_GET(omp_get_max_teams)
KITH_GET(omp_get_teams_thread_limit)
KITH_GET(omp_get_cancellation)
KITH_GET(omp_get_proc_bind)
KITH_GET(omp_get_num_places)
KITH_GET(omp_get_place_num)
KITH_GET(omp_get_partition_num_places)
KITH_GET(omp_get_default_device)
KITH_GET(omp_get_num_devices)
KITH_GET(omp_get_num_teams)
KITH_GET(omp_get_team_num)
KITH_GET(omp_is_initial_device)
KITH_GET(omp_get_initial_device)
KITH_GET(omp_get_device_num)
KITH_GET(omp_get_max_task_priority)

#define KITH_SET(NAME)                                                      \
  KITH_OPENMP_API void NAME##_(const std::int32_t* value) { NAME(*value); } \
  KITH_OPENMP_API void NAME##_8_(const std::int64_t* value) { NAME(to_int(*value)); }
KITH_SET(omp_set_num_threads)
KITH_SET(omp_set_max_active_levels)
KITH_SET(omp_set_num_teams)
KITH_SET(omp_set_teams_thread_limit)
KITH_SET(omp_set_default_device)
KITH_SET(omp_set_dynamic)
KITH_SET(omp_set_nested)

#define KITH_GET_AT(NAME)                                                            \
  KITH_OPENMP_API std::int32_t NAME##_(const std::int32_t* at) { return NAME(*at); } \
  KITH_OPENMP_API std::int32_t NAME##_8_(const std::int64_t* at) { return NAME(to_int(*at)); }
KITH_GET_AT(omp_get_ancestor_thread_num)
KITH_GET_AT(omp_get_team_size)
KITH_GET_AT(omp_get_place_num_procs)

// NOLINTEND(bugprone-macro-parentheses)

KITH_OPENMP_API double omp_get_wtick_() { return omp_get_wtick(); }
KITH_OPENMP_API double omp_get_wtime_() { return omp_get_wtime(); }

KITH_OPENMP_API void omp_set_schedule_(const std::int32_t* kind, const std::int32_t* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), *chunk);
}

KITH_OPENMP_API void omp_set_schedule_8_(const std::int32_t* kind, const std::int64_t* chunk) {
  omp_set_schedule(static_cast<unsigned>(*kind), to_int(*chunk));
}

KITH_OPENMP_API void omp_get_schedule_(std::int32_t* kind, std::int32_t* chunk) {
  unsigned all = 0;
  omp_get_schedule(&all, chunk);
  *kind = static_cast<std::int32_t>(all & kind_bits);
}

KITH_OPENMP_API void omp_get_schedule_8_(std::int32_t* kind, std::int64_t* chunk) {
  int narrow = 0;
  omp_get_schedule_(kind, &narrow);
  *chunk = narrow;
}

// There are no places, so nothing is written.
KITH_OPENMP_API void omp_get_place_proc_ids_(const std::int32_t*, std::int32_t*) {}
KITH_OPENMP_API void omp_get_place_proc_ids_8_(const std::int64_t*, std::int64_t*) {}
KITH_OPENMP_API void omp_get_partition_place_nums_(std::int32_t*) {}
KITH_OPENMP_API void omp_get_partition_place_nums_8_(std::int64_t*) {}

KITH_OPENMP_API void omp_set_affinity_format_(const char* format, std::size_t bytes) {
  set_affinity_format(std::string_view(format, bytes));
}

KITH_OPENMP_API std::int32_t omp_get_affinity_format_(char* to, std::size_t bytes) {
  return give_text(affinity_format(), to, bytes);
}

KITH_OPENMP_API void omp_display_affinity_(const char* format, std::size_t bytes) {
  display_affinity(std::string_view(format, bytes));
}

KITH_OPENMP_API std::int32_t omp_capture_affinity_(char* to, const char* format, std::size_t bytes,
                                                   std::size_t format_bytes) {
  return give_text(affinity_text(std::string_view(format, format_bytes)), to, bytes);
}

KITH_OPENMP_API std::int32_t omp_pause_resource_(const std::int32_t* kind, const std::int32_t* device) {
  return omp_pause_resource(*kind, *device);
}

KITH_OPENMP_API std::int32_t omp_pause_resource_all_(const std::int32_t* kind) { return omp_pause_resource_all(*kind); }

KITH_OPENMP_API std::intptr_t omp_init_allocator_(const std::intptr_t* space, const std::int32_t* traits,
                                                  const allocator_trait* trait) {
  return static_cast<std::intptr_t>(omp_init_allocator(static_cast<std::uintptr_t>(*space), *traits, trait));
}

KITH_OPENMP_API std::intptr_t omp_init_allocator_8_(const std::intptr_t* space, const std::int64_t* traits,
                                                    const allocator_trait* trait) {
  return static_cast<std::intptr_t>(omp_init_allocator(static_cast<std::uintptr_t>(*space), to_int(*traits), trait));
}

KITH_OPENMP_API void omp_destroy_allocator_(const std::intptr_t* allocator) {
  omp_destroy_allocator(static_cast<std::uintptr_t>(*allocator));
}

KITH_OPENMP_API void omp_set_default_allocator_(const std::intptr_t* allocator) {
  omp_set_default_allocator(static_cast<std::uintptr_t>(*allocator));
}

KITH_OPENMP_API std::intptr_t omp_get_default_allocator_() {
  return static_cast<std::intptr_t>(omp_get_default_allocator());
}

KITH_OPENMP_API void omp_display_env_(const std::int32_t* verbose) { omp_display_env(*verbose); }
KITH_OPENMP_API void omp_display_env_8_(const std::int64_t* verbose) { omp_display_env(*verbose != 0 ? 1 : 0); }
