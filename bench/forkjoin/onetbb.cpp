#include "fork_serve.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_invoke.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>

namespace {

std::int64_t fib(int n) {
  if (n < 2) return n;
  std::int64_t a = 0, b = 0;
  oneapi::tbb::parallel_invoke([&a, n] { a = fib(n - 1); }, [&b, n] { b = fib(n - 2); });
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = kith::bench::child_options_of(argc, argv).workers;
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                          static_cast<std::size_t>(workers));
  oneapi::tbb::task_arena arena(workers);
  return kith::bench::serve_fork(TBB_runtime_version(), [&](int n) { return arena.execute([n] { return fib(n); }); });
}
