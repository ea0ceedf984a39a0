// The callbacks of instrumented code for each access to memory: the interface of the thread sanitizer, as Clang's
// ThreadSanitizer.cpp and GCC's tsan.cc and sanitizer.def emit it. The sanitizer's own runtime is not linked.
#include "tracing/trace.hpp"

using kith::tracing::calls_outside;
using kith::tracing::now;
using kith::tracing::touch_kind;
using kith::tracing::touched;

extern "C" {

#define KITH_ACCESS(name, kind, bytes) \
  void __tsan_##name(void* at) { touched(touch_kind::kind, at, bytes, bytes, __builtin_return_address(0)); }
#define KITH_ACCESSES(bytes)                               \
  KITH_ACCESS(read##bytes, read, bytes)                    \
  KITH_ACCESS(write##bytes, write, bytes)                  \
  KITH_ACCESS(unaligned_read##bytes, read, bytes)          \
  KITH_ACCESS(unaligned_write##bytes, write, bytes)        \
  KITH_ACCESS(volatile_read##bytes, read, bytes)           \
  KITH_ACCESS(volatile_write##bytes, write, bytes)         \
  KITH_ACCESS(unaligned_volatile_read##bytes, read, bytes) \
  KITH_ACCESS(unaligned_volatile_write##bytes, write, bytes)
// Loads and stores of a compound assignment, where the compiler joins them.
#define KITH_COMPOUND(bytes)                                                  \
  void __tsan_read_write##bytes(void* at) {                                   \
    touched(touch_kind::both, at, bytes, bytes, __builtin_return_address(0)); \
  }                                                                           \
  void __tsan_unaligned_read_write##bytes(void* at) {                         \
    touched(touch_kind::both, at, bytes, bytes, __builtin_return_address(0)); \
  }

KITH_ACCESSES(1)
KITH_ACCESSES(2)
KITH_ACCESSES(4)
KITH_ACCESSES(8)
KITH_ACCESSES(16)
KITH_COMPOUND(1)
KITH_COMPOUND(2)
KITH_COMPOUND(4)
KITH_COMPOUND(8)
KITH_COMPOUND(16)

void __tsan_read_range(void* at, unsigned long bytes) {
  touched(touch_kind::read, at, 0, bytes, __builtin_return_address(0));
}
void __tsan_write_range(void* at, unsigned long bytes) {
  touched(touch_kind::write, at, 0, bytes, __builtin_return_address(0));
}
void __tsan_vptr_read(void** at) { touched(touch_kind::read, at, 8, 8, __builtin_return_address(0)); }
void __tsan_vptr_update(void** at, void*) { touched(touch_kind::write, at, 8, 8, __builtin_return_address(0)); }

void __tsan_func_entry(void* caller) {
  (now != nullptr ? now->calls() : calls_outside).enter(reinterpret_cast<std::uintptr_t>(caller));
}
void __tsan_func_exit() { (now != nullptr ? now->calls() : calls_outside).leave(); }

// Programs that annotate themselves for the sanitizer may call these.
void __tsan_acquire(void*) {}
void __tsan_release(void*) {}
void __tsan_ignore_thread_begin() {}
void __tsan_ignore_thread_end() {}

// For programs that are compiled with -fsanitize-coverage.
void __sanitizer_cov_trace_pc() {}
void __sanitizer_cov_trace_pc_guard(std::uint32_t*) {}
void __sanitizer_cov_trace_pc_guard_init(std::uint32_t*, std::uint32_t*) {}
}
