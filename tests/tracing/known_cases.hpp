// What exact.cpp touches in known ways: two buffers and three atomics, and a table of cases, each with all bytes that
// it reads and writes. Copies of C strings are here too, in the forms that compilers and _FORTIFY_SOURCE make of them.
#pragma once

#include <strings.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <stdexcept>
#include <string>
#include <vector>

// What _FORTIFY_SOURCE makes of copies; libraries may be built with it.
extern "C" {
void* __memcpy_chk(void*, const void*, std::size_t, std::size_t) noexcept;
void* __memmove_chk(void*, const void*, std::size_t, std::size_t) noexcept;
void* __memset_chk(void*, int, std::size_t, std::size_t) noexcept;
char* __strcpy_chk(char*, const char*, std::size_t) noexcept;
char* __strncpy_chk(char*, const char*, std::size_t, std::size_t) noexcept;
char* __strcat_chk(char*, const char*, std::size_t) noexcept;
}

namespace {

struct alignas(64) buffer {
  unsigned char at[4096];
};
buffer a, b;
std::atomic<std::uint32_t> word{5};
std::atomic<std::uint64_t> wide{7};
std::atomic<std::uint8_t> tiny{1};

struct s48 {
  char c[48];
};
struct s24 {
  long x, y, z;
};
struct s7 {
  char c[7];
};
struct number {
  double value;
  int rest;
};

template <class T>
T& in(buffer& of, std::size_t at) {
  return *reinterpret_cast<T*>(of.at + at);
}

struct bytes {
  const void* at;
  std::size_t count;
};
/// A case: what it does, and what it reads and writes, each byte as often as it says.
struct known_case {
  std::string name;
  void (*run)();
  std::vector<bytes> reads, writes;
};

volatile std::size_t variable = 100;  // the compiler must not know sizes
volatile int sink = 0;

void scalars() {
  in<std::uint8_t>(a, 0) = in<std::uint8_t>(b, 0);
  in<std::uint16_t>(a, 2) = in<std::uint16_t>(b, 2);
  in<std::uint32_t>(a, 4) = in<std::uint32_t>(b, 4);
  in<std::uint64_t>(a, 8) = in<std::uint64_t>(b, 8);
}
[[gnu::noinline]] void axpy(double* to, const double* from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i] * 2;
}
void vectors() { axpy(&in<double>(a, 0), &in<double>(b, 0), variable + 3); }
[[gnu::noinline]] void add(double* to, const double* from, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
}
void compound() { add(&in<double>(a, 0), &in<double>(b, 0), variable); }
void structs() {
  in<s48>(a, 0) = in<s48>(b, 0);
  in<s24>(a, 64) = in<s24>(b, 64);
  in<s7>(a, 128) = in<s7>(b, 128);
}
void zeroed() { in<s48>(a, 16) = s48{}; }
void copies() {
  std::memcpy(a.at, b.at, variable);
  std::memcpy(a.at + 200, b.at + 200, 13);
  std::memcpy(a.at + 300, b.at + 300, 200);
  std::memmove(a.at + 1000, a.at + 1010, variable);
}
void fills() {
  std::memset(a.at, 1, variable);
  std::memset(a.at + 200, 1, 24);
  std::memset(a.at + 300, 0, 300);
}
void fortified() {
  char* const to = reinterpret_cast<char*>(a.at);
  const char* const text = reinterpret_cast<const char*>(b.at);
  const std::size_t room = 10 * variable;
  __memcpy_chk(a.at, b.at, variable, room);
  __memmove_chk(a.at + 200, b.at + 200, variable, room);
  __memset_chk(a.at + 400, 1, variable, room);
  __strcpy_chk(to + 600, text, room);
  __strncpy_chk(to + 700, text, variable / 10, room);
  __strcat_chk(to + 700, text, room);
}
void atomics() {
  if (word.fetch_add(3) != 5) throw std::logic_error("fetch_add");
  std::uint32_t expected = 9;
  if (word.compare_exchange_strong(expected, 1) || expected != 8) throw std::logic_error("compare_exchange");
  if (!word.compare_exchange_strong(expected, 2)) throw std::logic_error("compare_exchange");
  wide.store(11, std::memory_order_release);
  if (wide.load(std::memory_order_acquire) != 11 || wide.exchange(12) != 11) throw std::logic_error("exchange");
  if ((tiny.fetch_or(6), tiny.fetch_xor(1), tiny.fetch_and(14), tiny.fetch_sub(2)) != 6) throw std::logic_error("bits");
}
void unaligned() {
  std::uint32_t four = 0x01020304;
  std::memcpy(a.at + 1, &four, sizeof four);
  std::uint64_t eight = 0;
  std::memcpy(&eight, b.at + 3, sizeof eight);
  sink = static_cast<int>(eight);
}
void texts() {
  const char* const t = reinterpret_cast<const char*>(b.at);
  std::size_t n = std::strlen(t);
  n += static_cast<std::size_t>(std::strcmp(t, reinterpret_cast<const char*>(a.at)) != 0);
  n += static_cast<std::size_t>(std::memcmp(t + 100, a.at + 100, variable) != 0);
  sink = static_cast<int>(n);
}
/// Compilers make copies of these, of a number of bytes that they know.
void known_sizes() {
  std::fill_n(a.at + 2000, 24, static_cast<unsigned char>(1));
  std::copy_n(b.at + 200, 13, a.at + 2100);
  std::copy_n(b.at + 300, 48, a.at + 2200);
  char* const to = reinterpret_cast<char*>(a.at + 2300);
  std::strcpy(to, "literal");
  std::strcat(to, "ly");
}
void more_texts() {
  const char* const t = reinterpret_cast<const char*>(b.at);
  const auto to = [](std::size_t at) { return reinterpret_cast<char*>(a.at + at); };
  std::strncat(to(2400), t, variable / 50);
  if (stpncpy(to(2500), t, 10) != to(2505)) throw std::logic_error("stpncpy");
  if (memccpy(to(2600), t, 'l', variable) != to(2603)) throw std::logic_error("memccpy");
  bcopy(b.at + 400, a.at + 2700, variable);
  bzero(a.at + 2800, variable);
  explicit_bzero(a.at + 2900, variable);
  std::wmemcpy(&in<wchar_t>(a, 3000), &in<wchar_t>(b, 1000), variable / 10);
  std::wmemset(&in<wchar_t>(a, 3100), L'x', variable / 10);
  char* const all = strdup(t);
  char* const part = strndup(t, variable / 50);
  const bool right = std::strcmp(all, "hello") == 0 && std::strcmp(part, "he") == 0 &&
                     memrchr(t, 'l', variable / 20) == t + 3 && rawmemchr(t, 'o') == t + 4 &&
                     strchrnul(t, 'z') == t + 5 && std::strspn(t, "hel") == 4 && std::strcspn(t, "ol") == 2 &&
                     std::strpbrk(t, "ol") == t + 2 && std::strstr(t, "lo") == t + 3;
  std::free(all);
  std::free(part);
  if (!right) throw std::logic_error("more_texts");
}
void members() {
  number& n = in<number>(a, 256);
  n.value = n.rest + 1;
}
void volatiles() { sink = static_cast<int>(const_cast<volatile unsigned char&>(b.at[77])); }
void allocations() {
  std::vector<int> grown;
  for (int i = 0; i < 100; ++i) grown.push_back(i);
  sink = grown[50];
}

const std::vector<known_case> cases = {
    {"scalars",
     scalars,
     {{b.at, 1}, {b.at + 2, 2}, {b.at + 4, 4}, {b.at + 8, 8}},
     {{a.at, 1}, {a.at + 2, 2}, {a.at + 4, 4}, {a.at + 8, 8}}},
    {"vectors", vectors, {{b.at, 824}}, {{a.at, 824}}},
    {"compound", compound, {{a.at, 800}, {b.at, 800}}, {{a.at, 800}}},
    {"structs",
     structs,
     {{b.at, 48}, {b.at + 64, 24}, {b.at + 128, 7}},
     {{a.at, 48}, {a.at + 64, 24}, {a.at + 128, 7}}},
    {"zeroed", zeroed, {}, {{a.at + 16, 48}}},
    {"copies",
     copies,
     {{b.at, 100}, {b.at + 200, 13}, {b.at + 300, 200}, {a.at + 1010, 100}},
     {{a.at, 100}, {a.at + 200, 13}, {a.at + 300, 200}, {a.at + 1000, 100}}},
    {"fills", fills, {}, {{a.at, 100}, {a.at + 200, 24}, {a.at + 300, 300}}},
    {"fortified",
     fortified,
     {{b.at, 100}, {b.at + 200, 100}, {b.at, 6}, {b.at, 6}, {b.at, 6}, {a.at + 700, 6}},
     {{a.at, 100}, {a.at + 200, 100}, {a.at + 400, 100}, {a.at + 600, 6}, {a.at + 700, 10}, {a.at + 705, 6}}},
    {"atomics",
     atomics,
     {{&word, 4}, {&word, 4}, {&word, 4}, {&wide, 8}, {&wide, 8}, {&tiny, 1}, {&tiny, 1}, {&tiny, 1}, {&tiny, 1}},
     {{&word, 4}, {&word, 4}, {&word, 4}, {&wide, 8}, {&wide, 8}, {&tiny, 1}, {&tiny, 1}, {&tiny, 1}, {&tiny, 1}}},
    {"unaligned", unaligned, {{b.at + 3, 8}}, {{a.at + 1, 4}}},
    {"texts", texts, {{b.at, 6}, {b.at, 3}, {a.at, 3}, {b.at + 100, 51}, {a.at + 100, 51}}, {}},
    {"known sizes",
     known_sizes,
     {{b.at + 200, 13}, {b.at + 300, 48}, {a.at + 2300, 8}},
     {{a.at + 2000, 24}, {a.at + 2100, 13}, {a.at + 2200, 48}, {a.at + 2300, 8}, {a.at + 2307, 3}}},
    {"more texts",
     more_texts,
     {{a.at + 2400, 1},  // strncat
      {b.at, 2},
      {b.at, 6},  // stpncpy
      {b.at, 3},  // memccpy
      {b.at + 400, 100},
      {b.at + 1000, 40},
      {b.at, 6},  // strdup
      {b.at, 2},
      {b.at + 3, 2},  // memrchr
      {b.at, 5},
      {b.at, 6},
      {b.at, 5},  // strspn
      {b.at, 3},
      {b.at, 3},
      {b.at, 5}},
     {{a.at + 2400, 3},
      {a.at + 2500, 10},
      {a.at + 2600, 3},
      {a.at + 2700, 100},
      {a.at + 2800, 100},
      {a.at + 2900, 100},
      {a.at + 3000, 40},
      {a.at + 3100, 40}}},
    {"members", members, {{a.at + 264, 4}}, {{a.at + 256, 8}}},
    {"volatiles", volatiles, {{b.at + 77, 1}}, {}},
};

}  // namespace
