// A handle names data once; accesses through it need no look-up. Here: blocks of one array, and a stencil over them.
#include <kith/kith.hpp>

#include <cstdio>
#include <vector>

int main() {
  static constexpr int blocks = 8, block = 512, steps = 10;
  kith::runtime rt;
  std::vector<double> data(blocks * block, 1.0);
  std::vector<kith::handle<double[]>> part;
  for (int b = 0; b < blocks; ++b) part.emplace_back(data.data() + b * block, block);
  rt.run([&] {
    for (int step = 0; step < steps; ++step) {
      for (int b = 0; b < blocks; ++b) {
        kith::access_list uses;  // how many neighbours there are is known only here
        uses.add(kith::inout(part[b]));
        if (b > 0) uses.add(kith::in(part[b - 1]));
        if (b + 1 < blocks) uses.add(kith::in(part[b + 1]));
        kith::spawn(
            [&data, b] {
              const double left = b > 0 ? data[b * block - 1] : 0, right = b + 1 < blocks ? data[(b + 1) * block] : 0;
              for (int i = 0; i < block; ++i) data[b * block + i] += (left + right) / 2;
            },
            uses);
      }
    }
  });
  std::printf("%.0f %.0f\n", data.front(), data.back());
}
