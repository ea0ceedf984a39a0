// Where a task's closure and accesses lie: in its slot, or in a block of the heap.
#include "task/closure_room.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace {

using namespace kith;
using detail::access_record;
using detail::task_room;

std::vector<access_record> accesses(std::size_t reads, std::size_t turns) {
  std::vector<access_record> all(reads, {nullptr, 8, nullptr, mode::in});
  all.resize(reads + turns, {nullptr, 8, nullptr, mode::commutative});
  return all;
}
/// Whether the task takes a block of the heap.
bool takes_block(task_room room, bool keeps_accesses) {
  const auto t = std::make_unique<task>();
  void* const closure = make_room(*t, room, keeps_accesses);
  const bool taken = (t->flags & task::extended) != 0;
  EXPECT_EQ(closure, t->closure());
  EXPECT_EQ(taken, closure != t->payload);
  free_room(*t);
  return taken;
}

TEST(ClosureRoom, IsTheSlotIfClosureAndAccessesFit) {
  EXPECT_FALSE(takes_block({16, 8, accesses(4, 0)}, true));
  EXPECT_FALSE(takes_block({16, 8, accesses(0, 4)}, false));
  EXPECT_TRUE(takes_block({17, 1, accesses(4, 0)}, true));
}

TEST(ClosureRoom, NeedsNoneForAccessesThatAreNotKept) {
  EXPECT_TRUE(takes_block({64, 8, accesses(9, 0)}, true));
  EXPECT_FALSE(takes_block({64, 8, accesses(9, 0)}, false));
}

TEST(ClosureRoom, HoldsAllAccessesIfOneTakesTurns) { EXPECT_TRUE(takes_block({64, 8, accesses(9, 1)}, false)); }

TEST(ClosureRoom, HoldsAccessesThatAreNotKnownYet) { EXPECT_TRUE(takes_block({16, 8, 9}, false)); }

TEST(ClosureRoom, IsABlockForALargeOrAlignedClosure) {
  EXPECT_TRUE(takes_block({65, 8, accesses(0, 0)}, false));
  EXPECT_TRUE(takes_block({32, 32, accesses(0, 0)}, false));
  EXPECT_TRUE(takes_block({32, 32, accesses(9, 0)}, false));
}

/// Tasks read nine regions, and every other one takes a turn at a tenth. Turns need the accesses, which are not kept
/// otherwise by the default policy on one node.
TEST(ClosureRoom, LeavesTurnsToTasksWithManyAccesses) {
  struct alignas(64) place {
    std::uint64_t value = 0;
  };
  std::array<place, 9> read;
  place sum;
  runtime rt({.workers = 2, .oversubscribe = true});
  rt.run([&] {
    for (place& p : read) spawn([&p] { p.value = 1; }, out(p));
    for (int i = 0; i < 500; ++i) {
      access_list all;
      for (const place& p : read) all.add(in(p));
      if (i % 2 == 0) all.add(commutative(sum));
      spawn(
          [&, i] {
            if (i % 2 == 0) sum.value += read[static_cast<std::size_t>(i) % 9].value;
          },
          all);
    }
  });
  EXPECT_EQ(sum.value, 250u);
}

}  // namespace
