// Parallel loops and reductions.
#include <kith/kith.hpp>

#include <cstdio>
#include <vector>

int main() {
  kith::runtime rt;
  std::vector<double> v(100000);
  const double sum = rt.run([&] {
    kith::parallel_for(0, 100000, [&](std::int64_t i) { v[static_cast<std::size_t>(i)] = static_cast<double>(i % 10); },
                       {kith::schedule::dynamic, 1000});
    // static_: the same partial sums in every run, so the same rounding.
    return kith::parallel_reduce(
        0, 100000, 0.0,
        [&](std::int64_t from, std::int64_t to, double partial) {
          for (std::int64_t i = from; i < to; ++i) partial += v[static_cast<std::size_t>(i)];
          return partial;
        },
        [](double a, double b) { return a + b; }, {kith::schedule::static_});
  });
  std::printf("%.0f\n", sum);
}
