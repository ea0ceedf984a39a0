// `concurrent` tasks synchronise themselves; `commutative` ones exclude each other, in any order.
#include <kith/kith.hpp>

#include <atomic>
#include <cstdio>

int main() {
  kith::runtime rt;
  std::atomic<int> hits{0};
  long sum = 0;
  rt.run([&] {
    for (int i = 1; i <= 100; ++i) {
      kith::spawn([](std::atomic<int>& h) { ++h; }, kith::concurrent(hits));
      kith::spawn([i](long& s) { s += i; }, kith::commutative(sum));  // no lock needed
    }
    kith::spawn([](const std::atomic<int>& h, const long& s) { std::printf("%d hits, sum %ld\n", h.load(), s); },
                kith::in(hits), kith::in(sum));  // after all of them
  });
}
