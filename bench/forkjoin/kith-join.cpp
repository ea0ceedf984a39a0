#include "fork_serve.hpp"

#include <kith/kith.hpp>

namespace {

std::int64_t fib(int n) {
  if (n < 2) return n;
  const auto [a, b] = kith::join([n] { return fib(n - 2); }, [n] { return fib(n - 1); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  kith::runtime_options o;
  o.workers = kith::bench::child_options_of(argc, argv).workers;
  kith::runtime rt(o);
  return kith::bench::serve_fork(KITH_VERSION, [&](int n) { return rt.run([n] { return fib(n); }); });
}
