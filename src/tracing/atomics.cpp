// Callbacks for atomic operations, which must carry out the operation themselves. All are sequentially consistent,
// which is at least as strong as any ordering that the program asked for.
#include "tracing/trace.hpp"

using kith::tracing::touch_kind;
using kith::tracing::touched;

namespace {

constexpr int strongest = __ATOMIC_SEQ_CST;

[[gnu::always_inline]] inline void note(touch_kind kind, const volatile void* at, std::uint32_t bytes, const void* pc) {
  touched(kind, at, bytes, bytes, pc);
}

}  // namespace

extern "C" {

#define KITH_FETCH(bits, T, name)                                       \
  T __tsan_atomic##bits##_fetch_##name(volatile T* at, T value, int) {  \
    note(touch_kind::both, at, sizeof(T), __builtin_return_address(0)); \
    return __atomic_fetch_##name(at, value, strongest);                 \
  }
#define KITH_ATOMIC(bits, T)                                                                          \
  T __tsan_atomic##bits##_load(const volatile T* at, int) {                                           \
    note(touch_kind::read, at, sizeof(T), __builtin_return_address(0));                               \
    return __atomic_load_n(at, strongest);                                                            \
  }                                                                                                   \
  void __tsan_atomic##bits##_store(volatile T* at, T value, int) {                                    \
    note(touch_kind::write, at, sizeof(T), __builtin_return_address(0));                              \
    __atomic_store_n(at, value, strongest);                                                           \
  }                                                                                                   \
  T __tsan_atomic##bits##_exchange(volatile T* at, T value, int) {                                    \
    note(touch_kind::both, at, sizeof(T), __builtin_return_address(0));                               \
    return __atomic_exchange_n(at, value, strongest);                                                 \
  }                                                                                                   \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T* at, T* expected, T value, int, int) { \
    note(touch_kind::both, at, sizeof(T), __builtin_return_address(0));                               \
    return __atomic_compare_exchange_n(at, expected, value, false, strongest, strongest);             \
  }                                                                                                   \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T* at, T* expected, T value, int, int) {   \
    note(touch_kind::both, at, sizeof(T), __builtin_return_address(0));                               \
    return __atomic_compare_exchange_n(at, expected, value, false, strongest, strongest);             \
  }                                                                                                   \
  T __tsan_atomic##bits##_compare_exchange_val(volatile T* at, T expected, T value, int, int) {       \
    note(touch_kind::both, at, sizeof(T), __builtin_return_address(0));                               \
    __atomic_compare_exchange_n(at, &expected, value, false, strongest, strongest);                   \
    return expected;                                                                                  \
  }                                                                                                   \
  KITH_FETCH(bits, T, add)                                                                            \
  KITH_FETCH(bits, T, sub)                                                                            \
  KITH_FETCH(bits, T, and)                                                                            \
  KITH_FETCH(bits, T, or)                                                                             \
  KITH_FETCH(bits, T, xor)                                                                            \
  KITH_FETCH(bits, T, nand)

KITH_ATOMIC(8, unsigned char)
KITH_ATOMIC(16, unsigned short)
KITH_ATOMIC(32, unsigned)
KITH_ATOMIC(64, unsigned long)

#if defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_16)
// By the processor's compare and swap of 16 bytes; the __atomic functions would need libatomic.
__extension__ typedef unsigned __int128 kith_u128;

static kith_u128 exchange_if(volatile kith_u128* at, kith_u128 expected, kith_u128 value) {
  return __sync_val_compare_and_swap(at, expected, value);
}
#define KITH_LOOP_128(name, value_of_old)                                           \
  kith_u128 __tsan_atomic128_##name(volatile kith_u128* at, kith_u128 value, int) { \
    note(touch_kind::both, at, 16, __builtin_return_address(0));                    \
    for (kith_u128 old = exchange_if(at, 0, 0);;) {                                 \
      const kith_u128 found = exchange_if(at, old, value_of_old);                   \
      if (found == old) return old;                                                 \
      old = found;                                                                  \
    }                                                                               \
  }
KITH_LOOP_128(exchange, value)
KITH_LOOP_128(fetch_add, old + value)
KITH_LOOP_128(fetch_sub, old - value)
KITH_LOOP_128(fetch_and, old& value)
KITH_LOOP_128(fetch_or, old | value)
KITH_LOOP_128(fetch_xor, old ^ value)
KITH_LOOP_128(fetch_nand, ~(old& value))
kith_u128 __tsan_atomic128_load(const volatile kith_u128* at, int) {
  note(touch_kind::read, at, 16, __builtin_return_address(0));
  return exchange_if(const_cast<volatile kith_u128*>(at), 0, 0);
}
void __tsan_atomic128_store(volatile kith_u128* at, kith_u128 value, int) {
  note(touch_kind::write, at, 16, __builtin_return_address(0));
  for (kith_u128 old = exchange_if(at, 0, 0);;) {
    const kith_u128 found = exchange_if(at, old, value);
    if (found == old) return;
    old = found;
  }
}
kith_u128 __tsan_atomic128_compare_exchange_val(volatile kith_u128* at, kith_u128 expected, kith_u128 value, int, int) {
  note(touch_kind::both, at, 16, __builtin_return_address(0));
  return exchange_if(at, expected, value);
}
int __tsan_atomic128_compare_exchange_strong(volatile kith_u128* at, kith_u128* expected, kith_u128 value, int, int) {
  note(touch_kind::both, at, 16, __builtin_return_address(0));
  const kith_u128 found = exchange_if(at, *expected, value);
  if (found == *expected) return 1;
  *expected = found;
  return 0;
}
int __tsan_atomic128_compare_exchange_weak(volatile kith_u128* at, kith_u128* expected, kith_u128 value, int, int) {
  note(touch_kind::both, at, 16, __builtin_return_address(0));
  const kith_u128 found = exchange_if(at, *expected, value);
  if (found == *expected) return 1;
  *expected = found;
  return 0;
}
#endif

void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(strongest); }
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(strongest); }
}
