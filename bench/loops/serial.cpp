#include "loops_serve.hpp"

namespace {

struct serial_loops {
  static bool can(const std::string&) { return true; }
  static void add(std::int64_t n, double a, const double* x, double* y) {
    for (std::int64_t i = 0; i < n; ++i) y[i] += a * x[i];
  }
  static double dot(std::int64_t n, const double* x, const double* y) {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
  }
  static void scan(std::int64_t n, const std::int64_t* in, std::int64_t* out) { std::inclusive_scan(in, in + n, out); }
  static void sort(std::vector<std::uint32_t>& v) { std::sort(v.begin(), v.end()); }
  template <class F>
  static void enter(F f) {
    f();
  }
};

}  // namespace

int main(int argc, char** argv) {
  kith::bench::child_options_of(argc, argv);
  serial_loops s;
  return kith::bench::loop_server(s, "plain loops").loop();
}
