#include "fork_serve.hpp"

#include <kith/kith.hpp>

namespace {

kith::coroutine<std::int64_t> fib(int n) {
  if (n < 2) co_return n;
  const auto sums = co_await kith::both([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  co_return sums.first + sums.second;
}

}  // namespace

int main(int argc, char** argv) {
  kith::runtime_options o;
  o.workers = kith::bench::child_options_of(argc, argv).workers;
  kith::runtime rt(o);
  return kith::bench::serve_fork(KITH_VERSION, [&](int n) { return rt.run([n] { return kith::sync_wait(fib(n)); }); });
}
