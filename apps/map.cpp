// map: one function on every element of many vectors, repeatedly; one task for each vector and pass.
//
// MIR paper's pattern programs (48 vectors of 1 MB of floats, each a block of its own). The expert
// placement deals vectors round robin, as coarse distribution does. Property checked:
//  M1  every element equals the closed form of that many passes.
#include "hash.hpp"
#include "list.hpp"
#include "paged.hpp"
#include "rates.hpp"
#include "worst.hpp"

#include <cmath>
#include <cstdio>

namespace kith::apps {

namespace {

constexpr parameter map_parameters[] = {
    {"vectors", "48", "12", "how many"},
    {"size", "32768", "4096", "elements of each", "262144"},
    {"iterations", "20", "10", "passes"},
    {"sweeps", "1", "1", "of a task over its vector"},
    {"joined", flag, flag, "each pass ends before the next one begins, as in the paper"},
};

class map final : public app {
 public:
  explicit map(const arguments& a)
      : count_(a.number("vectors", 1, 1 << 20)),
        size_(a.number("size", 1, 1 << 28)),
        passes_(a.number("iterations", 1, 1 << 20)),
        sweeps_(a.number("sweeps", 1, 1 << 20)),
        joined_(a.on("joined")),
        seed_(a.seed()),
        vectors_(count_, size_) {}

  void prepare(const target& where) override {
    static const task_type type{"map_initial"};
    where.on.run([&] {
      for (std::int64_t v = 0; v < count_; ++v) {
        const auto body = [this, v] {
          for (std::int64_t e = 0; e < size_; ++e) vectors_[v][e] = initial(v, e);
        };
        spawn(body, type, where.turn(v), vectors_.out(v), work{0});
      }
    });
  }

  void solve(const target& where) override {
    static const task_type type{"map"};
    const work cost = work_of(static_cast<double>(2 * size_ * sweeps_), rate::streamed);
    where.on.run([&] {
      for (std::int64_t p = 0; p < passes_; ++p) {
        for (std::int64_t v = 0; v < count_; ++v) {
          const auto body = [this, v] {
            float* const x = vectors_[v];
            for (std::int64_t s = 0; s < sweeps_; ++s) {
              for (std::int64_t e = 0; e < size_; ++e) x[e] = 1 / (1 + x[e]);
            }
          };
          spawn(body, type, where.turn(v), vectors_.inout(v), cost);
        }
        if (joined_) wait();
      }
    });
  }

  verdict verify() override {
    double worst = 0;
    for (std::int64_t v = 0; v < count_; ++v) {
      for (std::int64_t e = 0; e < size_; ++e) {
        // A continued fraction, from its matrix of Fibonacci numbers: (a x + b) / (b x + c).
        double before = 0, now = 1;
        for (std::int64_t p = 1; p < passes_ * sweeps_ && p < fibonacci_exact; ++p) now += std::exchange(before, now);
        const double x = initial(v, e), expected = (before * x + now) / (now * x + before + now);
        worst = worst_of(worst, std::fabs(vectors_[v][e] - expected));
      }
    }
    const long long elements = count_ * size_;
    char text[160];
    std::snprintf(text, sizeof text, "%lld elements differ from the closed form by at most %.2g (bound 1e-6)", elements,
                  worst);
    return {worst <= 1e-6, text};
  }

  std::vector<figure> figures() const override {
    double sum = 0;
    for (std::int64_t v = 0; v < count_; ++v) {
      for (std::int64_t e = 0; e < size_; ++e) sum += vectors_[v][e];
    }
    return {{"vectors", count_},
            {"elements", size_},
            {"iterations", passes_},
            {"mean", sum / static_cast<double>(count_ * size_)}};
  }
  std::span<std::byte> output() override { return vectors_.bytes(); }

 private:
  static constexpr std::int64_t fibonacci_exact = 70;  // the last exact one in a double; the ratio equals
                                                       // the golden one long before

  float initial(std::int64_t v, std::int64_t e) const noexcept {
    return static_cast<float>(hash_unit(seed_, static_cast<std::uint64_t>(v * size_ + e)));
  }

  std::int64_t count_, size_, passes_, sweeps_;
  bool joined_;
  std::uint64_t seed_;
  paged<float> vectors_;
};

}  // namespace

const entry map_entry = {"map", "MIR", "one function on every element of many vectors", map_parameters, make<map>};

}  // namespace kith::apps
