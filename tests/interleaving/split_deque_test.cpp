// The split deque of joins: each entry is run once, by the owner or by one thief, together with what was written to it;
// a thief that sleeps is woken for what the owner makes public.
#include "base/sleepers.hpp"

#include "interleave/expect.hpp"
#include "interleave/explore.hpp"
#include "interleave/shared.hpp"

#include <kith/detail/split_deque.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace kith {
namespace {

namespace il = kith::interleave;
using il::expect_passes;
constexpr int most_entries = 6;

struct entry {
  il::shared<int> content{0};
  il::shared<int> result{0};
  atomic<bool> ended{false};
  int taken = 0;
};

struct state {
  explicit state(std::uint32_t least) : deque(places, most_entries, least) {}
  atomic<entry*> places[most_entries];
  detail::split_deque<entry, atomic> deque;
  entry entries[most_entries];
  int pushed = 0;
  worker_set everybody = worker_set::all(1);
  sleepers parked{1};

  struct pushed_entry {
    entry* it;
    decltype(deque)::slot_pointer at;
  };
  pushed_entry push() {
    entry& e = entries[pushed++];
    e.content.write(pushed);
    const pushed_entry p{&e, deque.top()};
    if (!deque.push(p.at, e)) {
      il::check(deque.push_public(e, 0, [](entry&, auto) {}), "there is room");
      parked.wake_one(everybody);
    }
    return p;
  }
  void take(entry& e) {
    il::check(e.content.read() == &e - entries + 1, "an entry arrives with its content");
    il::check(++e.taken == 1, "an entry is taken once");
  }
  void wait_for(entry& e) {
    while (!e.ended.load(acquire)) pause();
    il::check(e.result.read() == 1, "a thief's result arrives");
  }
  bool take_newest(pushed_entry p) {
    const bool mine = deque.pop(p.at) || deque.take_back(p.at, [](entry&) {});
    if (mine) take(*p.it);
    return mine;
  }
  void pop(pushed_entry p) {
    if (take_newest(p)) return;
    wait_for(*p.it);
    deque.settle(p.at);
  }
  bool steal() {
    entry* const e = deque.steal().entry;
    if (e == nullptr) return false;
    take(*e);
    e->result.write(1);
    e->ended.store(true, release);
    return true;
  }
};

/// Thieves with the given numbers of attempts, and the check that each entry was taken once.
void add_thieves(il::program& p, const std::shared_ptr<state>& s, const std::vector<int>& thieves) {
  for (const int attempts : thieves) {
    p.thread(
        [=] {
          for (int i = 0; i < attempts; ++i) s->steal();
        },
        "thief");
  }
  p.after([=] {
    il::check(s->deque.empty(), "the deque is empty");
    for (int i = 0; i < s->pushed; ++i) il::check(s->entries[i].taken == 1, "no entry is lost");
  });
}

/// An owner that does `work` ('(' push, ')' pop), and thieves with the given numbers of attempts.
std::function<void(il::program&)> race(std::uint32_t least, const char* work, std::vector<int> thieves) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>(least);
    p.thread(
        [=] {
          std::vector<state::pushed_entry> open;
          for (const char* w = work; *w != 0; ++w) {
            if (*w == '(') {
              open.push_back(s->push());
            } else {
              s->pop(open.back());
              open.pop_back();
            }
          }
        },
        "owner");
    add_thieves(p, s, thieves);
  };
}

TEST(SplitDequeInterleaved, OneThief) { expect_passes(4, race(1, "(())", {2})); }
TEST(SplitDequeInterleaved, OneThiefAndPlacesUsedAgain) { expect_passes(3, race(1, "(()())", {3})); }
TEST(SplitDequeInterleaved, OneThiefWhileEntriesComeAndGo) { expect_passes(3, race(1, "()()()", {3})); }
TEST(SplitDequeInterleaved, HalfOfManyEntries) { expect_passes(2, race(1, "((((()))))", {2})); }
TEST(SplitDequeInterleaved, SeveralArePublic) { expect_passes(2, race(3, "((()))", {3})); }
TEST(SplitDequeInterleaved, TwoThieves) { expect_passes(2, race(2, "((()))", {1, 1})); }
TEST(SplitDequeInterleaved, TwoThievesAndOneEntry) { expect_passes(3, race(1, "()()", {1, 1})); }

/// As race(), but an owner that finds an entry stolen does not wait: all older entries are stolen too, and it reuses
/// their places at once (coroutines).
std::function<void(il::program&)> race_without_waits(const char* work, std::vector<int> thieves) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>(1u);
    p.thread(
        [=] {
          const auto bottom = s->deque.top();
          std::vector<state::pushed_entry> open;
          for (const char* w = work; *w != 0; ++w) {
            if (*w == '(') {
              open.push_back(s->push());
            } else if (!open.empty()) {
              const state::pushed_entry newest = open.back();
              open.pop_back();
              if (s->take_newest(newest)) continue;
              s->deque.settle(bottom);
              open.clear();
            }
          }
        },
        "owner");
    add_thieves(p, s, thieves);
  };
}

TEST(SplitDequeInterleaved, OwnerWaitsForNothing) { expect_passes(3, race_without_waits("()()", {2})); }
TEST(SplitDequeInterleaved, OwnerWaitsForNothingWhileTwoSteal) {
  expect_passes(2, race_without_waits("(())()", {1, 2}));
}
/// The place and the word are as before, except the count of how often the owner has lowered split.
TEST(SplitDequeInterleaved, SeesThatAPlaceWasUsedAgain) { expect_passes(2, race_without_waits("()()", {1, 1})); }

/// A thief that sleeps whenever it finds nothing, until `steals` entries are its own. The owner pops '-' entries at
/// once; a '|' entry it leaves to the thief. So the deque must offer that one, and the thief must be woken for it.
std::function<void(il::program&)> sleeping_thief(const char* work) {
  return [=](il::program& p) {
    auto s = std::make_shared<state>(1);
    auto over = std::make_shared<atomic<bool>>(false);
    p.thread(
        [=] {
          for (const char* w = work; *w != 0; ++w) {
            const state::pushed_entry pushed = s->push();
            if (*w == '|') s->wait_for(*pushed.it);
            s->pop(pushed);
          }
          over->store(true, release);
          s->parked.wake_all();
        },
        "owner");
    p.thread(
        [=] {
          const worker_id self(0);
          while (!over->load(acquire)) {
            if (s->steal()) continue;
            s->parked.announce(self);
            if (s->steal() || over->load(acquire)) {
              s->parked.retract(self);
              continue;
            }
            s->parked.sleep(self);
          }
        },
        "thief");
  };
}

TEST(SplitDequeInterleaved, WakesAThiefThatSleeps) { expect_passes(3, sleeping_thief("|")); }
TEST(SplitDequeInterleaved, WakesAThiefAfterTheOwnerTookAnEntryBack) { expect_passes(2, sleeping_thief("-|")); }
TEST(SplitDequeInterleaved, WakesAThiefAfterItHasTakenAnEntry) { expect_passes(2, sleeping_thief("||")); }

TEST(SplitDequeInterleaved, EachOrderingIsNeeded) {
  il::expect_needed({.preemptions = 2}, {race(1, "(())", {1}), race(1, "(()())", {2})}, "kith/detail/split_deque.hpp",
                    {});
}

}  // namespace
}  // namespace kith
