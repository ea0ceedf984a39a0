// A small program as users write it, heat on a rod: how many of its accesses are remote under `dep` and under `steal`.
#include "real_nodes.hpp"

#include <cstdio>
#include <latch>
#include <numeric>
#include <span>

namespace kith {
namespace {

/// A rod in blocks; each block, and each border that neighbours read, is on a page of its own.
class rod {
 public:
  explicit rod(std::size_t blocks) : count(blocks) {}

  /// Touches blocks `first` to `last` for the first time. `met`: by tasks that all run at the same time.
  void begin(std::size_t first, std::size_t last, std::latch* met) {
    for (std::size_t b = first; b < last; ++b) {
      const auto fill = [b, met](std::span<double> own, std::span<double> next) {
        if (met != nullptr) met->arrive_and_wait();
        std::ranges::fill(own, 0.0);
        if (b == 0) own[0] = 1000;
        next[0] = own.front();
        next[1] = own.back();
      };
      kith::spawn(fill, kith::out(block(b)), kith::out(border(b, 1)));
    }
  }
  void step(std::size_t number) {
    for (std::size_t b = 0; b < count; ++b) {
      const auto diffuse = [b, last = count - 1](std::span<double> own, std::span<double> next,
                                                 std::span<const double> left, std::span<const double> right) {
        double before = b == 0 ? own[0] : left[1];
        for (std::size_t i = 0; i < own.size(); ++i) {
          const double outer = b == last ? own[i] : right[0];
          const double after = i + 1 < own.size() ? own[i + 1] : outer;
          const double now = own[i];
          own[i] = now + 0.25 * (before - 2 * now + after);
          before = now;
        }
        next[0] = own.front();
        next[1] = own.back();
      };
      const std::size_t l = b == 0 ? b : b - 1, r = b + 1 == count ? b : b + 1;
      kith::spawn(diffuse, kith::inout(block(b)), kith::out(border(b, number + 1)), kith::in(border(l, number)),
                  kith::in(border(r, number)));
    }
  }
  double heat() const {
    double sum = 0;
    for (std::size_t b = 0; b < count; ++b) sum = std::accumulate(block(b).begin(), block(b).end(), sum);
    return sum;
  }

  const std::size_t count;

 private:
  std::span<double> block(std::size_t b) const {
    return {reinterpret_cast<double*>(&blocks_[b * test::page_bytes()]), test::page_bytes() / sizeof(double)};
  }
  /// The first and the last cell of block b, for its neighbours in that step.
  std::span<double> border(std::size_t b, std::size_t step) const {
    return {reinterpret_cast<double*>(&borders_[(2 * b + step % 2) * test::page_bytes()]), 2};
  }

  test::pages blocks_ = test::untouched_pages(count), borders_ = test::untouched_pages(2 * count);
};

/// The share of remote accesses after the first touch, which thieves spread over all workers (`meeting`);
/// `dep` draws nodes.
double remote_percent(const std::string& policy, bool meeting) {
  runtime rt(test::with_policy(policy));
  const auto workers = static_cast<std::size_t>(rt.workers());
  rod r(6 * workers);
  for (std::size_t b = 0; b < r.count; b += workers) {
    std::latch met(rt.workers());
    rt.run([&] { r.begin(b, b + workers, meeting ? &met : nullptr); });
  }
  rt.reset_statistics();
  for (std::size_t s = 1; s <= 4; ++s) rt.run([&] { r.step(s); });
  EXPECT_NEAR(r.heat(), 1000, 1e-6) << policy;  // its ends are insulated, so no heat is lost
  return rt.statistics().remote_access_percent;
}

using Heat = test::several_nodes;

TEST_F(Heat, HasFewerRemoteAccessesUnderDepThanUnderSteal) {
  const double dep = remote_percent("dep", false), steal = remote_percent("steal", true);
  std::printf("remote accesses: dep %.1f%%, steal %.1f%%\n", dep, steal);
  // A task and its block are on one node. Nothing is guaranteed for the borders, which are two of its four accesses.
  EXPECT_LE(dep, 50);
  EXPECT_LT(dep, steal);
}

}  // namespace
}  // namespace kith
