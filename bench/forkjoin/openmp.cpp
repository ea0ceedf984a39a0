// OpenMP tasks: compiled by gcc for libgomp, and by clang for libomp.
#include "fork_serve.hpp"

#include <omp.h>

namespace {

std::int64_t fib(int n) {
  if (n < 2) return n;
  std::int64_t a = 0;
#pragma omp task default(none) shared(a) firstprivate(n)
  a = fib(n - 1);
  const std::int64_t b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

}  // namespace

int main(int argc, char** argv) {
  const int workers = kith::bench::child_options_of(argc, argv).workers;
  return kith::bench::serve_fork(KITH_BENCH_OPENMP_VERSION, [workers](int n) {
    std::int64_t result = 0;
#pragma omp parallel num_threads(workers) default(none) shared(result, n)
#pragma omp single
    result = fib(n);
    return result;
  });
}
