// The same tasks again: a loop whose body creates the same tasks each time, and a graph that is captured once.
#include <kith/kith.hpp>

#include <array>
#include <cstdio>

using block = std::array<double, 20>;
std::array<block, 8> rod{};  // heat flows from the first block to the last

void relax(block& b, double left, double rate) {
  for (double& x : b) {
    x += (left - x) * rate;
    left = x;
  }
}

int main() {
  kith::runtime rt;
  rt.run([] {
    kith::repeat(4, [](std::size_t i) {  // its tasks are created each time; from the second time on only compared
      const double rate = i < 2 ? 0.9 : 0.8;
      for (int sweep = 0; sweep < 4; ++sweep) {
        kith::spawn([rate] { relax(rod[0], 100, rate); }, kith::inout(rod[0]));
        for (std::size_t b = 1; b < rod.size(); ++b)
          kith::spawn([b, rate] { relax(rod[b], rod[b - 1].back(), rate); }, kith::inout(rod[b]), kith::in(rod[b - 1]));
      }
    });
  });
  std::printf("the rod ends with %.1f degrees\n", rod.back().back());

  kith::captured_graph cool;
  double rate = 0.5, sum = 0;
  rt.run([&] {
    cool.capture([&] {  // its tasks are created once, and not run
      for (block& b : rod) kith::spawn([&] { relax(b, 0, rate); }, kith::inout(b));
      kith::spawn(
          [&] {
            sum = 0;
            for (const block& b : rod) sum += b[0];
          },
          kith::in(rod));
    });
    cool.run();
    std::printf("cooled once: %.1f\n", sum);
    rate = 0.25;  // the tasks refer to this variable
    cool.run();
    std::printf("cooled again: %.1f\n", sum);
  });
}
