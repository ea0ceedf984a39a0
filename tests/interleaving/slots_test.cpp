// Slots that change hands: a slot released by another seat returns to its owner, and is in only one place at a time.
#include "task/slots.hpp"
#include "interleave/explore.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace kith {
namespace {

namespace il = kith::interleave;

struct state {
  static constexpr int seats = 3;
  slot_space space{4096};
  slot_cache caches[seats] = {{space, 0}, {space, 1}, {space, 2}};
  std::vector<bool> in_use = std::vector<bool>(4096);
  std::vector<slot_index> taken;

  slot_cache& cache_of(int seat) { return caches[seat]; }
  slot_index take(int seat) {
    const slot_index i = space.index_of(caches[seat].take());
    il::check(i != 0 && !in_use[i], "a slot is in one place");
    il::check(space[i].owner == seat, "a slot goes back to its owner");
    in_use[i] = true;
    return i;
  }
  void give(int seat, slot_index i) {
    in_use[i] = false;
    caches[seat].give(space[i], [this](std::uint16_t owner) -> slot_cache& { return cache_of(owner); });
  }
  void flush(int seat) {
    caches[seat].flush([this](std::uint16_t owner) -> slot_cache& { return cache_of(owner); });
  }
};

TEST(SlotsInterleaved, TwoSeatsGiveBackWhileTheOwnerTakes) {
  const auto r = il::explore({.preemptions = 3}, [](il::program& p) {
    auto s = std::make_shared<state>();
    std::vector<slot_index> all;
    for (int i = 0; i < 64; ++i) all.push_back(s->take(0));  // the owner's stack is empty now
    for (int seat = 1; seat < state::seats; ++seat) {
      p.thread([=] {
        const auto first = static_cast<std::size_t>(seat) * 20;
        for (std::size_t i = first; i < first + 16; ++i) s->give(seat, all[i]);  // more than a batch
        s->flush(seat);
      });
    }
    p.thread([=] {
      for (int i = 0; i < 40; ++i) s->take(0);
    });
  });
  EXPECT_TRUE(r.ok) << r.report;
}

}  // namespace
}  // namespace kith
