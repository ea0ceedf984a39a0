// OpenMP loops, compiled by gcc for libgomp and by clang for libomp. `sort` is libstdc++'s parallel mode, which is made
// of OpenMP and needs gcc. Clang 19 keeps the sums of a scan on the stack, which overflows with millions of elements.
#include "loops_serve.hpp"

#include <omp.h>
#if defined(__GNUC__) && !defined(__clang__)
#include <parallel/algorithm>
#endif

namespace {

struct openmp_loops {
  static bool can([[maybe_unused]] const std::string& what) {
#if defined(__GNUC__) && !defined(__clang__)
    return true;
#else
    return what != "sort" && what != "scan";
#endif
  }
  static void add(std::int64_t n, double a, const double* x, double* y) {
#pragma omp parallel for default(none) firstprivate(n, a, x, y)
    for (std::int64_t i = 0; i < n; ++i) y[i] += a * x[i];
  }
  static double dot(std::int64_t n, const double* x, const double* y) {
    double sum = 0;
#pragma omp parallel for default(none) firstprivate(n, x, y) reduction(+ : sum)
    for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
  }
  static void scan(std::int64_t n, const std::int64_t* in, std::int64_t* out) {
    std::int64_t sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
    for (std::int64_t i = 0; i < n; ++i) {
      sum += in[i];
#pragma omp scan inclusive(sum)
      out[i] = sum;
    }
  }
  static void sort([[maybe_unused]] std::vector<std::uint32_t>& v) {
#if defined(__GNUC__) && !defined(__clang__)
    __gnu_parallel::sort(v.begin(), v.end());
#endif
  }
  template <class F>
  static void enter(F f) {
    f();
  }
};

}  // namespace

int main(int argc, char** argv) {
  omp_set_num_threads(kith::bench::child_options_of(argc, argv).workers);
  openmp_loops s;
  return kith::bench::loop_server(s, KITH_BENCH_OPENMP_VERSION).loop();
}
