// vecmul: products of pairs of vectors, element by element; one task for each pair and pass.
//
// MIR paper's pattern programs (128 vectors of 28 kB, each a block of its own, on a TILEPro64). The expert
// placement deals pairs round robin, as coarse distribution does. Property checked:
//  V1  dividing back gives the factor: c / a is b, up to rounding.
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"
#include "worst.hpp"

#include <kith/error.hpp>

#include <cmath>
#include <cstdio>
#include <string>

namespace kith::apps {

namespace {

constexpr parameter vecmul_parameters[] = {
    {"vectors", "128", "32", "pairs"},
    {"size", "7168", "1792", "elements of each"},
    {"iterations", "20", "10", "passes"},
    {"sweeps", "1", "1", "of a task over its pair"},
    {"in-place", flag, flag, "the product replaces the first vector of the pair"},
    {"joined", flag, flag, "each pass ends before the next one begins, as in the paper"},
};

class vecmul final : public app {
 public:
  explicit vecmul(const arguments& a)
      : count_(a.number("vectors", 1, 1 << 20)),
        size_(a.number("size", 1, 1 << 28)),
        passes_(a.number("iterations", 1, 1 << 20)),
        sweeps_(a.number("sweeps", 1, 1 << 20)),
        in_place_(a.on("in-place")),
        joined_(a.on("joined")),
        seed_(a.seed()),
        a_(count_, size_),
        b_(count_, size_),
        c_(in_place_ ? 1 : count_, in_place_ ? 1 : size_) {
    if (in_place_ && passes_ > most_factors / sweeps_)
      throw error("vecmul: --in-place multiplies iterations x sweeps times, here " + std::to_string(passes_) + " x " +
                      std::to_string(sweeps_) + "; more than 100 factors overflow",
                  error_kind::setting);
  }

  void prepare(const target& where) override {
    static const task_type type{"vecmul_initial"};
    const auto fill = [this](float* x, std::uint64_t which, std::int64_t v) {
      for (std::int64_t e = 0; e < size_; ++e) x[e] = factor(which, v, e);
    };
    where.on.run([&] {
      if (in_place_) {  // first all vectors of one kind, then all of the other
        for (std::uint64_t which : {0u, 1u}) {
          for (std::int64_t v = 0; v < count_; ++v) {
            const paged<float>& to = which == 0 ? a_ : b_;
            spawn([=, x = to[v]] { fill(x, which, v); }, type, where.turn(v), to.out(v), work{0});
          }
        }
        return;
      }
      for (std::int64_t v = 0; v < count_; ++v) {
        const auto body = [=, this] {
          fill(a_[v], 0, v);
          fill(b_[v], 1, v);
          for (std::int64_t e = 0; e < size_; ++e) c_[v][e] = 0;
        };
        spawn(body, type, where.turn(v), a_.out(v), b_.out(v), c_.out(v), work{0});
      }
    });
  }

  void solve(const target& where) override {
    static const task_type type{"vecmul"};
    const work cost = work_of(static_cast<double>(size_ * sweeps_), rate::streamed);
    where.on.run([&] {
      for (std::int64_t p = 0; p < passes_; ++p) {
        for (std::int64_t v = 0; v < count_; ++v) {
          const auto body = [x = a_[v], y = b_[v], z = product(v), n = size_, sweeps = sweeps_] {
            for (std::int64_t s = 0; s < sweeps; ++s) {
              for (std::int64_t e = 0; e < n; ++e) z[e] = x[e] * y[e];
            }
          };
          if (in_place_)
            spawn(body, type, where.turn(v), a_.inout(v), b_.in(v), cost);
          else
            spawn(body, type, where.turn(v), a_.in(v), b_.in(v), c_.out(v), cost);
        }
        if (joined_) wait();
      }
    });
  }

  verdict verify() override {
    double worst = 0;
    const double times = in_place_ ? static_cast<double>(passes_ * sweeps_) : 1;
    for (std::int64_t v = 0; v < count_; ++v) {
      for (std::int64_t e = 0; e < size_; ++e) {
        const double back = std::pow(static_cast<double>(product(v)[e]) / factor(0, v, e), 1 / times);
        worst = worst_of(worst, std::fabs(back - factor(1, v, e)));
      }
    }
    const long long elements = count_ * size_;
    char text[160];
    std::snprintf(text, sizeof text, "%lld products, divided back, are off by at most %.2g (bound 1e-6)", elements,
                  worst);
    return {worst <= 1e-6, text};
  }

  std::vector<figure> figures() const override {
    double sum = 0;
    for (std::int64_t v = 0; v < count_; ++v) {
      for (std::int64_t e = 0; e < size_; ++e) sum += product(v)[e];
    }
    return {{"vectors", count_}, {"elements", size_}, {"iterations", passes_}, {"sum_of_products", sum}};
  }
  std::span<std::byte> output() override { return in_place_ ? a_.bytes() : c_.bytes(); }

 private:
  static constexpr std::int64_t most_factors = 100;
  float* product(std::int64_t v) const noexcept { return in_place_ ? a_[v] : c_[v]; }
  /// An element, from 1 to 2.
  float factor(std::uint64_t which, std::int64_t v, std::int64_t e) const noexcept {
    return 1 + static_cast<float>(hash_unit(seed_ + which, static_cast<std::uint64_t>(v * size_ + e)));
  }

  std::int64_t count_, size_, passes_, sweeps_;
  bool in_place_, joined_;
  std::uint64_t seed_;
  paged<float> a_, b_, c_;
};

}  // namespace

const entry vecmul_entry = {"vecmul", "MIR", "products of pairs of vectors, element by element", vecmul_parameters,
                            make<vecmul>};

}  // namespace kith::apps
