#include "loops_serve.hpp"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/parallel_reduce.h>
#include <oneapi/tbb/parallel_scan.h>
#include <oneapi/tbb/parallel_sort.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/version.h>

namespace {

namespace tbb = oneapi::tbb;
using range = tbb::blocked_range<std::int64_t>;

struct onetbb_loops {
  tbb::task_arena& arena;
  static bool can(const std::string&) { return true; }
  static void add(std::int64_t n, double a, const double* x, double* y) {
    tbb::parallel_for(range(0, n), [=](const range& r) {
      for (std::int64_t i = r.begin(); i < r.end(); ++i) y[i] += a * x[i];
    });
  }
  static double dot(std::int64_t n, const double* x, const double* y) {
    return tbb::parallel_reduce(
        range(0, n), 0.0,
        [=](const range& r, double sum) {
          for (std::int64_t i = r.begin(); i < r.end(); ++i) sum += x[i] * y[i];
          return sum;
        },
        std::plus<>());
  }
  static void scan(std::int64_t n, const std::int64_t* in, std::int64_t* out) {
    tbb::parallel_scan(
        range(0, n), std::int64_t{0},
        [=](const range& r, std::int64_t sum, bool final) {
          if (!final) return std::accumulate(in + r.begin(), in + r.end(), sum);
          for (std::int64_t i = r.begin(); i < r.end(); ++i) out[i] = sum += in[i];
          return sum;
        },
        std::plus<>());
  }
  static void sort(std::vector<std::uint32_t>& v) { tbb::parallel_sort(v.begin(), v.end()); }
  template <class F>
  void enter(F f) {
    arena.execute(f);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int workers = kith::bench::child_options_of(argc, argv).workers;
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(workers));
  tbb::task_arena arena(workers);
  onetbb_loops s{arena};
  return kith::bench::loop_server(s, TBB_runtime_version()).loop();
}
