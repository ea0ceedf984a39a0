// The settings of LLVM's omp.h. Few of them have a meaning here; the others are accepted.
#include "openmp/abi.hpp"
#include "openmp/league.hpp"
#include "openmp/runtimes.hpp"
#include "openmp/team.hpp"

#include <cstddef>
#include <cstdint>

using namespace kith::openmp;

namespace {

constexpr int library_throughput = 2, usual_block_time = 200, not_supported = -1;
constexpr std::size_t usual_stack = std::size_t{64} << 20;  // KITH_STACK

}  // namespace

// Stacks have the size that they begin with (OMP_STACKSIZE).
KITH_OPENMP_API std::size_t kmp_get_stacksize_s() {
  const std::size_t set = stack_bytes_of_workers();
  return set != 0 ? set : usual_stack;
}
KITH_OPENMP_API int kmp_get_stacksize() { return to_limit(kmp_get_stacksize_s()); }
KITH_OPENMP_API void kmp_set_stacksize_s(std::size_t) {}
KITH_OPENMP_API void kmp_set_stacksize(int) {}

// How long workers look for work before they sleep is Kith's own affair.
KITH_OPENMP_API int kmp_get_blocktime() { return usual_block_time; }
KITH_OPENMP_API void kmp_set_blocktime(int) {}
KITH_OPENMP_API int kmp_get_library() { return library_throughput; }
KITH_OPENMP_API void kmp_set_library(int) {}
KITH_OPENMP_API void kmp_set_library_serial() {}
KITH_OPENMP_API void kmp_set_library_turnaround() {}
KITH_OPENMP_API void kmp_set_library_throughput() {}
KITH_OPENMP_API void kmp_set_defaults(const char*) {}
KITH_OPENMP_API void kmp_set_disp_num_buffers(int) {}
KITH_OPENMP_API void kmp_set_warnings_on() {}
KITH_OPENMP_API void kmp_set_warnings_off() {}
KITH_OPENMP_API int kmp_get_num_known_threads() { return here().team->size; }

// KITH_BIND says where workers run.
KITH_OPENMP_API int kmp_set_affinity(void**) { return not_supported; }
KITH_OPENMP_API int kmp_get_affinity(void**) { return not_supported; }
KITH_OPENMP_API int kmp_get_affinity_max_proc() { return 0; }
KITH_OPENMP_API void kmp_create_affinity_mask(void** mask) { *mask = nullptr; }
KITH_OPENMP_API void kmp_destroy_affinity_mask(void** mask) { *mask = nullptr; }
KITH_OPENMP_API int kmp_set_affinity_mask_proc(int, void**) { return not_supported; }
KITH_OPENMP_API int kmp_unset_affinity_mask_proc(int, void**) { return not_supported; }
KITH_OPENMP_API int kmp_get_affinity_mask_proc(int, void**) { return not_supported; }
