// Places that are lost while the others go on, in one process: the test chooses the order of events, and the sanitizers
// see them. tests/places/survivors.cpp ends real processes.
#include "support/lossy_transport.hpp"
#include "support/places.hpp"
#include "support/scale.hpp"

#include <kith/activity.hpp>
#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

using kith::test::await_loss;
using kith::test::loses;
using kith::test::lossy_transport;

lossy_transport* net = nullptr;  // of the test that runs
std::atomic<int> started{0}, ran{0}, ran_at_lost{0};
std::atomic<bool> may_end{false};

void await(std::atomic<int>& number, int least) {
  for (int n = number; n < least; n = number) number.wait(n);
}
void count(std::atomic<int>& number) {
  number += 1;
  number.notify_all();
}
void let_end() {
  may_end = true;
  may_end.notify_all();
}

/// An activity that ends when the test lets it.
int stay() {
  count(started);
  may_end.wait(false);
  count(ran);
  return kith::here();
}
void stay_and_ask() {
  stay();
  EXPECT_EQ(kith::at(0).async([] { return 7; }).get(), 7);
  count(ran);
}
int square(int i) {
  count(kith::at(kith::here()).is_lost() ? ran_at_lost : ran);
  return i * i;
}

class Survivors : public testing::TestWithParam<kith::place_admission> {
 protected:
  /// Places of which survivors go on.
  void start(int places, kith::place_loss on_loss = kith::place_loss::survivors_go_on) {
    rt.reset();
    started = ran = ran_at_lost = 0;
    may_end = false;
    net = &kith::test::make_lossy_transport(places);
    kith::place_options o = kith::test::make_place_options(places, 2);
    o.on_loss = on_loss;
    o.admission = GetParam();
    rt.emplace(o);
  }
  void TearDown() override {
    let_end();
    rt.reset();
  }

  std::optional<kith::place_runtime> rt;
};
INSTANTIATE_TEST_SUITE_P(, Survivors, testing::Values(kith::place_admission::refusals, kith::place_admission::credits),
                         [](const auto& p) {
                           return p.param == kith::place_admission::credits ? "credits" : "refusals";
                         });

TEST_P(Survivors, FinishAndFuturesOfALostPlaceThrow) {
  start(3);
  rt->run([] {
    kith::place_future<int> of_lost, of_other;
    EXPECT_TRUE(loses(1, [&] {
      kith::finish([&] {
        of_lost = kith::at(1).async<stay>();
        kith::at(1).spawn<stay>();
        of_other = kith::at(2).async<square>(5);
        await(started, 2);
        net->lose(1);
      });
    }));
    EXPECT_TRUE(loses(1, [&] { of_lost.get(); }));
    EXPECT_EQ(of_other.get(), 25);
    EXPECT_TRUE(kith::at(1).is_lost());
    EXPECT_TRUE(loses(1, [] { kith::at(1).spawn<stay>(); }));
    EXPECT_EQ(kith::at(2).async<square>(6).get(), 36);
  });
}

TEST_P(Survivors, AllFailUnlessTheySurvive) {
  start(3, kith::place_loss::all_fail);
  EXPECT_TRUE(loses(1, [&] {
    rt->run([] {
      kith::at(1).spawn<stay>();
      kith::at(2).spawn<stay>();
      await(started, 2);
      net->lose(1);
      await_loss(1);
      EXPECT_TRUE(loses(1, [] { kith::at(2).async<square>(5).get(); }));
      let_end();
    });
  }));
}

TEST_P(Survivors, EndWithPlaceZero) {
  start(3);
  EXPECT_TRUE(loses(0, [&] {
    rt->run([] {
      kith::at(1).spawn([] {
        EXPECT_TRUE(loses(0, [] { kith::finish([] { kith::at(2).spawn<stay>(); }); }));
        count(ran);
      });
      await(started, 1);
      net->lose(0);
    });
  }));
  await(ran, 1);
}

// The places that it ran at are lost one after the other, until only place 0 is left.
TEST_P(Survivors, IdempotentActivitiesRunUntilOneSurvives) {
  start(4);
  rt->run([] {
    const auto lost_with_its_place = [] {
      if (kith::here() != 0) net->lose(kith::here());
      return kith::here();
    };
    EXPECT_EQ(kith::at(2).idempotent().async(lost_with_its_place).get(), 0);
    EXPECT_EQ(kith::at(3).idempotent().async<square>(3).get(), 9);
  });
}

/// A spawn at place 1, which is lost after it has accepted the activity, before the others know that. `late`: they
/// learn of it after the loss.
void lose_acceptance(bool late, const auto& spawn) {
  net->hold(1, 0);
  std::thread other([late] {
    net->await_held(1, 0, 1);
    net->cut(1);
    net->report(1);
    await_loss(1);
    if (late) net->release(1, 0);
  });
  spawn();
  other.join();
}

TEST_P(Survivors, SpawnsWhoseAcceptanceIsLost) {
  for (const bool late : {false, true}) {
    start(3);
    rt->run([late] {
      const std::vector<int> large(50'000, 1);
      EXPECT_TRUE(loses(1, [&] {
        kith::finish([&] {
          lose_acceptance(late, [&] {
            kith::at(1).spawn([](const std::vector<int>& v) { count(v.size() == 50'000 ? ran : started); }, large);
          });
        });
      }));
    });
    start(3);
    rt->run([late] {
      kith::place_future<int> result;
      lose_acceptance(late, [&] { result = kith::at(1).idempotent().async<square>(4); });
      EXPECT_EQ(result.get(), 16);
    });
  }
}

// The activity has ended at place 1, which is lost before the others know that.
TEST_P(Survivors, EndsThatAreNotHeardOf) {
  for (const bool late : {false, true}) {
    for (const bool idempotent : {false, true}) {
      start(3);
      rt->run([late, idempotent] {
        kith::place_future<int> result;
        const auto body = [&] {
          const kith::place_ref there = kith::at(1);
          result = (idempotent ? there.idempotent() : there).async<stay>();
          await(started, 1);
          net->hold(1, 0);
          let_end();
          net->await_held(1, 0, 1);
          await(ran, 1);
          net->lose(1);
          if (idempotent) {
            EXPECT_EQ(result.get() % 2, 0);  // it ran at place 0 or 2
          } else {
            EXPECT_TRUE(loses(1, [&] { result.get(); }));
          }
          if (late) net->release(1, 0);
        };
        EXPECT_EQ(loses(1, [&] { kith::finish(body); }), !idempotent);
        EXPECT_EQ(ran, idempotent ? 2 : 1);
        EXPECT_EQ(kith::at(2).async<square>(2).get(), 4);
      });
    }
  }
}

// Place 0 knows of the loss; place 2 still sends something to the lost place, and waits until it knows, too.
TEST_P(Survivors, LearnOfALossAtDifferentMoments) {
  start(3);
  rt->run([] {
    net->cut(1);
    net->report(1, 0);
    net->hold(2, 1);
    const auto asked = kith::at(2).async([] { return kith::at(1).idempotent().async<square>(6).get(); });
    net->await_held(2, 1, 1);
    await_loss(1);
    EXPECT_TRUE(loses(1, [] { kith::at(1).spawn<stay>(); }));
    net->report(1, 2);
    EXPECT_EQ(asked.get(), 36);
    net->drop(2, 1);
  });
}

// Tasks that a lost place has spawned run on. No finish waits for them; the end of the place_runtime does.
TEST_P(Survivors, WaitForWhatALostPlaceHasSpawned) {
  start(3);
  EXPECT_TRUE(loses(1, [&] {
    rt->run([] {
      kith::at(1).spawn([] {
        kith::at(2).spawn<stay_and_ask>();
        count(started);
      });
      await(started, 2);
      net->lose(1);
    });
  }));
  EXPECT_EQ(ran, 0);
  let_end();
  rt.reset();
  EXPECT_EQ(ran, 2);
}

// ---- random losses

constexpr int numbers = 24;
std::array<std::atomic<int>, numbers> squares;

void put_square(int i, int value) { squares[static_cast<std::size_t>(i)] = value; }
int after(int i) { return (i + kith::here() + 1) % kith::places(); }
/// Asks another place for the square, and writes it at place 0.
void send_square(int i) { kith::at(0).spawn<put_square>(i, kith::at(after(i)).idempotent().async<square>(i).get()); }
kith::activity<int> square_later(int i) { co_return co_await kith::at(after(i)).idempotent().async<square>(i); }

void check_squares() {
  for (auto& s : squares) s = -1;
  std::vector<kith::place_future<int>> plain, later;
  kith::finish([&] {
    for (int i = 0; i < numbers; ++i) {
      const kith::place_ref to = kith::at(i % kith::places()).idempotent();
      to.spawn<send_square>(i);
      plain.push_back(to.async<square>(i));
      later.push_back(to.async<square_later>(i));
    }
  });
  for (int i = 0; i < numbers; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(plain[at].get(), i * i);
    EXPECT_EQ(later[at].get(), i * i);
    EXPECT_EQ(squares[at], i * i);
  }
}

TEST_P(Survivors, ComputeTheSameWhateverIsLost) {
  for (int seed = 0; seed < kith::test::scaled(20); ++seed) {
    std::mt19937 choice(static_cast<unsigned>(seed));
    const auto below = [&](int n) { return static_cast<int>(choice() % static_cast<unsigned>(n)); };
    const int places = 2 + below(3);
    start(places);
    std::thread other([&] {
      await(ran, below(2 * numbers));
      const int losses = 1 + below(places - 1);
      for (int victim = 1; victim <= losses; ++victim) {
        net->cut(victim);
        for (int p = 0; p < places; ++p) {
          if (p != 0 && p <= victim) continue;  // these are lost
          for (int yields = below(200); yields > 0; --yields) std::this_thread::yield();
          net->report(victim, p);
        }
      }
    });
    rt->run([] {
      check_squares();
      check_squares();
    });
    other.join();
  }
}

}  // namespace
