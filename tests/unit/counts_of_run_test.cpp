// Counts of another run, which a recording of addresses gets for its own tasks.
#include "analysis/counts_of_run.hpp"

#include "support/recordings.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

namespace {

using namespace kith;
using analysis::take_counts;

/// A root with this many tasks; each has 100 instructions, and ten more than the one before.
recording counted(int tasks) {
  test::script s;
  for (int t = 0; t < tasks; ++t) s.task(1000);
  recording r = s.finish();
  for (std::size_t t = 0; t < r.tasks.size(); ++t) {
    if (r.tasks[t].has(recorded_task::fence)) continue;
    recorded_counts c;
    c.task = static_cast<std::int32_t>(t);
    c[counter::instructions] = 100 + 10 * static_cast<std::int64_t>(t);
    r.counts.push_back(c);
  }
  r.meta["counters"] = "instructions";
  r.meta["counters_instructions"] = "blocks";
  r.meta["policy"] = "another";
  return r;
}

TEST(counts_of_run, go_to_the_same_tasks) {
  const recording from = counted(3);
  recording to = from;
  to.counts.clear();
  to.meta = {{"policy", "fifo"}};
  EXPECT_EQ(take_counts(to, from), 0u);
  ASSERT_EQ(to.counts.size(), from.counts.size());
  for (std::size_t i = 0; i < to.counts.size(); ++i) {
    EXPECT_EQ(to.counts[i].task, from.counts[i].task);
    EXPECT_EQ(to.counts[i].values, from.counts[i].values);
  }
  EXPECT_EQ(to.meta.at("counters_instructions"), "blocks");
  EXPECT_EQ(to.meta.at("policy"), "fifo");
}

TEST(counts_of_run, of_other_tasks_are_not_taken) {
  recording to = counted(3);
  to.counts.clear();
  EXPECT_EQ(take_counts(to, counted(5)), 2u);
  EXPECT_EQ(take_counts(to, counted(2)), 1u);
  EXPECT_TRUE(to.counts.empty());
}

}  // namespace
