// The work-stealing deque: each entry is taken once, by the owner or by one thief, together with what was
// written to it.
#include "queue/native/deque.hpp"
#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace kith {
namespace {

namespace il = kith::interleave;
using il::expect_passes;
constexpr int most_entries = 6;

struct entry {
  il::shared<int> content{0};
  il::shared<int> made{0};  // written once, before the entry is first pushed, and read by choosy thieves
  atomic<bool> odd{false};  // what choosy thieves look for
  int taken = 0;
};

struct state {
  explicit state(std::int64_t capacity) : deque(capacity) {}
  native::work_deque<entry> deque;
  entry entries[most_entries];
  int pushed = 0;

  void push() {
    entry& e = entries[pushed++];
    e.content.write(pushed);
    e.made.write(1);
    e.odd.store(pushed % 2 == 1, relaxed);
    deque.push(&e);
  }
  bool take(entry* e) {
    if (e == nullptr) return false;
    il::check(e->content.read() == e - entries + 1, "an entry arrives with its content");
    il::check(++e->taken == 1, "an entry is taken once");
    return true;
  }
  bool pop() { return take(deque.pop()); }
  bool steal() {
    entry* e = nullptr;
    const steal_result outcome = deque.steal(e);
    if (outcome == steal_result::got) take(e);
    return outcome == steal_result::got;
  }
  /// A thief that looks at an entry before it takes it.
  void steal_odd() {
    entry* e = nullptr;
    if (deque.steal(e, [](entry& seen) { return seen.made.read() == 1 && seen.odd.load(relaxed); }) !=
        steal_result::got)
      return;
    il::check((e - entries) % 2 == 0, "a choosy thief has what it looked for");
    take(e);
  }
  void expect_all_taken() {
    while (pop()) {
    }
    for (int i = 0; i < pushed; ++i) il::check(entries[i].taken == 1, "no entry is lost");
  }
};

/// An owner that does `work` ('+' push, '-' pop), and thieves with the given numbers of attempts.
std::function<void(il::program&)> race(std::int64_t capacity, const char* work, std::vector<int> thieves,
                                       bool choosy = false) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>(capacity);
    p.thread(
        [=] {
          for (const char* w = work; *w != 0; ++w) *w == '+' ? s->push() : void(s->pop());
        },
        "owner");
    for (const int attempts : thieves) {
      p.thread(
          [=] {
            for (int i = 0; i < attempts; ++i) choosy ? s->steal_odd() : void(s->steal());
          },
          "thief");
    }
    p.after([=] { s->expect_all_taken(); });
  };
}

TEST(DequeInterleaved, OneThief) { expect_passes(4, race(4, "++--", {2})); }
TEST(DequeInterleaved, OneThiefWhileEntriesComeAndGo) { expect_passes(3, race(4, "+-++-+--", {3})); }
TEST(DequeInterleaved, TwoThievesAndTheLastEntry) { expect_passes(3, race(4, "+-+-", {1, 1})); }
TEST(DequeInterleaved, TwoThieves) { expect_passes(2, race(4, "+++---", {2, 2})); }
TEST(DequeInterleaved, GrowsUnderThieves) { expect_passes(3, race(1, "++++--", {2})); }
TEST(DequeInterleaved, PlacesAreUsedAgain) { expect_passes(3, race(2, "++-+-+--", {2})); }

TEST(DequeInterleaved, ChoosyThieves) { expect_passes(3, race(4, "+++--", {2}, true)); }
TEST(DequeInterleaved, ChoosyThievesWhileItGrows) { expect_passes(3, race(1, "+-+-+++--", {2}, true)); }
TEST(DequeInterleaved, ChoosyThievesAndPlacesUsedAgain) { expect_passes(3, race(2, "++-+-+--", {2}, true)); }

TEST(DequeInterleaved, EachOrderingIsNeeded) {
  const char* const load_store = "keeps a load before a later store of the same thread: TSO always does";
  const char* const store_store = "keeps the entry's store before bottom's: TSO always does";
  const char* const total = "top is one variable: its compare-exchanges are in one order whatever their strength";
  il::expect_needed(
      {.preemptions = 3},
      {race(4, "++--", {2}), race(4, "+-+-", {1, 1}), race(1, "+++-", {2}), race(2, "+-+-++-", {2}, true)},
      "queue/native/deque.hpp",
      {{"pairs with the load of bottom in steal()", il::side::release, store_store},
       {"bottom_.store(b, release)", il::side::release, store_store},
       {"b = bottom_.load(acquire)", il::side::acquire, "keeps a load before a load: TSO always does"},
       {"top_seen_ = top_.load(acquire)", il::side::acquire, load_store},
       {"t = top_.load(acquire)", il::side::acquire, "the full fence on the next line orders as much"},
       {"bottom_.store(b + 1, release);$", il::side::release, "the deque is empty then: no thief takes by this value"},
       {"// D3: pairs with the fence in pop()", il::side::fence, "keeps a load before a load: TSO always does"},
       {"top_.compare_exchange_strong", il::side::acquire, total},
       {"top_.compare_exchange_strong", il::side::release, load_store}});
}

}  // namespace
}  // namespace kith
