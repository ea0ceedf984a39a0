// fib with tasks: one half is a task, the other a call.
#include "fork_serve.hpp"

#include <kith/kith.hpp>

namespace {

std::int64_t fib(int n) {
  if (n < 2) return n;
  std::int64_t a = 0;
  kith::spawn([&a, n] { a = fib(n - 1); });
  const std::int64_t b = fib(n - 2);
  kith::wait();
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  kith::runtime_options o;
  o.workers = kith::bench::child_options_of(argc, argv).workers;
  kith::runtime rt(o);
  return kith::bench::serve_fork(KITH_VERSION, [&](int n) { return rt.run([n] { return fib(n); }); });
}
