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

/// One of them tries for a limited time, again and again; in the checker that time is over at once.
std::function<void(il::program&)> impatient_holders() {
  return [=](il::program& p) {
    struct state {
      spin_mutex guard;
      il::shared<int> count{0};
    };
    auto s = std::make_shared<state>();
    for (int i = 0; i < 2; ++i) {
      p.thread([=] {
        for (int k = 0; k < 2; ++k) {
          if (i == 0) {
            while (!s->guard.try_lock_for(1)) pause();
          } else {
            s->guard.lock();
          }
          s->count.write(s->count.read() + 1);
          s->guard.unlock();
        }
      });
    }
    p.after([=] { il::check(s->count.read() == 4, "every holder's change counts"); });
  };
}

TEST(SpinMutexInterleaved, ExcludesAndWakes) {
  for (const auto& program : {holders(2, 2), holders(3, 1), impatient_holders()}) {
    const auto r = il::explore({.preemptions = 3, .spurious_wakes = true}, program);
    EXPECT_TRUE(r.ok) << r.report;
  }
}

TEST(SpinMutexInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 3}, {holders(2, 2), holders(3, 1), impatient_holders()}, "base/spin_mutex.hpp");
}

}  // namespace
}  // namespace kith
