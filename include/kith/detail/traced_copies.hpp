// With GCC, kith::trace_accesses includes this before a program's own lines. The standard library's headers copy and
// fill by __builtin_memcpy and its like, which GCC expands without callbacks where the number of bytes is constant, and
// which -fno-builtin-memcpy does not stop.
#pragma once

#include <stddef.h>

#ifdef __SANITIZE_THREAD__
extern "C" {
// Defined by the recorder (src/tracing/memory_calls.cpp).
void* __tsan_memcpy(void* to, const void* from, size_t bytes) noexcept;
void* __tsan_memmove(void* to, const void* from, size_t bytes) noexcept;
void* __tsan_memset(void* at, int value, size_t bytes) noexcept;
}
#define __builtin_memcpy __tsan_memcpy
#define __builtin_memmove __tsan_memmove
#define __builtin_memset __tsan_memset
#endif
