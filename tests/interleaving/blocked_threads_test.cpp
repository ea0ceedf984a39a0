// Threads that block for what another one does: none sleeps for ever, and each sees what was written before.
#include "openmp/blocked_threads.hpp"

#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace kith {
namespace {

namespace il = kith::interleave;

struct turns {
  openmp::blocked_threads blocked;
  atomic<int> turn{0};
  il::shared<int> written;
};

/// Two threads take turns, the first one twice.
void two_threads(il::program& p) {
  auto s = std::make_shared<turns>();
  const auto take = [s](int mine) {
    s->blocked.wait_until([&] { return s->turn.load(acquire) == mine; });
    if (mine > 0) il::check(s->written.read() == mine - 1, "what the turn before has written is seen");
    s->written.write(mine);
    s->turn.store(mine + 1, release);
    s->blocked.wake();
  };
  p.thread(
      [take] {
        take(0);
        take(2);
      },
      "first");
  p.thread([take] { take(1); }, "second");
}

/// Two threads wait for one event.
void two_waiters(il::program& p) {
  auto s = std::make_shared<turns>();
  for (int i = 0; i < 2; ++i) {
    p.thread(
        [s] {
          s->blocked.wait_until([&] { return s->turn.load(acquire) == 1; });
          il::check(s->written.read() == 5, "what was written before is seen");
        },
        "waiter");
  }
  p.thread(
      [s] {
        s->written.write(5);
        s->turn.store(1, release);
        s->blocked.wake();
      },
      "waker");
}

TEST(BlockedThreadsInterleaved, AreWokenAndSeeWhatWasWritten) {
  il::expect_passes(3, two_threads);
  il::expect_passes(2, two_waiters);
}

TEST(BlockedThreadsInterleaved, EachOrderingIsNeeded) {
  const std::string total = "stores have one order, and a read-modify-write drains the buffer: TSO";
  il::expect_needed({.preemptions = 2}, {two_threads, two_waiters}, "openmp/blocked_threads.hpp",
                    {{"pairs with wake(): either", il::side::fence, total},
                     {"before = wakes_.load(acquire)", il::side::acquire, total},
                     {"wakes_.fetch_add(1, release)", il::side::release, total}});
}

}  // namespace
}  // namespace kith
