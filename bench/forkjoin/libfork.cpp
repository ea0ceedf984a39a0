// libfork, from the checkout that KITH_LIBFORK names.
#include "fork_serve.hpp"

#include <libfork.hpp>

namespace {

inline constexpr auto fib = [](auto fib, int n) -> lf::task<std::int64_t> {
  if (n < 2) co_return n;
  std::int64_t a = 0, b = 0;
  co_await lf::fork(&a, fib)(n - 1);
  co_await lf::call(&b, fib)(n - 2);
  co_await lf::join;
  co_return a + b;
};

}  // namespace

int main(int argc, char** argv) {
  const kith::bench::child_options o = kith::bench::child_options_of(argc, argv);
  lf::lazy_pool pool(static_cast<std::size_t>(o.workers));
  return kith::bench::serve_fork(KITH_BENCH_LIBFORK_VERSION, [&](int n) { return lf::sync_wait(pool, fib, n); });
}
