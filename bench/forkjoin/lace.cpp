// Lace, from the checkout that KITH_LACE names.
#include "fork_serve.hpp"

#include <lace.h>

namespace {

TASK_1(std::int64_t, fib, int, n) {
  if (n < 2) return n;
  SPAWN(fib, n - 1);
  const std::int64_t b = CALL(fib, n - 2);
  return b + SYNC(fib);
}

/// The whole loop runs on a worker: under real-time scheduling another thread could not start the recursion while all
/// workers spin.
TASK_0(int, serve) {
  return kith::bench::serve_fork(KITH_BENCH_LACE_VERSION, [&](int n) { return CALL(fib, n); });
}

}  // namespace

int main(int argc, char** argv) {
  const kith::bench::child_options o = kith::bench::child_options_of(argc, argv);
  lace_start(static_cast<unsigned>(o.workers), 100000);
  const int done = RUN(serve);
  lace_stop();
  return done;
}
