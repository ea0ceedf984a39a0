// A vector in equal shares over the nodes; under `dep` each share's tasks run where it is.
#include <kith/kith.hpp>

#include <cstdio>
#include <numeric>
#include <span>
#include <vector>

int main() {
  kith::runtime_options on;
  on.policy = "dep:steal=off";
  on.machine = "node:4 core:1";
  kith::runtime rt(on);
  constexpr std::size_t share = 4096;  // doubles: eight pages
  std::vector<double, kith::allocator<double>> v(
      4 * share, 1.0, kith::allocator<double>(rt, kith::distribution(kith::distribution::block)));
  rt.run([&] {
    for (std::size_t part = 0; part < 4; ++part) {
      kith::spawn([](std::span<double> mine) { std::iota(mine.begin(), mine.end(), mine[0]); },
                  kith::inout(&v[part * share], share));
    }
  });
  const kith::statistics s = rt.statistics();
  for (const auto& w : s.workers) std::printf("%d ", static_cast<int>(w.tasks));
  std::printf("tasks on the four workers, %d remote accesses\n", static_cast<int>(s.remote_accesses));
}
