#include <cstdio>
#include <kith/kith.hpp>

int main() {
  kith::runtime rt;
  int a = 0, b = 0, sum = 0;
  rt.run([&] {
    kith::spawn([](int& x) { x = 40; }, kith::out(a));
    kith::spawn([](int& y) { y = 2; }, kith::out(b));
    kith::spawn([](const int& x, const int& y, int& s) { s = x + y; }, kith::in(a), kith::in(b), kith::out(sum));
  });
  std::printf("%d\n", sum);
}
