// An array and its tiles: a task on the whole array runs after earlier tasks on its tiles, and vice versa.
#include <kith/kith.hpp>

#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

int main() {
  static constexpr std::size_t tiles = 4, tile = 250;
  kith::runtime rt;
  std::vector<int> v(tiles * tile);
  int sum = 0;
  const auto fill = [](std::span<int> mine) {
    for (int& x : mine) ++x;
  };
  rt.run([&] {
    for (std::size_t t = 0; t < tiles; ++t) kith::spawn(fill, kith::inout(&v[t * tile], tile));  // side by side
    kith::spawn([](std::span<const int> all, int& s) { s = std::accumulate(all.begin(), all.end(), 0); }, kith::in(v),
                kith::out(sum));                                                                 // after all four
    for (std::size_t t = 0; t < tiles; ++t) kith::spawn(fill, kith::inout(&v[t * tile], tile));  // after the sum
  });
  std::printf("%d, then %d\n", sum, std::accumulate(v.begin(), v.end(), 0));
}
