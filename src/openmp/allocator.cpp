// OpenMP's allocators. All memory spaces are the C library's memory; alignment, pool size and fallback are honoured.
#include "base/address.hpp"
#include "base/atomic.hpp"
#include "openmp/context.hpp"
#include "openmp/icv.hpp"
#include "openmp/omp.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>

namespace kith::openmp {

namespace {

using handle = std::uintptr_t;

constexpr handle no_allocator = 0, default_allocator = 1, last_predefined = 8;
constexpr std::uintptr_t high_bandwidth_space = 3, last_space = 4;
constexpr std::uintptr_t standard = ~std::uintptr_t{0};  // omp_atv_default
constexpr std::uintptr_t no_limit = std::numeric_limits<std::uintptr_t>::max();

enum trait_key : std::uint32_t {
  sync_hint = 1,
  alignment,
  access,
  pool_size,
  fallback,
  fallback_data,
  pinned,
  partition
};
enum class fallback_kind : std::uintptr_t { default_memory = 11, null = 12, abort = 13, allocator = 14 };

struct allocator {
  std::uintptr_t alignment = alignof(std::max_align_t);
  std::uintptr_t pool_size = no_limit;
  fallback_kind fallback = fallback_kind::default_memory;
  handle next = no_allocator;  // for fallback_kind::allocator
  atomic<std::uintptr_t> used{0};

  bool charge(std::uintptr_t bytes) noexcept {
    if (pool_size == no_limit) return true;
    std::uintptr_t before = used.load(relaxed);
    do {
      if (bytes > pool_size - before) return false;
    } while (!used.compare_exchange_weak(before, before + bytes, relaxed, relaxed));
    return true;
  }
  void refund(std::uintptr_t bytes) noexcept {
    if (pool_size != no_limit) used.fetch_sub(bytes, relaxed);
  }
};

/// Of a handle that omp_init_allocator() gave; null: a predefined one.
allocator* made_by_program(handle h) noexcept {
  return h > last_predefined ? static_cast<allocator*>(kith::at_address(h)) : nullptr;
}

/// What is before each block.
struct header {
  void* memory;  // of the C library
  std::size_t bytes;
  handle from;
  std::size_t unused;  // keeps the block aligned as the C library's are
};

header& header_of(void* block) noexcept { return static_cast<header*>(block)[-1]; }

bool is_power_of_two(std::uintptr_t n) noexcept { return n != 0 && (n & (n - 1)) == 0; }

/// Null if the memory does not suffice.
void* take(std::size_t alignment, std::size_t bytes, handle from) noexcept {
  allocator* const a = made_by_program(from);
  const std::size_t aligned = std::max({alignment, alignof(std::max_align_t), a != nullptr ? a->alignment : 1});
  std::size_t all = 0;
  if (__builtin_add_overflow(bytes, sizeof(header) + aligned, &all)) return nullptr;
  if (a != nullptr && !a->charge(bytes)) return nullptr;
  void* const memory = std::malloc(all);
  if (memory == nullptr) {
    if (a != nullptr) a->refund(bytes);
    return nullptr;
  }
  void* block = static_cast<char*>(memory) + sizeof(header);
  std::size_t room = bytes + aligned;
  std::align(aligned, bytes, block, room);
  header_of(block) = {memory, bytes, from, 0};
  return block;
}

[[noreturn]] void end_for_lack_of(std::size_t bytes) {
  std::fprintf(stderr, "kith: out of memory: an OpenMP allocator cannot give %zu bytes\n", bytes);
  std::abort();
}

/// As the allocator's fallback wants it, if the memory does not suffice.
void* give(std::size_t alignment, std::size_t bytes, handle from) {
  if (bytes == 0 || !is_power_of_two(alignment)) return nullptr;
  if (from == no_allocator) from = here().icv().allocator;
  while (true) {
    void* const block = take(alignment, bytes, from);
    if (block != nullptr) return block;
    const allocator* const a = made_by_program(from);
    if (a == nullptr || a->fallback == fallback_kind::null) return nullptr;
    if (a->fallback == fallback_kind::abort) end_for_lack_of(bytes);
    const bool to_other = a->fallback == fallback_kind::allocator && a->next != no_allocator;
    from = to_other ? a->next : default_allocator;
  }
}

void* give_zeroed(std::size_t alignment, std::size_t count, std::size_t bytes, handle from) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  void* const block = give(alignment, all, from);
  if (block != nullptr) std::memset(block, 0, all);
  return block;
}

/// Whether the allocator can have the trait. Those that only advise are accepted.
bool set(allocator& a, const allocator_trait& trait) noexcept {
  const std::uintptr_t value = trait.value;
  const auto in = [value](std::uintptr_t least, std::uintptr_t most) {
    return value == standard || (value >= least && value <= most);
  };
  switch (trait.key) {
    case sync_hint: return in(3, 6);
    case access: return in(7, 10);
    case partition: return in(15, 18);
    case pinned: return in(0, 0);  // true: not supported
    case pool_size: a.pool_size = value; return true;
    case fallback_data: a.next = value; return true;
    case alignment:
      if (value == standard) return true;
      a.alignment = std::max(a.alignment, value);
      return is_power_of_two(value);
    case fallback:
      if (value != standard) a.fallback = static_cast<fallback_kind>(value);
      return in(11, 14);
    default: return false;
  }
}

}  // namespace

}  // namespace kith::openmp

using namespace kith::openmp;

std::uintptr_t omp_init_allocator(std::uintptr_t space, int traits, const allocator_trait* trait) {
  if (space > last_space || space == high_bandwidth_space) return no_allocator;
  auto made = std::make_unique<allocator>();
  for (int i = 0; i < traits; ++i) {
    if (!set(*made, trait[i])) return no_allocator;
  }
  return reinterpret_cast<handle>(made.release());
}

void omp_destroy_allocator(std::uintptr_t allocator) { delete made_by_program(allocator); }

void omp_set_default_allocator(std::uintptr_t allocator) {
  here().own_icv().allocator = allocator == no_allocator ? default_allocator : allocator;
}

std::uintptr_t omp_get_default_allocator() { return here().icv().allocator; }

void* omp_alloc(std::size_t bytes, std::uintptr_t allocator) { return give(1, bytes, allocator); }

void* omp_aligned_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t allocator) {
  return give(alignment, bytes, allocator);
}

void* omp_calloc(std::size_t count, std::size_t bytes, std::uintptr_t allocator) {
  return give_zeroed(1, count, bytes, allocator);
}

void* omp_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t bytes, std::uintptr_t allocator) {
  return give_zeroed(alignment, count, bytes, allocator);
}

void omp_free(void* block, std::uintptr_t) {
  if (block == nullptr) return;
  const header at = header_of(block);
  allocator* const from = made_by_program(at.from);
  if (from != nullptr) from->refund(at.bytes);
  std::free(at.memory);
}

void* omp_realloc(void* block, std::size_t bytes, std::uintptr_t allocator, std::uintptr_t free_allocator) {
  if (block == nullptr) return omp_alloc(bytes, allocator);
  if (bytes == 0) {
    omp_free(block, free_allocator);
    return nullptr;
  }
  const header before = header_of(block);
  void* const moved = give(1, bytes, allocator == no_allocator ? before.from : allocator);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(bytes, before.bytes));
  omp_free(block, free_allocator);
  return moved;
}

KITH_OPENMP_API void* GOMP_alloc(std::size_t alignment, std::size_t bytes, std::uintptr_t allocator) {
  void* const block = give(alignment, bytes, allocator);
  if (block == nullptr && bytes != 0) end_for_lack_of(bytes);
  return block;
}

KITH_OPENMP_API void GOMP_free(void* block, std::uintptr_t allocator) { omp_free(block, allocator); }
