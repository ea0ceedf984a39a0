// nstream: the four kernels of STREAM, in rounds, on independent sets of three arrays.
//
// RIP paper, section 5.2 (N independent arrays, a multiple of the threads; its graph has N components). The
// expert placement deals the sets round robin. Windows: 5N tasks (a set's initialisation and its four
// kernels), of which 2N stay. The paper prints neither N nor the length; two sets for each of 32 cores and
// 8 MiB for an array are assumed. Property checked:
//  N1  every element equals that of a serial program that takes one element through all rounds.
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"
#include "worst.hpp"

#include <cmath>
#include <cstdio>

namespace kith::apps {

namespace {

constexpr parameter nstream_parameters[] = {
    {"sets", "16", "8", "sets of three arrays", "64"},
    {"size", "65536", "8192", "elements of an array", "1048576"},
    {"iterations", "20", "10", "rounds of the four kernels", "30"},
};

/// The square root of 2, less 1. With it a round leaves the first array unchanged, however many rounds there are.
constexpr double factor = 0.41421356237309503;

class nstream final : public app {
 public:
  explicit nstream(const arguments& a)
      : sets_(a.number("sets", 1, 1 << 20)),
        size_(a.number("size", 1, 1 << 30)),
        rounds_(a.number("iterations", 1, 1 << 20)),
        seed_(a.seed()),
        a_(sets_, size_),
        b_(sets_, size_),
        c_(sets_, size_) {}

  void prepare(const target& where) override {
    static const task_type type{"nstream_initial"};
    where.run([&] {
      for (std::int64_t n = 0; n < sets_; ++n) {
        spawn(
            [this, n] {
              for (std::int64_t e = 0; e < size_; ++e) {
                a_[n][e] = initial(n, e);
                b_[n][e] = c_[n][e] = 0;
              }
            },
            type, where.turn(n), a_.out(n), b_.out(n), c_.out(n), work{0});
      }
    });
  }

  void solve(const target& where) override {
    static const task_type copy{"copy"}, scale{"scale"}, add{"add"}, triad{"triad"};
    const auto flops = [this](int each) { return work_of(static_cast<double>(each * size_), rate::streamed); };
    where.run([&] {
      for (std::int64_t r = 0; r < rounds_; ++r) {
        for (std::int64_t n = 0; n < sets_; ++n) {
          spawn([=, this, from = a_[n], to = c_[n]] { std::copy_n(from, size_, to); }, copy, where.turn(n), a_.in(n),
                c_.out(n), flops(0));
        }
        for (std::int64_t n = 0; n < sets_; ++n) {
          spawn([=, this] { for_each([&](std::int64_t e) { b_[n][e] = factor * c_[n][e]; }); }, scale, where.turn(n),
                c_.in(n), b_.out(n), flops(1));
        }
        for (std::int64_t n = 0; n < sets_; ++n) {
          spawn([=, this] { for_each([&](std::int64_t e) { c_[n][e] = a_[n][e] + b_[n][e]; }); }, add, where.turn(n),
                a_.in(n), b_.in(n), c_.out(n), flops(1));
        }
        for (std::int64_t n = 0; n < sets_; ++n) {
          spawn([=, this] { for_each([&](std::int64_t e) { a_[n][e] = b_[n][e] + factor * c_[n][e]; }); }, triad,
                where.turn(n), b_.in(n), c_.in(n), a_.out(n), flops(2));
        }
      }
    });
  }

  verdict verify() override {
    double worst = 0;
    for (std::int64_t n = 0; n < sets_; ++n) {
      for (std::int64_t e = 0; e < size_; ++e) {
        double x = initial(n, e), y = 0, z = 0;
        for (std::int64_t r = 0; r < rounds_; ++r) {
          y = factor * x;
          z = x + y;
          x = y + factor * z;
        }
        for (double off : {a_[n][e] - x, b_[n][e] - y, c_[n][e] - z}) worst = worst_of(worst, std::fabs(off));
      }
    }
    const long long elements = 3 * sets_ * size_;
    char text[160];
    std::snprintf(text, sizeof text, "%lld elements differ from the serial program's by at most %.2g (bound 1e-12)",
                  elements, worst);
    return {worst <= 1e-12, text};
  }

  std::vector<figure> figures() const override {
    // Counted as in STREAM: copy and scale move two arrays, add and triad three.
    return {{"sets", sets_},
            {"elements", size_},
            {"iterations", rounds_},
            {"bytes_moved", 10 * rounds_ * sets_ * size_ * std::int64_t{sizeof(double)}}};
  }
  std::span<std::byte> output() override { return a_.bytes(); }

 private:
  double initial(std::int64_t n, std::int64_t e) const noexcept {
    return 1 + hash_unit(seed_, static_cast<std::uint64_t>(n * size_ + e));
  }
  template <class F>
  void for_each(F&& f) const {
    for (std::int64_t e = 0; e < size_; ++e) f(e);
  }

  std::int64_t sets_, size_, rounds_;
  std::uint64_t seed_;
  paged<double> a_, b_, c_;  // a block for each set
};

window_hint nstream_windows(const arguments& a) {
  const std::int64_t sets = a.number("sets", 1, 1 << 20);
  return {.first = sets, .window = 4 * sets, .intersection = 2 * sets};
}

}  // namespace

const entry nstream_entry = {"nstream",          "RIP",         "STREAM's kernels on independent sets of arrays",
                             nstream_parameters, make<nstream>, false,
                             nstream_windows};

}  // namespace kith::apps
