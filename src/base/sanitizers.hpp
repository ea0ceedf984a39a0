// Which sanitizer this is compiled with: KITH_ASAN and KITH_TSAN are 1 or 0. GCC defines a macro, Clang a feature.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define KITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KITH_ASAN 1
#endif
#endif
#ifndef KITH_ASAN
#define KITH_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__)
#define KITH_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KITH_TSAN 1
#endif
#endif
#ifndef KITH_TSAN
#define KITH_TSAN 0
#endif
