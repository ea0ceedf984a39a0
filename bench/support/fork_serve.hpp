// The main loop of a child of `kith-bench forkjoin`: fib without a cut-off, so that each call but the smallest is a
// spawn. Which of fib(n - 1) and fib(n - 2) is called, and which may be taken by others, was measured for kith-join,
// Lace, rayon and chili, which have the faster choice; the others name fib(n - 1) first. Lines as in protocol.hpp:
//
//   hello                      ok 0 0 <version>
//   dag fib 0 <n> 0 0          ok <nanoseconds> <spawns>
//   quit                       (the child ends)
#pragma once

#include "kernel.hpp"
#include "protocol.hpp"
#include "serve.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>

namespace kith::bench {

/// fib(n), by addition.
constexpr std::int64_t known_fib(std::int64_t n) {
  std::int64_t a = 0, b = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t next = a + b;
    a = b;
    b = next;
  }
  return a;
}
/// The calls of fib(n) that make two more.
constexpr std::int64_t spawns_of_fib(std::int64_t n) { return known_fib(n + 1) - 1; }

/// `fib(n)` runs the recursion on the system.
template <class Fib>
int serve_fork(const std::string& version, const Fib& fib) {
  return answer_requests([&](const request& q) -> reply {
    if (q.what == verb::hello) return {true, 0, 0, version};
    if (q.subject != "fib") return {false, 0, 0, "not offered by this system"};
    const double from = now_nanoseconds();
    const std::int64_t got = fib(static_cast<int>(q.size));
    const double took = now_nanoseconds() - from;
    if (got != known_fib(q.size)) throw std::runtime_error("fib(" + std::to_string(q.size) + ") is wrong");
    return {true, took, spawns_of_fib(q.size), ""};
  });
}

}  // namespace kith::bench
