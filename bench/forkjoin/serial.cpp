// Plain calls: the cost of fib without any system.
#include "fork_serve.hpp"

namespace {

[[gnu::noinline]] std::int64_t fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

}  // namespace

int main(int argc, char** argv) {
  kith::bench::child_options_of(argc, argv);
  return kith::bench::serve_fork("plain calls", [](int n) { return fib(n); });
}
