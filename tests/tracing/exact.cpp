// Touches memory in known ways inside tasks, and compares what was recorded with it, byte by byte. Compiled with access
// callbacks by each compiler (exact_test.py); the folder for the recording is the argument.
#include "recorded_touches.hpp"

#include "base/access_tracer.hpp"

#include <malloc.h>
#include <pthread.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
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

counts counted(const std::vector<bytes>& of) {
  counts all;
  for (const bytes& x : of) {
    for (std::size_t i = 0; i < x.count; ++i) ++all[reinterpret_cast<std::uintptr_t>(x.at) + i];
  }
  return all;
}

int failures = 0;
void check(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

/// Leaves out what is not in the buffers and atomics: the test's own variables.
counts of_interest(const counts& all) {
  counts some;
  const auto inside = [](std::uintptr_t at, const void* begin, std::size_t n) {
    return at - reinterpret_cast<std::uintptr_t>(begin) < n;
  };
  for (const auto& [at, n] : all) {
    if (inside(at, &a, sizeof a) || inside(at, &b, sizeof b) || inside(at, &word, 4) || inside(at, &wide, 8) ||
        inside(at, &tiny, 1))
      some[at] = n;
  }
  return some;
}

std::string shown(const counts& all) {
  std::string text;
  for (const auto& [at, n] : all) {
    const bool in_a = at - reinterpret_cast<std::uintptr_t>(&a) < sizeof a;
    text += (in_a ? " a+" : " b+") + std::to_string(at - reinterpret_cast<std::uintptr_t>(in_a ? &a : &b)) + "x" +
            std::to_string(n);
    if (text.size() > 300) break;
  }
  return text;
}

constexpr std::uint64_t nested_outer = 1000, nested_inner = 1001, first_thread = 100000, allocating = 3000,
                        long_loop = 4000, interrupted = 5000, foreign_stacks = 6000, unmapped = 6001,
                        foreign_again = 6002, nothing = 6003, resized = 6004;
constexpr int threads = 4, rounds = 2000;

/// Compilers may leave out a pair that they see.
void make_and_free() {
  char* volatile const made = new char[100];
  delete[] made;
}

/// After each instruction of a task, so also of the recorder, a signal handler of the program maps memory, and writes
/// into known memory and into this.
void handler(int) {
  a.at[3000] = 1;
  auto* const fresh =
      static_cast<unsigned char*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  fresh[7] = 1;
  munmap(fresh, 4096);
}
void be_interrupted() {
#if defined(__x86_64__)
  std::signal(SIGTRAP, handler);
  constexpr unsigned long step = 0x100;  // the processor's trap flag
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | step);
#endif
  axpy(&in<double>(a, 0), &in<double>(b, 0), 4);
  make_and_free();
  munmap(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
#if defined(__x86_64__)
  __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~step);
#endif
}

/// Children of fork() allocate while other threads are in the recorder. True if all end.
bool children_end() {
  constexpr int children = 100;
  std::atomic<bool> enough{false};
  std::vector<std::thread> busy;
  for (int t = 0; t < 2; ++t) {
    busy.emplace_back([&enough] {
      while (!enough.load()) make_and_free();
    });
  }
  bool all = true;
  for (int i = 0; i < children && all; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(10);
      make_and_free();
      _exit(0);
    }
    int status = 1;
    all = waitpid(child, &status, 0) == child && status == 0;
  }
  enough.store(true);
  for (std::thread& t : busy) t.join();
  return all;
}

/// Pieces of mapped memory, given back at once, and mapped again behind the recorder's back.
constexpr std::size_t page = 4096;
unsigned char* mapped_behind() {
  constexpr int how = MAP_PRIVATE | MAP_ANONYMOUS, rights = PROT_READ | PROT_WRITE;
  auto* const all = static_cast<unsigned char*>(mmap(nullptr, 4 * page, rights, how, -1, 0));
  mmap(all, page, rights, how | MAP_FIXED, -1, 0);
  mmap(all + page, page, rights, how | MAP_FIXED, -1, 0);
  munmap(all, 2 * page);
  syscall(SYS_mmap, all, 2 * page, rights, how | MAP_FIXED, -1, 0);
  return all;
}
/// Mapped memory that has grown, and perhaps moved.
unsigned char* grown_mapping() {
  void* const small = mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return static_cast<unsigned char*>(mremap(small, page, 256 * page, MREMAP_MAYMOVE));
}

}  // namespace

int main(int, char** argv) {
  const kith::access_tracer* const tracer = kith::the_access_tracer();
  if (tracer == nullptr) return std::puts("no tracer is registered"), 1;
  std::memcpy(b.at, "hello", 6);
  std::memcpy(a.at, "hex", 4);
  b.at[150] = 1;  // 50 bytes of b + 100 and a + 100 are equal
  void* const into = tracer->start(argv[1]);
  const auto in_task = [&](std::uint64_t task, auto&& f) {
    void* const outer = tracer->enter(into, task);
    f();
    tracer->leave(outer);
  };
  for (std::size_t c = cases.size(); c-- != 0;) {  // texts come before what changes them
    in_task(c + 1, cases[c].run);
  }
  in_task(nested_outer, [&] {
    a.at[0] = 1;
    in_task(nested_inner, [] { a.at[1] = 1; });
    in_task(0, [] { a.at[2] = 1; });
    a.at[3] = 1;
  });
  a.at[4] = 1;  // outside tasks
  in_task(allocating, allocations);
  in_task(long_loop, [] {
    for (int i = 0; i < rounds; ++i) axpy(&in<double>(a, 0), &in<double>(b, 0), 512);
  });
  std::vector<std::thread> two;
  std::atomic<unsigned char*> theirs{nullptr};
  std::atomic<int> step{0};
  const auto await = [&step](int reached) {
    while (step.load() != reached) std::this_thread::yield();
  };
  two.emplace_back([&] {  // runs no task at first, and nor did a thread before it
    unsigned char local[64] = {};
    theirs.store(local);
    step.store(1);
    await(2);
    in_task(nothing, [] {});
    step.store(3);
    await(4);
  });
  unsigned char mine[64] = {};
  two.emplace_back([&, at = mine] {
    await(1);
    const auto touch = [at, other = theirs.load()] { at[5] = other[7]; };
    in_task(foreign_stacks, touch);
    step.store(2);
    await(3);
    in_task(foreign_again, touch);
    step.store(4);
  });
  for (std::thread& t : two) t.join();
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i)
        in_task(first_thread + static_cast<std::uint64_t>(t * rounds + i), [&] {
          std::vector<char> own(static_cast<std::size_t>(16 + i % 64));
          a.at[static_cast<std::size_t>(64 * t + i % 64)] = own[3];
        });
    });
  }
  for (std::thread& t : all) t.join();
  unsigned char* const behind = mapped_behind();
  in_task(unmapped, [=] {
    for (const std::size_t i : {0, 1, 2}) behind[i * page] = 1;
  });
  unsigned char* const grown = grown_mapping();
  auto* const whole_page = static_cast<unsigned char*>(pvalloc(100));
  in_task(resized, [=] { grown[0] = grown[255 * page] = whole_page[page - 1] = 1; });
  alarm(60);
  in_task(interrupted, be_interrupted);
  alarm(0);
  check(children_end(), "children of fork() end");
  check(tracer->finish(into) == 0, "everything was written");

  recording found(argv[1]);
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const recorded& r = found.of[c + 1];
    const counts reads = of_interest(r.reads), writes = of_interest(r.writes);
    check(reads == counted(cases[c].reads), cases[c].name + ": reads" + shown(reads));
    check(writes == counted(cases[c].writes), cases[c].name + ": writes" + shown(writes));
    check(r.elsewhere == 0, cases[c].name + ": all blocks are known");
  }
  check(of_interest(found.of[nested_outer].writes) == counted({{a.at, 1}, {a.at + 3, 1}}), "outer task");
  check(of_interest(found.of[nested_inner].writes) == counted({{a.at + 1, 1}}), "inner task");
  check(found.of[foreign_stacks].elsewhere == 0, "stacks of threads without tasks are known");
  check(!found.of[foreign_stacks].stacks.empty() && found.of[foreign_stacks].stacks == found.of[foreign_again].stacks,
        "a thread's stack is the same block before and after its first task");
  check(found.of[unmapped].elsewhere == 2, "what was given back is not known");
  check(found.of[resized].elsewhere == 0, "mapped memory with another size is known, and so are whole pages");
  counts loop = of_interest(found.of[interrupted].writes);
  loop.erase(reinterpret_cast<std::uintptr_t>(a.at + 3000));
  check(loop == counted({{a.at, 32}}), "a handler's touches do not spoil the task's");
  check(!found.of.contains(0), "task 0 is not recorded");
  check(found.of[allocating].heap_bytes >= 400, "the vector's memory is the heap's");
  check(found.size[long_loop] < 64 * rounds, "a loop takes few bytes: " + std::to_string(found.size[long_loop]));
  for (int t = 0; t < threads; ++t) {
    for (int i = 0; i < rounds; ++i) {
      const recorded& r = found.of[first_thread + static_cast<std::uint64_t>(t * rounds + i)];
      const bool right = of_interest(r.writes) == counted({{a.at + 64 * t + i % 64, 1}}) && r.elsewhere == 0 &&
                         r.heap_bytes >= static_cast<std::uint64_t>(1);
      if (!right) check(false, "thread " + std::to_string(t) + ", task " + std::to_string(i));
    }
  }
  std::puts(failures == 0 ? "exact" : "not exact");
  return failures == 0 ? 0 : 1;
}
