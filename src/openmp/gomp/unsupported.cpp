// What libgomp has and Kith has not: OpenACC, the functions for plug-ins of devices, and those for old compilers. A
// name that is missing here would silently reach the real libgomp, which knows nothing of Kith's threads; so each of
// them ends the program.
#include "openmp/abi.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

[[noreturn]] void refuse(const char* name, const char* why) {
  std::fprintf(stderr, "kith: %s: %s\n", name, why);
  std::abort();
}

constexpr const char* devices =
    "OpenACC, and offloading to devices, are not supported on Kith; run the program without `kith run`";
// There the creator of a team runs its own share between two calls, and so outside of both.
constexpr const char* old_compiler =
    "the program was built with GCC before 4.9, which Kith does not support; build it again, with a later one";

}  // namespace

// clang-format off
#define KITH_UNSUPPORTED(X) \
  X(acc_async_test) X(acc_async_test_all) X(acc_async_test_all_h_) X(acc_async_test_h_) X(acc_async_wait) \
  X(acc_async_wait_all) X(acc_attach) X(acc_attach_async) X(acc_copyin) X(acc_copyin_32_h_) X(acc_copyin_64_h_) \
  X(acc_copyin_array_h_) X(acc_copyin_async) X(acc_copyin_async_32_h_) X(acc_copyin_async_64_h_) \
  X(acc_copyin_async_array_h_) X(acc_copyout) X(acc_copyout_32_h_) X(acc_copyout_64_h_) X(acc_copyout_array_h_) \
  X(acc_copyout_async) X(acc_copyout_async_32_h_) X(acc_copyout_async_64_h_) X(acc_copyout_async_array_h_) \
  X(acc_copyout_finalize) X(acc_copyout_finalize_32_h_) X(acc_copyout_finalize_64_h_) \
  X(acc_copyout_finalize_array_h_) X(acc_copyout_finalize_async) X(acc_create) X(acc_create_32_h_) \
  X(acc_create_64_h_) X(acc_create_array_h_) X(acc_create_async) X(acc_create_async_32_h_) X(acc_create_async_64_h_) \
  X(acc_create_async_array_h_) X(acc_delete) X(acc_delete_32_h_) X(acc_delete_64_h_) X(acc_delete_array_h_) \
  X(acc_delete_async) X(acc_delete_async_32_h_) X(acc_delete_async_64_h_) X(acc_delete_async_array_h_) \
  X(acc_delete_finalize) X(acc_delete_finalize_32_h_) X(acc_delete_finalize_64_h_) X(acc_delete_finalize_array_h_) \
  X(acc_delete_finalize_async) X(acc_detach) X(acc_detach_async) X(acc_detach_finalize) X(acc_detach_finalize_async) \
  X(acc_deviceptr) X(acc_free) X(acc_get_cuda_stream) X(acc_get_current_cuda_context) X(acc_get_current_cuda_device) \
  X(acc_get_device_num) X(acc_get_device_num_h_) X(acc_get_device_type) X(acc_get_device_type_h_) \
  X(acc_get_num_devices) X(acc_get_num_devices_h_) X(acc_get_property) X(acc_get_property_h_) \
  X(acc_get_property_string) X(acc_get_property_string_h_) X(acc_hostptr) X(acc_init) X(acc_init_h_) \
  X(acc_is_present) X(acc_is_present_32_h_) X(acc_is_present_64_h_) X(acc_is_present_array_h_) X(acc_malloc) \
  X(acc_map_data) X(acc_memcpy_from_device) X(acc_memcpy_from_device_async) X(acc_memcpy_to_device) \
  X(acc_memcpy_to_device_async) X(acc_on_device) X(acc_on_device_h_) X(acc_pcopyin) X(acc_pcreate) \
  X(acc_present_or_copyin) X(acc_present_or_copyin_32_h_) X(acc_present_or_copyin_64_h_) \
  X(acc_present_or_copyin_array_h_) X(acc_present_or_create) X(acc_present_or_create_32_h_) \
  X(acc_present_or_create_64_h_) X(acc_present_or_create_array_h_) X(acc_prof_lookup) X(acc_prof_register) \
  X(acc_prof_unregister) X(acc_set_cuda_stream) X(acc_set_device_num) X(acc_set_device_num_h_) X(acc_set_device_type) \
  X(acc_set_device_type_h_) X(acc_shutdown) X(acc_shutdown_h_) X(acc_unmap_data) X(acc_update_device) \
  X(acc_update_device_32_h_) X(acc_update_device_64_h_) X(acc_update_device_array_h_) X(acc_update_device_async) \
  X(acc_update_device_async_32_h_) X(acc_update_device_async_64_h_) X(acc_update_device_async_array_h_) \
  X(acc_update_self) X(acc_update_self_32_h_) X(acc_update_self_64_h_) X(acc_update_self_array_h_) \
  X(acc_update_self_async) X(acc_update_self_async_32_h_) X(acc_update_self_async_64_h_) \
  X(acc_update_self_async_array_h_) X(acc_wait) X(acc_wait_all) X(acc_wait_all_async) X(acc_wait_all_async_h_) \
  X(acc_wait_all_h_) X(acc_wait_async) X(acc_wait_async_h_) X(acc_wait_h_) X(GOACC_data_end) X(GOACC_data_start) \
  X(GOACC_declare) X(GOACC_enter_data) X(GOACC_enter_exit_data) X(GOACC_exit_data) X(GOACC_get_num_threads) \
  X(GOACC_get_thread_num) X(GOACC_parallel) X(GOACC_parallel_keyed) X(GOACC_update) X(GOACC_wait) \
  X(GOMP_PLUGIN_acc_default_dim) X(GOMP_PLUGIN_acc_thread) X(GOMP_PLUGIN_async_unmap_vars) X(GOMP_PLUGIN_debug) \
  X(GOMP_PLUGIN_error) X(GOMP_PLUGIN_fatal) X(GOMP_PLUGIN_goacc_profiling_dispatch) X(GOMP_PLUGIN_goacc_thread) \
  X(GOMP_PLUGIN_malloc) X(GOMP_PLUGIN_malloc_cleared) X(GOMP_PLUGIN_realloc) X(GOMP_PLUGIN_target_task_completion)
// clang-format on

#define KITH_REFUSE(NAME) \
  KITH_OPENMP_API void NAME() { refuse(#NAME, devices); }
KITH_UNSUPPORTED(KITH_REFUSE)

KITH_OPENMP_API void GOMP_parallel_start() { refuse("GOMP_parallel_start", old_compiler); }
KITH_OPENMP_API void GOMP_parallel_end() { refuse("GOMP_parallel_end", old_compiler); }
KITH_OPENMP_API void GOMP_parallel_loop_static_start() { refuse("GOMP_parallel_loop_static_start", old_compiler); }
KITH_OPENMP_API void GOMP_parallel_loop_dynamic_start() { refuse("GOMP_parallel_loop_dynamic_start", old_compiler); }
KITH_OPENMP_API void GOMP_parallel_loop_guided_start() { refuse("GOMP_parallel_loop_guided_start", old_compiler); }
KITH_OPENMP_API void GOMP_parallel_loop_runtime_start() { refuse("GOMP_parallel_loop_runtime_start", old_compiler); }
KITH_OPENMP_API void GOMP_parallel_sections_start() { refuse("GOMP_parallel_sections_start", old_compiler); }

// Called when a program or a library starts or ends, whether or not it uses devices.
KITH_OPENMP_API void GOMP_offload_register(const void*, int, const void*) {}
KITH_OPENMP_API void GOMP_offload_register_ver(unsigned, const void*, int, const void*) {}
KITH_OPENMP_API void GOMP_offload_unregister(const void*, int, const void*) {}
KITH_OPENMP_API void GOMP_offload_unregister_ver(unsigned, const void*, int, const void*) {}
KITH_OPENMP_API void acc_register_library(void*, void*, void*) {}
