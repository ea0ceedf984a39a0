// The sibling rules: which tasks come before which, by their accesses. Here with the state that recordings
// use; conformance/ranges_test.cpp tests them natively.
#include "support/nested_ranges.hpp"
#include "support/scale.hpp"

#include "recording/siblings.hpp"

#include <gmock/gmock.h>

#include <array>
#include <set>

namespace {

using namespace kith;
using test::named_range;
using test::range_task;

/// Tasks and fences with their predecessors.
struct graph {
  std::vector<std::set<std::int32_t>> before;
  std::vector<std::int32_t> tasks;  // the numbers of tasks; fences have numbers as well
  std::size_t edges = 0;

  std::vector<bool> all_before(std::int32_t t) const {
    std::vector<bool> found(before.size());
    std::vector<std::int32_t> open{t};
    while (!open.empty()) {
      const auto next = static_cast<std::size_t>(open.back());
      open.pop_back();
      for (std::int32_t b : before[next]) {
        if (!found[static_cast<std::size_t>(b)]) open.push_back(b);
        found[static_cast<std::size_t>(b)] = true;
      }
    }
    return found;
  }
};

graph graph_of(const std::vector<range_task>& tasks) {
  siblings rules;
  graph g;
  for (const range_task& t : tasks) {
    const auto me = static_cast<std::int32_t>(g.before.size());
    g.tasks.push_back(me);
    g.before.emplace_back();
    for (const test::range_access& a : t) {
      const auto answer = rules.access(
          me, 64 + a.of.begin, a.of.end - a.of.begin, a.how, false,
          [&](std::int32_t b, std::uint64_t) {
            g.before[static_cast<std::size_t>(me)].insert(b);
            ++g.edges;
          },
          [&](const std::vector<std::int32_t>& members) {
            g.before.emplace_back(members.begin(), members.end());
            g.edges += members.size();
            return static_cast<std::int32_t>(g.before.size() - 1);
          });
      EXPECT_NE(answer, siblings::answer::refused);
    }
  }
  return g;
}

std::string text_of(const std::vector<range_task>& tasks, std::size_t until) {
  std::string text;
  for (std::size_t t = 0; t <= until; ++t) {
    text += "\n" + std::to_string(t) + ":";
    for (const test::range_access& a : tasks[t])
      text +=
          " " +
          std::string(std::array{"in", "out", "inout", "concurrent", "commutative"}[static_cast<std::size_t>(a.how)]) +
          "[" + std::to_string(a.of.begin) + "," + std::to_string(a.of.end) + ")";
  }
  return text;
}

/// Expects exactly the orders that the bytes require.
void compare(const std::vector<range_task>& tasks, std::size_t bytes) {
  const graph g = graph_of(tasks);
  const auto expected = test::orders_of(tasks, bytes);
  for (std::size_t t = 0; t < tasks.size(); ++t) {
    const std::vector<bool> found = g.all_before(g.tasks[t]);
    ASSERT_FALSE(found[static_cast<std::size_t>(g.tasks[t])]) << "waits for itself" << text_of(tasks, t);
    for (std::size_t b = 0; b < tasks.size(); ++b) {
      if (b == t) continue;
      ASSERT_EQ(found[static_cast<std::size_t>(g.tasks[b])], expected[t][b])
          << b << " before " << t << text_of(tasks, t);
    }
  }
}

TEST(SiblingRules, OrderNestedRangesAsTheirBytes) {
  for (int seed = 0; seed < test::scaled(2000); ++seed) {
    const auto s = static_cast<std::uint64_t>(seed);
    const std::size_t bytes = 2 + s % 11;
    compare(test::random_range_tasks(s, 5 + s % 30, bytes, 1 + seed % 4), bytes);
    if (testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
