// Coroutines that fork: the sum of a function over a range, as in divide.cpp.
#include <kith/kith.hpp>

#include <cstdio>

kith::coroutine<std::int64_t> sum_of_squares(std::int64_t from, std::int64_t to) {
  if (to - from <= 1000) {
    std::int64_t sum = 0;
    for (; from < to; ++from) sum += from * from;
    co_return sum;
  }
  const std::int64_t middle = from + (to - from) / 2;
  const auto [a, b] = co_await kith::both([=] { return sum_of_squares(from, middle); },  // runs on this thread
                                          [=] { return sum_of_squares(middle, to); });   // here, or on an idle worker
  co_return a + b;  // on the worker whose half has ended last
}

int main() {
  kith::runtime rt;
  const auto sum = rt.run([] { return kith::sync_wait(sum_of_squares(0, 100'000)); });
  std::printf("%lld\n", static_cast<long long>(sum));
}
