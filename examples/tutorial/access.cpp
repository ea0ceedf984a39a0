// Tasks say what they use; the order follows.
#include <kith/kith.hpp>

#include <cstdio>
#include <vector>

int main() {
  kith::runtime rt;
  std::vector<double> left(1000), right(1000);
  double total = 0;
  rt.run([&] {
    // Nothing in common: these two may run at the same time.
    kith::spawn([](std::span<double> v) { v[0] = 1.5; }, kith::out(left));
    kith::spawn([](std::span<double> v) { v[0] = 2.5; }, kith::out(right));
    // Reads both: runs after both.
    kith::spawn([](std::span<const double> a, std::span<const double> b, double& t) { t = a[0] + b[0]; },
                kith::in(left), kith::in(right), kith::out(total));
    // Writes what the one before reads: runs after it.
    kith::spawn([](std::span<double> v) { v[0] = 0; }, kith::out(left));
  });
  std::printf("%.1f, then %.1f\n", total, left[0]);
}
