// Further stacks of a thread: many in a row, and in turn.
#include "engine/native/stacks.hpp"

#include <gtest/gtest.h>

namespace kith::native {
namespace {

constexpr std::size_t bytes = std::size_t{256} << 10;

struct in_turn {
  stack_switcher& stacks;
  suspended_stack first, second;
  int left = 0;
  int seen = 0;
};

suspended_stack& ends_at_once(void* argument) {
  in_turn& t = *static_cast<in_turn*>(argument);
  ++t.seen;
  return t.first;
}

suspended_stack& goes_back_each_time(void* argument) {
  in_turn& t = *static_cast<in_turn*>(argument);
  while (t.left != 0) {
    ++t.seen;
    t.stacks.leave_for(t.second, t.first);
  }
  return t.first;
}

// The thread sanitizer's call stack has 65,536 entries: a switch that leaves one behind overwrites other memory.
constexpr int more_than_a_shadow_stack_holds = 70000;

TEST(stacks, many_that_end_one_after_another) {
  stack_switcher stacks(bytes);
  in_turn t{stacks, {}, {}};
  for (int i = 0; i != more_than_a_shadow_stack_holds; ++i) {
    ASSERT_TRUE(stacks.leave_for_fresh(t.first, ends_at_once, &t));
  }
  EXPECT_EQ(t.seen, more_than_a_shadow_stack_holds);
}

TEST(stacks, two_that_take_turns) {
  stack_switcher stacks(bytes);
  in_turn t{stacks, {}, {}, more_than_a_shadow_stack_holds};
  ASSERT_TRUE(stacks.leave_for_fresh(t.first, goes_back_each_time, &t));
  while (--t.left != 0) stacks.leave_for(t.first, t.second);
  stacks.leave_for(t.first, t.second);  // the last turn ends the other stack
  EXPECT_EQ(t.seen, more_than_a_shadow_stack_holds);
}

}  // namespace
}  // namespace kith::native
