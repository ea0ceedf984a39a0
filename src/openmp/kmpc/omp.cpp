// Functions of LLVM's omp.h that GCC's omp.h lacks or names differently.
#include "openmp/omp.hpp"

#include <cstddef>
#include <cstdint>

KITH_OPENMP_API void ompc_set_affinity_format(const char* format) { omp_set_affinity_format(format); }
KITH_OPENMP_API std::size_t ompc_get_affinity_format(char* to, std::size_t bytes) {
  return omp_get_affinity_format(to, bytes);
}
KITH_OPENMP_API void ompc_display_affinity(const char* format) { omp_display_affinity(format); }
KITH_OPENMP_API std::size_t ompc_capture_affinity(char* to, std::size_t bytes, const char* format) {
  return omp_capture_affinity(to, bytes, format);
}
KITH_OPENMP_API int ompc_get_ancestor_thread_num(int level) { return omp_get_ancestor_thread_num(level); }
KITH_OPENMP_API int ompc_get_team_size(int level) { return omp_get_team_size(level); }
KITH_OPENMP_API void ompc_set_dynamic(int on) { omp_set_dynamic(on); }
KITH_OPENMP_API void ompc_set_max_active_levels(int levels) { omp_set_max_active_levels(levels); }
KITH_OPENMP_API void ompc_set_nested(int on) { omp_set_nested(on); }
KITH_OPENMP_API void ompc_set_num_threads(int threads) { omp_set_num_threads(threads); }
KITH_OPENMP_API void ompc_set_schedule(unsigned kind, int chunk) { omp_set_schedule(kind, chunk); }

/// There is no tool.
KITH_OPENMP_API int omp_control_tool(int, int, void*) {
  constexpr int no_tool = -2;
  return no_tool;
}

// There are no devices, and so no objects of interoperability.
KITH_OPENMP_API int omp_get_num_interop_properties(const void*) { return 0; }
KITH_OPENMP_API std::intptr_t omp_get_interop_int(const void*, int, int*) { return 0; }
KITH_OPENMP_API void* omp_get_interop_ptr(const void*, int, int*) { return nullptr; }
KITH_OPENMP_API const char* omp_get_interop_str(const void*, int, int*) { return nullptr; }
KITH_OPENMP_API const char* omp_get_interop_name(const void*, int) { return nullptr; }
KITH_OPENMP_API const char* omp_get_interop_type_desc(const void*, int) { return nullptr; }
KITH_OPENMP_API const char* omp_get_interop_rc_desc(const void*, int) { return nullptr; }
