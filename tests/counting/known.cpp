// Functions with known numbers of instructions, and functions that callgrind counts. It prints the name and the result
// of each. Compiled with KITH_COUNTED by src/counting/as, it also prints the counts, of all instructions and of each
// kind, and "wrong" for a function whose counts are not those written here.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <vector>

#ifdef KITH_COUNTED
extern "C" thread_local std::uint64_t kith_instructions[6];
#endif

namespace {

/// All, loads, stores, branches, of floating-point numbers, of vectors.
using numbers = std::array<std::uint64_t, 6>;

[[gnu::noinline]] numbers counted() {
  numbers n{};
#ifdef KITH_COUNTED
  for (std::size_t i = 0; i < n.size(); ++i) n[i] = const_cast<const volatile std::uint64_t*>(kith_instructions)[i];
#endif
  return n;
}

/// 1000 rounds of two instructions, and two before; each jump reads flags that an addition in between would change.
void loop() {
  std::uint64_t rounds = 1000;
  asm volatile(
      "testq %0, %0\n\tjz 2f\n"
      "1:\tdecq %0\n\tjnz 1b\n"
      "2:"
      : "+r"(rounds)
      :
      : "cc");
}
/// Three instructions, of which one has a prefix.
void prefix() {
  std::uint32_t value = 0;
  asm volatile("nop; lock; addl $1, %0\n\tnop" : "+m"(value) : : "cc");
}
/// 1000 rounds of eight instructions: three load, two store, one jumps, two are of floating-point numbers, two of
/// vectors.
void of_each_kind() {
  std::uint64_t rounds = 1000;
  alignas(16) std::array<double, 2> memory{};
  asm volatile(
      "1:\tmovq (%1), %%rax\n"
      "\taddq %%rax, (%1)\n"
      "\tmovq %%rax, 8(%1)\n"
      "\tmulsd (%1), %%xmm0\n"
      "\taddpd %%xmm0, %%xmm1\n"
      "\tpaddd %%xmm2, %%xmm3\n"
      "\tdecq %0\n"
      "\tjnz 1b"
      : "+r"(rounds)
      : "r"(memory.data())
      : "cc", "memory", "rax", "xmm0", "xmm1", "xmm2", "xmm3");
}
/// Uses the red zone: 42 if the additions leave it as it is.
[[gnu::noinline]] std::uint64_t red_zone() {
  std::uint64_t value = 42;
  asm volatile(
      "movq %0, -8(%%rsp)\n\tmovq $0, %0\n"
      "1:\ttestq %0, %0\n\tjnz 1b\n\tmovq -8(%%rsp), %0"
      : "+r"(value)
      :
      : "cc", "memory");
  return value;
}

}  // namespace

// With names that callgrind finds.
extern "C" {

[[gnu::noinline]] std::uint64_t measured_vectors(std::vector<float>& v) {
  for (float& x : v) x = x * 2 + 1;
  return v.size();
}
[[gnu::noinline]] std::uint64_t measured_branches(std::uint32_t n) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    switch (i * 2654435761U >> 29) {
      case 0: sum += 3; break;
      case 1: sum ^= i; break;
      case 2: sum -= 9; break;
      case 3: sum *= 7; break;
      case 4: sum += std::uint64_t{i} * i; break;
      default: sum += i;
    }
  }
  return sum;
}
[[gnu::noinline]] std::uint64_t measured_sort(std::vector<int>& v) {
  std::sort(v.begin(), v.end());
  return static_cast<std::uint64_t>(v[v.size() / 2]);
}
}

namespace {

template <class Body>
void report(const char* name, const Body& body, const numbers& least = {}, std::uint64_t around = ~std::uint64_t{0}) {
  const numbers before = counted();
  std::uint64_t value = body();
  asm volatile("" : "+r"(value) : : "memory");  // it is known before the counts are
  const numbers after = counted();
  std::printf("%s %llu\n", name, static_cast<unsigned long long>(value));
#ifdef KITH_COUNTED
  std::printf("counted %s", name);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const std::uint64_t n = after[i] - before[i];
    std::printf(" %llu", static_cast<unsigned long long>(n));
    if (n < least[i] || n - least[i] > around)
      std::printf(" wrong: expected %llu", static_cast<unsigned long long>(least[i]));
  }
  std::puts("");
#else
  static_cast<void>(before);
  static_cast<void>(after);
  static_cast<void>(least);
  static_cast<void>(around);
#endif
}

}  // namespace

int main() {
  // What surrounds the instructions is a few moves and calls, and reading the counts.
  constexpr std::uint64_t around = 450;
  report("loop", [] { return loop(), 0; }, {2002, 0, 0, 1001}, around);
  std::uint64_t rounds = 0;
  report(
      "prefixes",
      [&] {
        for (int i = 0; i < 1000; ++i) prefix();
        return rounds;
      },
      {3000, 1000, 1000}, 13000);
  report("of each kind", [] { return of_each_kind(), 0; }, {8000, 3000, 2000, 1000, 2000, 2000}, around);
  report("red zone", [] { return red_zone(); });
  if (red_zone() != 42) std::puts("wrong: the red zone was written");
  // The tables of exceptions are right: handlers are found, and begin where they do.
  const auto thrown = [](std::uint64_t what) {
    try {
      if (what % 3 == 0) throw std::runtime_error("thrown and caught");
      if (what % 3 == 1) throw what;
    } catch (const std::runtime_error&) {
      return what + 10;
    } catch (std::uint64_t number) {
      return number + 100;
    }
    return what;
  };
  const volatile std::uint64_t first = 3;
  report("exceptions", [&] { return thrown(first) + thrown(first + 1) + thrown(first + 2); });
  const volatile std::uint32_t many = 100'000;
  std::vector<float> some(100'000, 1);
  std::vector<int> others(20'000);
  for (std::size_t i = 0; i < others.size(); ++i) others[i] = static_cast<int>(i * 7919 % 10007);
  report("measured_vectors", [&] { return measured_vectors(some); });
  report("measured_branches", [&] { return measured_branches(many); });
  report("measured_sort", [&] { return measured_sort(others); });
}
