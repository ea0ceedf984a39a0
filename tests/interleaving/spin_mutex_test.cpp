// The short mutex: one holder at a time, which sees what earlier holders did; no thread sleeps for ever.
#include "base/spin_mutex.hpp"

#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>

namespace kith {
namespace {

namespace il = kith::interleave;

std::function<void(il::program&)> holders(int threads, int rounds) {
  return [=](il::program& p) {
    struct state {
      spin_mutex guard;
      il::shared<int> count{0};
    };
    auto s = std::make_shared<state>();
    for (int i = 0; i < threads; ++i) {
      p.thread([=] {
        for (int k = 0; k < rounds; ++k) {
          std::lock_guard lock(s->guard);
          s->count.write(s->count.read() + 1);
        }
      });
    }
    p.after([=] { il::check(s->count.read() == threads * rounds, "every holder's change counts"); });
  };
}

TEST(SpinMutexInterleaved, ExcludesAndWakes) {
  for (const auto& program : {holders(2, 2), holders(3, 1)}) {
    const auto r = il::explore({.preemptions = 3, .spurious_wakes = true}, program);
    EXPECT_TRUE(r.ok) << r.report;
  }
}

TEST(SpinMutexInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 3}, {holders(2, 2), holders(3, 1)}, "base/spin_mutex.hpp");
}

}  // namespace
}  // namespace kith
