// Tasks create tasks. wait() waits for the children; a task ends when all its children have ended.
#include <kith/kith.hpp>

#include <cstdio>

long fib(int n) {
  if (n < 2) return n;
  long a = 0;
  kith::spawn([&a, n] { a = fib(n - 1); });
  const long b = fib(n - 2);
  kith::wait();
  return a + b;
}

int main() {
  kith::runtime rt;
  std::printf("%ld\n", rt.run([] { return fib(20); }));
}
