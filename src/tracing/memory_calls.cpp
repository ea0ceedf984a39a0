// The functions of the C library that read and write memory for the program, and the functions that Clang calls in
// their place.
//
// Definitions in a program precede those of its libraries, so calls from libraries arrive here too. The library's own
// function does the work. Calls from before the recorder's start are carried out here, byte by byte.
#include "tracing/trace.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>

using kith::tracing::now;
using kith::tracing::touch_kind;
using kith::tracing::touched_by_call;

extern "C" [[noreturn]] void __chk_fail();  // of the C library: ends the program

namespace {

using copy_call = void*(void*, const void*, std::size_t);
using fill_call = void*(void*, int, std::size_t);
using duplicate_call = char*(const char*, std::size_t);
copy_call* real_copy = nullptr;
copy_call* real_move = nullptr;
fill_call* real_fill = nullptr;
duplicate_call* real_duplicate = nullptr;

[[gnu::constructor(101)]] void find_real() {
  real_copy = reinterpret_cast<copy_call*>(dlsym(RTLD_NEXT, "memcpy"));
  real_move = reinterpret_cast<copy_call*>(dlsym(RTLD_NEXT, "memmove"));
  real_fill = reinterpret_cast<fill_call*>(dlsym(RTLD_NEXT, "memset"));
  real_duplicate = reinterpret_cast<duplicate_call*>(dlsym(RTLD_NEXT, "strndup"));
}

void* plain_move(void* to, const void* from, std::size_t bytes) noexcept {
  auto* const t = static_cast<unsigned char*>(to);
  const auto* const f = static_cast<const unsigned char*>(from);
  if (reinterpret_cast<std::uintptr_t>(t) <= reinterpret_cast<std::uintptr_t>(f)) {
    for (std::size_t i = 0; i < bytes; ++i) t[i] = f[i];
  } else {
    for (std::size_t i = bytes; i != 0; --i) t[i - 1] = f[i - 1];
  }
  return to;
}
void* copied(void* to, const void* from, std::size_t bytes) noexcept {
  return real_copy != nullptr ? real_copy(to, from, bytes) : plain_move(to, from, bytes);
}
void* moved(void* to, const void* from, std::size_t bytes) noexcept {
  return real_move != nullptr ? real_move(to, from, bytes) : plain_move(to, from, bytes);
}
void* filled(void* at, int value, std::size_t bytes) noexcept {
  if (real_fill != nullptr) return real_fill(at, value, bytes);
  auto* const a = static_cast<unsigned char*>(at);
  for (std::size_t i = 0; i < bytes; ++i) a[i] = static_cast<unsigned char>(value);
  return at;
}

[[gnu::always_inline]] inline void read(const void* at, std::size_t bytes, const void* pc) noexcept {
  touched_by_call(touch_kind::read, at, bytes, pc);
}
[[gnu::always_inline]] inline void written(const void* at, std::size_t bytes, const void* pc) noexcept {
  touched_by_call(touch_kind::write, at, bytes, pc);
}

std::size_t length(const char* text, std::size_t most) noexcept {
  std::size_t n = 0;
  while (n < most && text[n] != 0) ++n;
  return n;
}
constexpr std::size_t any = ~std::size_t{0};
/// The bytes that are read of a text if all of it is read.
std::size_t all_of(const char* text, std::size_t most = any) noexcept {
  const std::size_t n = length(text, most);
  return n < most ? n + 1 : n;
}

/// Compares as memcmp() does, or strncmp(). Sets `read_bytes` to the bytes that are read of each.
int compared(const void* one, const void* other, std::size_t most, bool text, std::size_t& read_bytes) noexcept {
  const auto* const a = static_cast<const unsigned char*>(one);
  const auto* const b = static_cast<const unsigned char*>(other);
  for (std::size_t i = 0; i < most; ++i) {
    read_bytes = i + 1;
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    if (text && a[i] == 0) return 0;
  }
  return 0;
}
[[gnu::always_inline]] inline int compare(const void* one, const void* other, std::size_t most, bool text,
                                          const void* pc) noexcept {
  std::size_t bytes = 0;
  const int result = compared(one, other, most, text, bytes);
  if (now != nullptr) {
    read(one, bytes, pc);
    touched_by_call(touch_kind::read, other, bytes, static_cast<const char*>(pc) + 1);  // a site of its own
  }
  return result;
}

void expect_room(std::size_t bytes, std::size_t room) noexcept {
  if (bytes > room) __chk_fail();
}
[[gnu::always_inline]] inline void* copy(void* to, const void* from, std::size_t bytes, const void* pc) noexcept {
  read(from, bytes, pc);
  written(to, bytes, pc);
  return copied(to, from, bytes);
}
[[gnu::always_inline]] inline void* move(void* to, const void* from, std::size_t bytes, const void* pc) noexcept {
  read(from, bytes, pc);
  written(to, bytes, pc);
  return moved(to, from, bytes);
}
[[gnu::always_inline]] inline void* fill(void* at, int value, std::size_t bytes, const void* pc) noexcept {
  written(at, bytes, pc);
  return filled(at, value, bytes);
}
/// Returns the bytes of the text.
[[gnu::always_inline]] inline std::size_t copy_text(char* to, const char* from, std::size_t room,
                                                    const void* pc) noexcept {
  const std::size_t bytes = length(from, any) + 1;
  expect_room(bytes, room);
  copy(to, from, bytes, pc);
  return bytes;
}
[[gnu::always_inline]] inline char* copy_part(char* to, const char* from, std::size_t bytes, const void* pc) noexcept {
  const std::size_t n = length(from, bytes);
  read(from, n < bytes ? n + 1 : n, pc);
  written(to, bytes, pc);
  copied(to, from, n);
  filled(to + n, 0, bytes - n);
  return to;
}
/// Appends at most `most` characters of `from`, and a zero.
[[gnu::always_inline]] inline char* append_text(char* to, const char* from, std::size_t most, std::size_t room,
                                                const void* pc) noexcept {
  const std::size_t old = length(to, any), n = length(from, most);
  expect_room(old + n + 1, room);
  touched_by_call(touch_kind::read, to, old + 1, static_cast<const char*>(pc) + 1);
  read(from, n < most ? n + 1 : n, pc);
  written(to + old, n + 1, pc);
  copied(to + old, from, n);
  to[old + n] = 0;
  return to;
}
/// As strspn() (`among`), or strcspn(). Both texts are read: this one up to the character where the span ends.
[[gnu::always_inline]] inline std::size_t span_of(const char* text, const char* set, bool among,
                                                  const void* pc) noexcept {
  const std::size_t members = length(set, any);
  std::size_t n = 0;
  for (; text[n] != 0; ++n) {
    std::size_t i = 0;
    while (i < members && set[i] != text[n]) ++i;
    if ((i < members) != among) break;
  }
  read(text, n + 1, pc);
  touched_by_call(touch_kind::read, set, members + 1, static_cast<const char*>(pc) + 1);
  return n;
}
/// A copy of the text on the heap.
[[gnu::always_inline]] inline char* duplicate(const char* text, std::size_t most, const void* pc) noexcept {
  const std::size_t n = length(text, most);
  read(text, n < most ? n + 1 : n, pc);
  char* made = nullptr;
  if (real_duplicate != nullptr) {
    made = real_duplicate(text, n);  // the library allocates it by malloc
  } else if (made = static_cast<char*>(std::malloc(n + 1)); made != nullptr) {
    copied(made, text, n);
    made[n] = 0;
  }
  if (made != nullptr) written(made, n + 1, pc);
  return made;
}

}  // namespace

extern "C" {

#define KITH_PC __builtin_return_address(0)
// Weak, because programs may define these names.
#define KITH_WEAK [[gnu::weak]]

void* memcpy(void* to, const void* from, std::size_t bytes) noexcept { return copy(to, from, bytes, KITH_PC); }
void* memmove(void* to, const void* from, std::size_t bytes) noexcept { return move(to, from, bytes, KITH_PC); }
void* memset(void* at, int value, std::size_t bytes) noexcept { return fill(at, value, bytes, KITH_PC); }
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) noexcept { return copy(to, from, bytes, KITH_PC); }
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) noexcept { return move(to, from, bytes, KITH_PC); }
void* __tsan_memset(void* at, int value, std::size_t bytes) noexcept { return fill(at, value, bytes, KITH_PC); }
void* mempcpy(void* to, const void* from, std::size_t bytes) noexcept {
  return static_cast<char*>(copy(to, from, bytes, KITH_PC)) + bytes;
}

int memcmp(const void* a, const void* b, std::size_t bytes) noexcept { return compare(a, b, bytes, false, KITH_PC); }
int bcmp(const void* a, const void* b, std::size_t bytes) noexcept { return compare(a, b, bytes, false, KITH_PC); }
int strcmp(const char* a, const char* b) noexcept { return compare(a, b, any, true, KITH_PC); }
int strncmp(const char* a, const char* b, std::size_t most) noexcept { return compare(a, b, most, true, KITH_PC); }

std::size_t strlen(const char* text) noexcept {
  const std::size_t n = length(text, any);
  read(text, n + 1, KITH_PC);
  return n;
}
std::size_t strnlen(const char* text, std::size_t most) noexcept {
  read(text, all_of(text, most), KITH_PC);
  return length(text, most);
}
char* strcpy(char* to, const char* from) noexcept {
  copy_text(to, from, any, KITH_PC);
  return to;
}
char* stpcpy(char* to, const char* from) noexcept { return to + copy_text(to, from, any, KITH_PC) - 1; }
char* strncpy(char* to, const char* from, std::size_t bytes) noexcept { return copy_part(to, from, bytes, KITH_PC); }
KITH_WEAK char* stpncpy(char* to, const char* from, std::size_t bytes) noexcept {
  return copy_part(to, from, bytes, KITH_PC) + length(from, bytes);
}
char* strcat(char* to, const char* from) noexcept { return append_text(to, from, any, any, KITH_PC); }
KITH_WEAK char* strncat(char* to, const char* from, std::size_t most) noexcept {
  return append_text(to, from, most, any, KITH_PC);
}
KITH_WEAK char* strdup(const char* text) noexcept { return duplicate(text, any, KITH_PC); }
KITH_WEAK char* strndup(const char* text, std::size_t most) noexcept { return duplicate(text, most, KITH_PC); }
KITH_WEAK void* memccpy(void* to, const void* from, int last, std::size_t bytes) noexcept {
  const auto* const f = static_cast<const unsigned char*>(from);
  std::size_t n = 0;
  while (n < bytes && f[n] != static_cast<unsigned char>(last)) ++n;
  const bool found = n < bytes;
  n += found ? 1 : 0;
  copy(to, from, n, KITH_PC);
  return found ? static_cast<char*>(to) + n : nullptr;
}
KITH_WEAK void bcopy(const void* from, void* to, std::size_t bytes) noexcept { move(to, from, bytes, KITH_PC); }
KITH_WEAK void bzero(void* at, std::size_t bytes) noexcept { fill(at, 0, bytes, KITH_PC); }
KITH_WEAK void explicit_bzero(void* at, std::size_t bytes) noexcept { fill(at, 0, bytes, KITH_PC); }
KITH_WEAK wchar_t* wmemcpy(wchar_t* to, const wchar_t* from, std::size_t n) noexcept {
  return static_cast<wchar_t*>(copy(to, from, n * sizeof(wchar_t), KITH_PC));
}
KITH_WEAK wchar_t* wmemmove(wchar_t* to, const wchar_t* from, std::size_t n) noexcept {
  return static_cast<wchar_t*>(move(to, from, n * sizeof(wchar_t), KITH_PC));
}
KITH_WEAK wchar_t* wmemset(wchar_t* at, wchar_t value, std::size_t n) noexcept {
  written(at, n * sizeof(wchar_t), KITH_PC);
  for (std::size_t i = 0; i < n; ++i) at[i] = value;
  return at;
}

// The functions that these become with _FORTIFY_SOURCE. `room`: the bytes from the first argument on.
void* __memcpy_chk(void* to, const void* from, std::size_t bytes, std::size_t room) noexcept {
  expect_room(bytes, room);
  return copy(to, from, bytes, KITH_PC);
}
void* __memmove_chk(void* to, const void* from, std::size_t bytes, std::size_t room) noexcept {
  expect_room(bytes, room);
  return move(to, from, bytes, KITH_PC);
}
void* __memset_chk(void* at, int value, std::size_t bytes, std::size_t room) noexcept {
  expect_room(bytes, room);
  return fill(at, value, bytes, KITH_PC);
}
void* __mempcpy_chk(void* to, const void* from, std::size_t bytes, std::size_t room) noexcept {
  expect_room(bytes, room);
  return static_cast<char*>(copy(to, from, bytes, KITH_PC)) + bytes;
}
char* __strcpy_chk(char* to, const char* from, std::size_t room) noexcept {
  copy_text(to, from, room, KITH_PC);
  return to;
}
char* __stpcpy_chk(char* to, const char* from, std::size_t room) noexcept {
  return to + copy_text(to, from, room, KITH_PC) - 1;
}
char* __strncpy_chk(char* to, const char* from, std::size_t bytes, std::size_t room) noexcept {
  expect_room(bytes, room);
  return copy_part(to, from, bytes, KITH_PC);
}
KITH_WEAK char* __stpncpy_chk(char* to, const char* from, std::size_t bytes, std::size_t room) noexcept {
  expect_room(bytes, room);
  return copy_part(to, from, bytes, KITH_PC) + length(from, bytes);
}
char* __strcat_chk(char* to, const char* from, std::size_t room) noexcept {
  return append_text(to, from, any, room, KITH_PC);
}
KITH_WEAK char* __strncat_chk(char* to, const char* from, std::size_t most, std::size_t room) noexcept {
  return append_text(to, from, most, room, KITH_PC);
}

void* memchr(const void* at, int value, std::size_t bytes) noexcept {
  const auto* const a = static_cast<const unsigned char*>(at);
  std::size_t i = 0;
  while (i < bytes && a[i] != static_cast<unsigned char>(value)) ++i;
  read(at, i < bytes ? i + 1 : i, KITH_PC);
  return i < bytes ? const_cast<unsigned char*>(a + i) : nullptr;
}
char* strchr(const char* text, int value) noexcept {
  std::size_t i = 0;
  while (text[i] != 0 && text[i] != static_cast<char>(value)) ++i;
  read(text, i + 1, KITH_PC);
  return text[i] == static_cast<char>(value) ? const_cast<char*>(text + i) : nullptr;
}
char* strrchr(const char* text, int value) noexcept {
  const std::size_t n = length(text, any) + 1;
  read(text, n, KITH_PC);
  for (std::size_t i = n; i != 0; --i) {
    if (text[i - 1] == static_cast<char>(value)) return const_cast<char*>(text + i - 1);
  }
  return nullptr;
}
KITH_WEAK void* rawmemchr(const void* at, int value) noexcept {
  const auto* const a = static_cast<const unsigned char*>(at);
  std::size_t i = 0;
  while (a[i] != static_cast<unsigned char>(value)) ++i;
  read(at, i + 1, KITH_PC);
  return const_cast<unsigned char*>(a + i);
}
KITH_WEAK void* memrchr(const void* at, int value, std::size_t bytes) noexcept {
  const auto* const a = static_cast<const unsigned char*>(at);
  std::size_t i = bytes;
  while (i != 0 && a[i - 1] != static_cast<unsigned char>(value)) --i;
  const std::size_t first = i == 0 ? 0 : i - 1;
  read(a + first, bytes - first, KITH_PC);
  return i == 0 ? nullptr : const_cast<unsigned char*>(a + first);
}
KITH_WEAK char* strchrnul(const char* text, int value) noexcept {
  std::size_t i = 0;
  while (text[i] != 0 && text[i] != static_cast<char>(value)) ++i;
  read(text, i + 1, KITH_PC);
  return const_cast<char*>(text + i);
}
KITH_WEAK std::size_t strspn(const char* text, const char* set) noexcept { return span_of(text, set, true, KITH_PC); }
KITH_WEAK std::size_t strcspn(const char* text, const char* set) noexcept { return span_of(text, set, false, KITH_PC); }
KITH_WEAK char* strpbrk(const char* text, const char* set) noexcept {
  const std::size_t n = span_of(text, set, false, KITH_PC);
  return text[n] == 0 ? nullptr : const_cast<char*>(text + n);
}
KITH_WEAK char* strstr(const char* text, const char* part) noexcept {
  const std::size_t n = length(part, any);
  std::size_t at = 0, same = 0;
  for (;; ++at) {
    for (same = 0; same < n && text[at + same] == part[same];) ++same;
    if (same == n || text[at + same] == 0) break;
  }
  read(text, at + (same == n ? n : same + 1), KITH_PC);
  touched_by_call(touch_kind::read, part, n + 1, static_cast<const char*>(KITH_PC) + 1);
  return same == n ? const_cast<char*>(text + at) : nullptr;
}
}
