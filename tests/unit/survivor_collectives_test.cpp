// Collectives where places are lost: they end in the same way at all survivors, whatever the moment of the loss.
#include "support/lossy_transport.hpp"
#include "support/places.hpp"
#include "support/scale.hpp"

#include <kith/collectives.hpp>
#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace {

using kith::test::loses;
using kith::test::lossy_transport;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

lossy_transport* wire = nullptr;  // of the test that runs
constexpr int most_places = 4, most_calls = 40;

/// The calls that a test lets the places make, and their results.
struct steps {
  std::atomic<int> allowed{0}, ended{0};  // calls
  std::array<int, most_calls> outcome{};  // the result, or -1 - the place that was lost
};
std::array<steps, most_places> of_place;
std::atomic<int> begun{0};  // activities that call

steps& steps_of(int place) { return of_place[static_cast<std::size_t>(place)]; }
void set_to(std::atomic<int>& number, int to) {
  number = to;
  number.notify_all();
}
void await_at_least(std::atomic<int>& number, int least) {
  for (int n = number; n < least; n = number) number.wait(n);
}
/// Lets these places make that many calls.
void allow(std::initializer_list<int> places, int calls) {
  for (const int p : places) set_to(steps_of(p).allowed, calls);
}
void await_ends(std::initializer_list<int> places, int calls) {
  for (const int p : places) await_at_least(steps_of(p).ended, calls);
}
std::vector<int> outcomes(int place) {
  const steps& s = steps_of(place);
  return {s.outcome.begin(), s.outcome.begin() + s.ended};
}

/// Makes that many calls, each when it is allowed.
template <class F>
void call_in_steps(int calls, F call) {
  steps& mine = steps_of(kith::here());
  begun += 1;
  begun.notify_all();
  for (int i = 0; i < calls; ++i) {
    await_at_least(mine.allowed, i + 1);
    int& outcome = mine.outcome[static_cast<std::size_t>(i)];
    try {
      outcome = call();
    } catch (const kith::place_lost& e) {
      outcome = -1 - e.place();
    }
    set_to(mine.ended, i + 1);
  }
}
constexpr int lost(int place) { return -1 - place; }
constexpr int value_of(int place) { return 1 << place; }

void add_in_steps(int calls) {
  call_in_steps(calls, [] { return kith::all_reduce(value_of(kith::here()), kith::reduction::sum); });
}
void broadcast_in_steps(int calls) {
  call_in_steps(calls, [] { return kith::broadcast(value_of(kith::here()), 2); });
}

class SurvivorCollectives : public testing::Test {
 protected:
  void start(int places) {
    rt.reset();
    for (steps& s : of_place) s.allowed = s.ended = 0;
    wire = &kith::test::make_lossy_transport(places);
    kith::place_options o = kith::test::make_place_options(places, 2);
    o.on_loss = kith::place_loss::survivors_go_on;
    rt.emplace(o);
  }
  /// Runs an activity at each place, which calls collectives, while `control` decides the order of events. No other
  /// message is under way meanwhile.
  template <auto F = add_in_steps>
  void run(int places, int calls, const std::function<void()>& control) {
    start(places);
    begun = 0;
    std::thread other([&] {
      await_at_least(begun, places + 1);
      control();
    });
    try {
      rt->run([calls] {
        // At place 0 last: this worker would run it while it waits for the others to be accepted.
        for (int p = kith::places() - 1; p >= 0; --p) kith::at(p).spawn<F>(calls);
        begun += 1;  // all were accepted
        begun.notify_all();
      });
    } catch (const kith::place_lost&) {  // its activity was not idempotent
    }
    other.join();
  }
  void TearDown() override { rt.reset(); }

  std::optional<kith::place_runtime> rt;
};

/// When it returns, place 0 knows of the loss.
void lose_and_await(int place) {
  wire->lose(place);
  kith::test::await_loss(place);
}

TEST_F(SurvivorCollectives, AreOfAllPlacesBeforeALoss) {
  run(3, 2, [] { allow({0, 1, 2}, 2); });
  for (const int p : {0, 1, 2}) EXPECT_THAT(outcomes(p), ElementsAre(7, 7)) << p;
}

TEST_F(SurvivorCollectives, OneFailsAtAllAndThenTheyAreOfTheSurvivors) {
  run(4, 3, [] {
    lose_and_await(2);
    allow({1}, 3);  // place 1 gets its failure before the others call
    await_ends({1}, 1);
    allow({0, 2, 3}, 3);
  });
  for (const int p : {0, 1, 3}) EXPECT_THAT(outcomes(p), ElementsAre(lost(2), 11, 11)) << p;
}

// The lost place has contributed, another one has not.
TEST_F(SurvivorCollectives, FailIfAPlaceIsLostWhenSomeHaveCalled) {
  run(3, 2, [] {
    wire->hold(1, 0);
    wire->hold(2, 0);
    allow({1, 2}, 2);
    wire->await_held(1, 0, 1);
    wire->await_held(2, 0, 1);
    wire->release(2, 0);
    wire->release(1, 0);
    lose_and_await(2);
    await_ends({1}, 1);
    allow({0}, 2);
  });
  for (const int p : {0, 1}) EXPECT_THAT(outcomes(p), ElementsAre(lost(2), 3)) << p;
}

// All have contributed, so that place 0 has decided; one learns the result after the loss.
TEST_F(SurvivorCollectives, EndWellIfAPlaceIsLostAfterTheDecision) {
  run(3, 3, [] {
    wire->hold(0, 1);
    allow({1, 2}, 1);
    allow({0}, 1);
    wire->await_held(0, 1, 1);
    await_ends({0, 2}, 1);
    wire->cut(2);
    wire->report(2, 1);
    wire->release(0, 1);
    await_ends({1}, 1);
    wire->report(2, 0);
    kith::test::await_loss(2);
    allow({0, 1, 2}, 3);
  });
  for (const int p : {0, 1}) EXPECT_THAT(outcomes(p), ElementsAre(7, lost(2), 3)) << p;
}

TEST_F(SurvivorCollectives, OfWhichOneFailsForSeveralLosses) {
  run(4, 2, [] {
    lose_and_await(2);
    lose_and_await(1);
    allow({0, 1, 2, 3}, 2);
  });
  for (const int p : {0, 3}) EXPECT_THAT(outcomes(p), ElementsAre(lost(2), 9)) << p;
}

TEST_F(SurvivorCollectives, OfWhichOneFailsForEachLoss) {
  run(4, 4, [] {
    lose_and_await(2);
    allow({0}, 1);
    await_ends({0}, 1);
    lose_and_await(1);
    allow({0, 1, 2, 3}, 4);
  });
  for (const int p : {0, 3}) EXPECT_THAT(outcomes(p), ElementsAre(lost(2), lost(1), 9, 9)) << p;
}

TEST_F(SurvivorCollectives, FailIfTheirRootIsLost) {
  run<broadcast_in_steps>(4, 4, [] {
    allow({0, 1, 2, 3}, 1);
    await_ends({0, 1, 3}, 1);
    lose_and_await(2);
    allow({0, 1, 2, 3}, 4);
  });
  for (const int p : {0, 1, 3}) EXPECT_THAT(outcomes(p), ElementsAre(4, lost(2), lost(2), lost(2))) << p;
}

TEST_F(SurvivorCollectives, FailWithPlaceZero) {
  run(3, 1, [] {
    allow({0, 1}, 1);
    wire->lose(0);
    allow({2}, 1);
    await_ends({0, 1, 2}, 1);  // run() does not wait for the others
  });
  for (const int p : {0, 1, 2}) EXPECT_THAT(outcomes(p), ElementsAre(lost(0))) << p;
}

// An activity that no finish waits for calls a collective that no other place calls: it must end.
TEST_F(SurvivorCollectives, FailForWhatOutlivesTheRun) {
  start(3);
  static std::atomic<int> threw;
  threw = 0;
  const auto call_alone = [] {
    set_to(steps_of(2).ended, 1);
    await_at_least(steps_of(2).allowed, 1);
    for (int i = 0; i < 3; ++i) threw += loses(1, [] { kith::barrier(); }) ? 1 : 0;
  };
  static constexpr auto alone = call_alone;
  EXPECT_TRUE(loses(1, [&] {
    rt->run([] {
      kith::at(1).spawn([] { kith::at(2).spawn(alone); });
      await_ends({2}, 1);
      wire->lose(1);
    });
  }));
  allow({2}, 1);
  rt.reset();
  EXPECT_EQ(threw, 3);
}

// Place 1 has not called the one that failed. The next run begins anew.
TEST_F(SurvivorCollectives, AreTheSameAgainInTheNextRun) {
  start(3);
  rt->run([] {
    lose_and_await(2);
    EXPECT_TRUE(loses(2, [] { kith::barrier(); }));
  });
  allow({0, 1}, 2);
  rt->run([] {
    for (const int p : {0, 1}) kith::at(p).spawn<add_in_steps>(2);
  });
  for (const int p : {0, 1}) EXPECT_THAT(outcomes(p), ElementsAre(3, 3)) << p;
}

TEST_F(SurvivorCollectives, AreRefusedAtAllPlacesIfTheyDiffer) {
  start(3);
  rt->run([] {
    const auto reduce = [](int count) {
      std::vector<int> values(static_cast<std::size_t>(count));
      kith::all_reduce(std::span(values), kith::reduction::sum);
    };
    std::vector<kith::place_future<void>> others;
    for (const int p : {1, 2}) others.push_back(kith::at(p).async(reduce, p));
    const auto differs = ThrowsMessage<kith::error>(HasSubstr("differs from that of place"));
    EXPECT_THAT([&] { reduce(2); }, differs);
    EXPECT_THAT([&] { kith::barrier(); }, differs);
    for (const auto& o : others) EXPECT_THAT([&] { o.get(); }, differs);
  });
}

/// The sum in the order of the places, also for large values; and the broadcast values.
void check_large(int size, int first_lost) {
  const double each[most_places] = {1e16, 1, 1, -1e16};  // another order has another sum
  std::vector<double> values(static_cast<std::size_t>(size), each[kith::here()]);
  kith::all_reduce(values, kith::reduction::sum);
  double expected = each[0];
  for (int p = 1; p < kith::places(); ++p) expected += p == first_lost ? 0 : each[p];
  EXPECT_THAT(values, testing::Each(expected));
  std::ranges::fill(values, 3 * kith::here());
  kith::broadcast(values, 3);
  EXPECT_THAT(values, testing::Each(9));
}

TEST_F(SurvivorCollectives, CombineLargeValuesInTheOrderOfThePlaces) {
  start(4);
  rt->run([] {
    for (const int size : {0, 1, 300, 20'000}) {
      kith::finish([&] {
        for (int p = 0; p < 4; ++p) kith::at(p).spawn<check_large>(size, -1);
      });
    }
    lose_and_await(1);
    kith::finish([] {
      for (const int p : {0, 2, 3}) kith::at(p).spawn([] { EXPECT_TRUE(loses(1, [] { kith::barrier(); })); });
    });
    kith::finish([] {
      for (const int p : {0, 2, 3}) kith::at(p).spawn<check_large>(20'000, 1);
    });
  });
}

// Wherever places are lost, the survivors have the same results.
TEST_F(SurvivorCollectives, HaveTheSameOutcomesAtAllSurvivors) {
  for (int seed = 0; seed < kith::test::scaled(20); ++seed) {
    std::mt19937 choice(static_cast<unsigned>(seed));
    const auto below = [&](int n) { return static_cast<int>(choice() % static_cast<unsigned>(n)); };
    const int places = 2 + below(3), losses = 1 + below(places - 1);
    run(places, most_calls, [&] {
      allow({0, 1, 2, 3}, most_calls / 2);
      for (int victim = 1; victim <= losses; ++victim) {
        await_at_least(steps_of(0).ended, below(10));
        wire->cut(victim);
        for (int yields = below(100); yields > 0; --yields) std::this_thread::yield();
        wire->report(victim);
      }
      kith::test::await_loss(losses);
      allow({0, 1, 2, 3}, most_calls);
    });
    const std::vector<int> expected = outcomes(0);
    ASSERT_EQ(expected.size(), most_calls);
    for (int p = losses + 1; p < places; ++p) EXPECT_EQ(outcomes(p), expected) << seed << ", place " << p;
    const auto failed = std::ranges::count_if(expected, [](int o) { return o < 0; });
    EXPECT_GE(failed, 1) << seed;
    EXPECT_LE(failed, losses) << seed;
    int survivors = value_of(0);
    for (int p = losses + 1; p < places; ++p) survivors += value_of(p);
    for (const int o : expected) EXPECT_TRUE(o < 0 || (o & survivors) == survivors) << seed << ": " << o;
    EXPECT_EQ(expected.back(), survivors) << seed;
  }
}

}  // namespace
