// Divide and conquer: the sum of a function over a range, halved until a part is small.
#include <kith/kith.hpp>

#include <cstdio>

std::int64_t sum_of_squares(std::int64_t from, std::int64_t to) {
  if (to - from <= 1000) {
    std::int64_t sum = 0;
    for (; from < to; ++from) sum += from * from;
    return sum;
  }
  const std::int64_t middle = from + (to - from) / 2;
  const auto [a, b] = kith::join([=] { return sum_of_squares(from, middle); },  // runs on this thread
                                 [=] { return sum_of_squares(middle, to); });   // an idle worker may take it
  return a + b;
}

int main() {
  kith::runtime rt;
  std::printf("%lld\n", static_cast<long long>(rt.run([] { return sum_of_squares(0, 100'000); })));
  rt.run([] {
    long long doubled = 0, squared = 0, cubed = 0;
    kith::parallel_invoke([&] { doubled = 2 * 7; }, [&] { squared = 7 * 7; }, [&] { cubed = 7 * 7 * 7; });
    std::printf("%lld %lld %lld\n", doubled, squared, cubed);
  });
}
