#include "loops_serve.hpp"

#include <kith/kith.hpp>
#include <kith/parallel_sort.hpp>

namespace {

struct kith_loops {
  kith::runtime& rt;
  static bool can(const std::string&) { return true; }
  static void add(std::int64_t n, double a, const double* x, double* y) {
    kith::parallel_for(0, n, [=](std::int64_t i) { y[i] += a * x[i]; });
  }
  static double dot(std::int64_t n, const double* x, const double* y) {
    return kith::parallel_reduce(
        0, n, 0.0,
        [=](std::int64_t from, std::int64_t to, double sum) {
          for (std::int64_t i = from; i < to; ++i) sum += x[i] * y[i];
          return sum;
        },
        std::plus<>());
  }
  static void scan(std::int64_t n, const std::int64_t* in, std::int64_t* out) {
    kith::parallel_scan(
        0, n, std::int64_t{0},
        [=](std::int64_t from, std::int64_t to, std::int64_t sum, bool final) {
          if (!final) return std::accumulate(in + from, in + to, sum);
          for (std::int64_t i = from; i < to; ++i) out[i] = sum += in[i];
          return sum;
        },
        std::plus<>());
  }
  static void sort(std::vector<std::uint32_t>& v) { kith::parallel_sort(v.begin(), v.end()); }
  template <class F>
  void enter(F f) {
    rt.run(f);
  }
};

}  // namespace

int main(int argc, char** argv) {
  kith::runtime_options o;
  o.workers = kith::bench::child_options_of(argc, argv).workers;
  kith::runtime rt(o);
  kith_loops s{rt};
  return kith::bench::loop_server(s, KITH_VERSION).loop();
}
