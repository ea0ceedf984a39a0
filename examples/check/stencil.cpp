// A stencil over blocks of an array with a mistake: a task reads the last cell of the block before its own, and does
// not say so.
#include <kith/kith.hpp>

#include <cstdio>
#include <vector>

int main() {
  static constexpr int blocks = 4, block = 512;
  kith::runtime rt;
  std::vector<double> cells(blocks * block, 1.0), weights(block, 0.5);
  const kith::task_type smooth("smooth");
  rt.run([&] {
    for (int b = 0; b < blocks; ++b) {
      double* const mine = cells.data() + b * block;
      kith::spawn(
          [=, w = weights.data()] {
            for (int i = b == 0 ? 1 : 0; i < block; ++i) mine[i] = w[i] * (mine[i - 1] + mine[i]);
          },
          smooth, kith::in(weights.data(), block), kith::inout(mine, block));
    }
  });
  std::puts("done");
}
