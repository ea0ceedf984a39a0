// Functions whose instructions are known, and functions whose instructions callgrind is asked for. Compiled with
// KITH_COUNTED by src/counting/as, it prints what was counted: a name and a number on each line, and "wrong" for a
// function that was not counted as it is written.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <vector>

#ifdef KITH_COUNTED
extern "C" thread_local std::uint64_t kith_instructions;
#endif

namespace {

[[gnu::noinline]] std::uint64_t counted() {
#ifdef KITH_COUNTED
  return *const_cast<const volatile std::uint64_t*>(&kith_instructions);
#else
  return 0;
#endif
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
void report(const char* name, const Body& body, std::uint64_t least = 0, std::uint64_t most = ~std::uint64_t{0}) {
  const std::uint64_t before = counted();
  std::uint64_t value = body();
  asm volatile("" : "+r"(value) : : "memory");  // it is known before the count is
  const std::uint64_t n = counted() - before;
  std::printf("%s %llu %llu\n", name, static_cast<unsigned long long>(n), static_cast<unsigned long long>(value));
#ifdef KITH_COUNTED
  if (n < least || n > most)
    std::printf("wrong: %s: expected %llu to %llu\n", name, static_cast<unsigned long long>(least),
                static_cast<unsigned long long>(most));
#else
  static_cast<void>(least);
  static_cast<void>(most);
#endif
}

}  // namespace

int main() {
  // What surrounds the instructions is a few moves and calls.
  constexpr std::uint64_t around = 40;
  report("loop", [] { return loop(), 0; }, 2002, 2002 + around);
  std::uint64_t rounds = 0;
  report(
      "prefixes",
      [&] {
        for (int i = 0; i < 1000; ++i) prefix();
        return rounds;
      },
      3000, 16000);
  report("red zone", [] { return red_zone(); });
  if (red_zone() != 42) std::puts("wrong: the red zone was written");
  try {
    throw std::runtime_error("thrown and caught");
  } catch (const std::runtime_error& e) {
    std::puts(e.what());
  }
  const volatile std::uint32_t many = 100'000;
  std::vector<float> some(100'000, 1);
  std::vector<int> others(20'000);
  for (std::size_t i = 0; i < others.size(); ++i) others[i] = static_cast<int>(i * 7919 % 10007);
  report("measured_vectors", [&] { return measured_vectors(some); });
  report("measured_branches", [&] { return measured_branches(many); });
  report("measured_sort", [&] { return measured_sort(others); });
}
