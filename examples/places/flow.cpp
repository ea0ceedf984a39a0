// The same smoothing by tasks that say which elements they read and write.
#include <kith/data_flow.hpp>
#include <kith/kith.hpp>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

using array = kith::distributed_array<double>;

/// `next` has the cells from around[at] on.
static void relax(std::span<const double> around, std::span<double> next, std::size_t at) {
  for (std::size_t i = at; i < at + next.size(); ++i) {
    const double left = i == 0 ? 0 : around[i - 1], right = i + 1 == around.size() ? 0 : around[i + 1];
    next[i - at] = (left + around[i] + right) / 3;
  }
}

int main() {
  kith::place_runtime places;
  places.run([] {
    constexpr std::size_t size = 1000, tile = 50;
    auto now = array::make(size), next = array::make(size);
    now.put(0, std::vector<double>(size, 1));
    kith::data_flow flow;
    for (int step = 0; step < 10; ++step) {
      for (std::size_t i = 0; i < size; i += tile) {
        const std::size_t from = i == 0 ? 0 : i - 1, to = std::min(size, i + tile + 1);
        flow.spawn<relax>(kith::in(now.range(from, to - from)), kith::out(next.range(i, tile)), i - from);
      }
      std::swap(now, next);
    }
    flow.wait();
    const std::vector<double> cells = now.get(0, size);
    std::printf("sum %.3f\n", std::accumulate(cells.begin(), cells.end(), 0.0));
    now.destroy();
    next.destroy();
  });
}
