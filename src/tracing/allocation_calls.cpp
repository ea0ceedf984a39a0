// malloc and its family, new and delete, and mmap: they register and remove blocks. All are weak, so that a program may
// define its own; then its blocks are those of the functions that these call.
#include "base/address.hpp"
#include "base/round_up.hpp"
#include "tracing/trace.hpp"

#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <mutex>
#include <new>

using kith::tracing::active;
using kith::tracing::add_block;
using kith::tracing::block;
using kith::tracing::find_block;
using kith::tracing::inside;
using kith::tracing::lock_of_blocks;
using kith::tracing::made_block;
using kith::tracing::move_mapped_locked;
using kith::tracing::now;
using kith::tracing::recorder_section;
using kith::tracing::remove_block;
using kith::tracing::remove_mapped;
using kith::tracing::remove_mapped_locked;
using kith::tracing::take_block;
using kith::tracing::touch_kind;
using kith::tracing::touched_by_call;

extern "C" {
// glibc's own, under the names that it keeps for interposers.
void* __libc_malloc(std::size_t) noexcept;
void* __libc_calloc(std::size_t, std::size_t) noexcept;
void* __libc_realloc(void*, std::size_t) noexcept;
void* __libc_memalign(std::size_t, std::size_t) noexcept;
void __libc_free(void*) noexcept;
}

namespace {

std::size_t page_bytes() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }
/// What the system maps or unmaps for `bytes`; less if that is too much for it.
std::size_t whole_pages(std::size_t bytes) noexcept { return kith::round_up(bytes, page_bytes()); }

[[gnu::always_inline]] inline void* noted(void* at, std::size_t bytes, const void* pc) noexcept {
  if (active()) made_block(block::what::heap, at, bytes, pc);
  return at;
}
void released(void* at) noexcept {
  if (at != nullptr && active()) remove_block(at, block::what::heap);  // B3 of blocks.hpp
  __libc_free(at);
}

/// The bytes of what a task has got of malloc; 0 outside tasks.
std::size_t bytes_of(const void* at) noexcept {
  if (now == nullptr) return 0;
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const block* const b = find_block(begin);
  return b != nullptr && b->kind == block::what::heap && b->origin == begin ? b->bytes : 0;
}

[[gnu::always_inline]] inline void* mapped(void* wanted, std::size_t bytes, int protection, int flags, int file,
                                           off_t offset, const void* pc) noexcept {
  const long got = ::syscall(SYS_mmap, wanted, bytes, protection, flags, file, offset);
  void* const at = kith::at_address(static_cast<std::uintptr_t>(got));
  if (got != -1 && active()) {
    const auto begin = static_cast<std::uintptr_t>(got);
    bytes = whole_pages(bytes);
    remove_mapped(begin, begin + bytes);
    made_block(block::what::mapped, at, bytes, pc);
  }
  return at;
}

/// Calls give_back(), which returns -1 if the system refuses; else note(result). The lock is held over both: no other
/// thread can have registered a block in the memory that was given back (B3 of blocks.hpp).
template <class GiveBack, class Note>
long gave_back(const GiveBack& give_back, const Note& note) noexcept {
  if (!active() || inside) return give_back();
  const recorder_section section;
  const std::lock_guard guard(lock_of_blocks());
  const long result = give_back();
  if (result != -1) note(static_cast<std::uintptr_t>(result));
  return result;
}

/// As operator new: calls the new-handler until there is memory, and throws std::bad_alloc if there is no handler.
template <class Take>
[[gnu::always_inline]] inline void* until_there_is(const Take& take, const void* pc, std::size_t bytes) {
  for (;;) {
    if (void* const at = take()) return noted(at, bytes, pc);
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

#define KITH_PC __builtin_return_address(0)
#define KITH_WEAK [[gnu::weak]]

extern "C" {

KITH_WEAK void* malloc(std::size_t bytes) noexcept { return noted(__libc_malloc(bytes), bytes, KITH_PC); }
KITH_WEAK void* calloc(std::size_t n, std::size_t bytes) noexcept {
  return noted(__libc_calloc(n, bytes), n * bytes, KITH_PC);
}
/// The new block is the caller's, who reads the old one and writes this one, also where the library leaves it in place.
KITH_WEAK void* realloc(void* old, std::size_t bytes) noexcept {
  if (!active()) return __libc_realloc(old, bytes);
  const std::size_t kept = std::min(bytes_of(old), bytes);
  touched_by_call(touch_kind::read, old, kept, KITH_PC);
  const block before = take_block(old, block::what::heap);
  void* const at = __libc_realloc(old, bytes);
  if (at == nullptr && bytes != 0) {
    if (before.bytes != 0) add_block(before);  // realloc failed, so it is still there
    return at;
  }
  noted(at, bytes, KITH_PC);
  touched_by_call(touch_kind::write, at, kept, KITH_PC);
  return at;
}
KITH_WEAK void* reallocarray(void* old, std::size_t n, std::size_t bytes) noexcept {
  std::size_t all = 0;
  if (__builtin_mul_overflow(n, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  return realloc(old, all);
}
KITH_WEAK void* memalign(std::size_t align, std::size_t bytes) noexcept {
  return noted(__libc_memalign(align, bytes), bytes, KITH_PC);
}
KITH_WEAK void* aligned_alloc(std::size_t align, std::size_t bytes) noexcept {
  return noted(__libc_memalign(align, bytes), bytes, KITH_PC);
}
KITH_WEAK int posix_memalign(void** at, std::size_t align, std::size_t bytes) noexcept {
  if (align % sizeof(void*) != 0 || align == 0 || (align & (align - 1)) != 0) return EINVAL;
  const int kept = errno;
  void* const got = noted(__libc_memalign(align, bytes), bytes, KITH_PC);
  errno = kept;
  if (got == nullptr) return ENOMEM;
  *at = got;
  return 0;
}
KITH_WEAK void* valloc(std::size_t bytes) noexcept {
  return noted(__libc_memalign(page_bytes(), bytes), bytes, KITH_PC);
}
KITH_WEAK void* pvalloc(std::size_t bytes) noexcept {
  const std::size_t whole = whole_pages(bytes);
  if (whole < bytes) {
    errno = ENOMEM;
    return nullptr;
  }
  return noted(__libc_memalign(page_bytes(), whole), whole, KITH_PC);
}
KITH_WEAK void free(void* at) noexcept { released(at); }

KITH_WEAK void* mmap(void* wanted, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  return mapped(wanted, bytes, protection, flags, file, offset, KITH_PC);
}
KITH_WEAK void* mmap64(void* wanted, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  return mapped(wanted, bytes, protection, flags, file, offset, KITH_PC);
}
KITH_WEAK int munmap(void* at, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(at);
  const long result = gave_back([=] { return ::syscall(SYS_munmap, at, bytes); },
                                [=](std::uintptr_t) { remove_mapped_locked(begin, begin + whole_pages(bytes)); });
  return result == 0 ? 0 : -1;
}
/// What is added to the memory becomes a new block.
KITH_WEAK void* mremap(void* old, std::size_t old_bytes, std::size_t bytes, int flags, ...) noexcept {
  void* wanted = nullptr;
  if ((flags & MREMAP_FIXED) != 0) {
    std::va_list more;
    va_start(more, flags);
    wanted = va_arg(more, void*);
    va_end(more);
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(old);
  const std::size_t before = whole_pages(old_bytes), after = whole_pages(bytes), kept = std::min(before, after);
  const long got = gave_back([=] { return ::syscall(SYS_mremap, old, old_bytes, bytes, flags, wanted); },
                             [=](std::uintptr_t at) { move_mapped_locked(begin, before, at, after); });
  void* const at = kith::at_address(static_cast<std::uintptr_t>(got));
  if (got == -1 || !active()) return at;
  if ((flags & MREMAP_DONTUNMAP) != 0) made_block(block::what::mapped, old, before, KITH_PC);
  made_block(block::what::mapped, static_cast<std::byte*>(at) + kept, after - kept, KITH_PC);
  return at;
}
}

KITH_WEAK void* operator new(std::size_t bytes) {
  return until_there_is([&] { return __libc_malloc(bytes); }, KITH_PC, bytes);
}
KITH_WEAK void* operator new[](std::size_t bytes) {
  return until_there_is([&] { return __libc_malloc(bytes); }, KITH_PC, bytes);
}
KITH_WEAK void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return noted(__libc_malloc(bytes), bytes, KITH_PC);
}
KITH_WEAK void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return noted(__libc_malloc(bytes), bytes, KITH_PC);
}
KITH_WEAK void* operator new(std::size_t bytes, std::align_val_t align) {
  return until_there_is([&] { return __libc_memalign(static_cast<std::size_t>(align), bytes); }, KITH_PC, bytes);
}
KITH_WEAK void* operator new[](std::size_t bytes, std::align_val_t align) {
  return until_there_is([&] { return __libc_memalign(static_cast<std::size_t>(align), bytes); }, KITH_PC, bytes);
}
KITH_WEAK void operator delete(void* at) noexcept { released(at); }
KITH_WEAK void operator delete[](void* at) noexcept { released(at); }
KITH_WEAK void operator delete(void* at, std::size_t) noexcept { released(at); }
KITH_WEAK void operator delete[](void* at, std::size_t) noexcept { released(at); }
KITH_WEAK void operator delete(void* at, std::align_val_t) noexcept { released(at); }
KITH_WEAK void operator delete[](void* at, std::align_val_t) noexcept { released(at); }
KITH_WEAK void operator delete(void* at, std::size_t, std::align_val_t) noexcept { released(at); }
KITH_WEAK void operator delete[](void* at, std::size_t, std::align_val_t) noexcept { released(at); }
KITH_WEAK void operator delete(void* at, const std::nothrow_t&) noexcept { released(at); }
KITH_WEAK void operator delete[](void* at, const std::nothrow_t&) noexcept { released(at); }
