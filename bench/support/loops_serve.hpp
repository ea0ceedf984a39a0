// The main loop of a child of `kith-bench loops`: parallel loops over arrays. Lines as in protocol.hpp:
//
//   hello                      ok 0 0 <version>
//   dag <case> 0 <n> 0 0       ok <nanoseconds> <loops for `tiny`, else elements>
//   quit                       (the child ends)
//
// A system S has, each for n elements:
//   bool can(const std::string& what) const;
//   void add(std::int64_t n, double a, const double* x, double* y);                     // y += a x
//   double dot(std::int64_t n, const double* x, const double* y);
//   void scan(std::int64_t n, const std::int64_t* in, std::int64_t* out);               // inclusive prefix sums
//   void sort(std::vector<std::uint32_t>&);
//   template <class F> void enter(F f);                                                 // calls f where loops may run
#pragma once

#include "kernel.hpp"
#include "protocol.hpp"
#include "serve.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace kith::bench {

template <class System>
class loop_server {
 public:
  loop_server(System& s, std::string version) : system_(s), version_(std::move(version)) {}

  int loop() {
    return answer_requests([this](const request& q) -> reply {
      if (q.what == verb::hello) return {true, 0, 0, version_};
      if (!system_.can(q.subject)) return {false, 0, 0, "not offered by this system"};
      return {true, run(q.subject, q.size), q.subject == "tiny" ? tiny_loops : q.size, ""};
    });
  }

 private:
  static constexpr std::int64_t tiny_loops = 1000;

  /// Runs the case, and checks its result.
  double run(const std::string& what, std::int64_t n) {
    const auto length = static_cast<std::size_t>(n);
    if (what == "sort") {
      std::mt19937 random(1);
      std::vector<std::uint32_t> keys(length);
      for (std::uint32_t& k : keys) k = static_cast<std::uint32_t>(random());
      const std::uint64_t sum = std::accumulate(keys.begin(), keys.end(), std::uint64_t{0});
      const double took = timed([&] { system_.sort(keys); });
      check(std::is_sorted(keys.begin(), keys.end()) &&
            std::accumulate(keys.begin(), keys.end(), std::uint64_t{0}) == sum);
      return took;
    }
    if (what == "scan") {
      if (in_.size() != length) {
        in_.resize(length);
        out_.resize(length);
        for (std::size_t i = 0; i < length; ++i) in_[i] = static_cast<std::int64_t>(i % 7);
      }
      const double took = timed([&] { system_.scan(n, in_.data(), out_.data()); });
      std::int64_t sum = 0;
      for (std::size_t i = 0; i < length; ++i) check(out_[i] == (sum += in_[i]));
      return took;
    }
    if (x_.size() != length) {
      x_.assign(length, 1);
      y_.resize(length);
    }
    std::fill(y_.begin(), y_.end(), 2);
    if (what == "dot") {
      double got = 0;
      const double took = timed([&] { got = system_.dot(n, x_.data(), y_.data()); });
      check(got == 2 * static_cast<double>(n));
      return took;
    }
    const std::int64_t loops = what == "tiny" ? tiny_loops : 1;
    const double took = timed([&] {
      for (std::int64_t l = 0; l < loops; ++l) system_.add(n, 1, x_.data(), y_.data());
    });
    check(std::ranges::all_of(y_, [&](double y) { return y == 2 + static_cast<double>(loops); }));
    return took;
  }
  template <class F>
  double timed(const F& f) {
    double took = 0;
    system_.enter([&] {
      const double from = now_nanoseconds();
      f();
      took = now_nanoseconds() - from;
    });
    return took;
  }
  static void check(bool right) {
    if (!right) throw std::runtime_error("the result is wrong");
  }

  System& system_;
  const std::string version_;
  std::vector<double> x_, y_;
  std::vector<std::int64_t> in_, out_;
};

}  // namespace kith::bench
