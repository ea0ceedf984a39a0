// nabbit and nabbitc in the sequential world: what is grouped, how items are morphed, what a thief takes.
#include "support/policy_bench.hpp"

#include "base/rng.hpp"

#include <gmock/gmock.h>

#include <map>

namespace {

using kith::event;
using kith::poll_result;
using kith::ready_reason;
using kith::task;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

class group_bench : public kith::test::policy_bench {
 public:
  using policy_bench::policy_bench;

  /// Makes tasks of these colors.
  std::vector<kith::task*> tasks(std::initializer_list<int> colors) {
    std::vector<kith::task*> all;
    for (int c : colors) {
      all.push_back(&task());
      all.back()->color = c;
    }
    return all;
  }
  kith::task* completed(const std::vector<kith::task*>& tasks, int worker) {
    return chosen->ready(tasks, *by[static_cast<std::size_t>(worker)], ready_reason::completion);
  }
  poll_result look_once(int worker) { return chosen->next(*by[static_cast<std::size_t>(worker)]); }
  std::uint64_t sum(int worker, event e) const { return by[static_cast<std::size_t>(worker)]->sums[e]; }
  std::vector<int> colors_in_order(int worker) {
    std::vector<int> colors;
    while (kith::task* t = next(worker)) colors.push_back(t->color);
    return colors;
  }
};

TEST(nabbit, keeps_the_order_and_halves) {
  group_bench b("node:1 core:2", "nabbit");
  const std::vector<kith::task*> t = b.tasks({0, 1, 0, 1, 0, 1, 0, 1});
  EXPECT_EQ(b.completed(t, 0), t[0]);
  // A thief takes the larger half, which is the oldest entry; the owner continues with its neighbour.
  EXPECT_EQ(b.next(1), t[4]);
  EXPECT_EQ(b.next(0), t[1]);
  EXPECT_EQ(b.sum(1, event::steal), 1u);
  EXPECT_EQ(b.sum(1, event::colored_attempt), 0u);
}

TEST(nabbitc, goes_on_with_its_own_color_and_keeps_colors_together) {
  group_bench b("node:1 core:2", "nabbitc");
  std::vector<kith::task*> t = b.tasks({0, 1, 0, 1, 0, 1});
  EXPECT_EQ(b.completed(t, 1)->color, 1);
  EXPECT_THAT(b.colors_in_order(1), ElementsAre(1, 1, 0, 0, 0));
}

TEST(nabbitc, keeps_the_order_where_its_color_is_absent_and_where_it_does_not_morph) {
  group_bench absent("node:1 core:3", "nabbitc");
  EXPECT_EQ(absent.completed(absent.tasks({0, 1, 1, 0}), 2)->color, 0);
  EXPECT_THAT(absent.colors_in_order(2), ElementsAre(0, 1, 1));
  group_bench plain("node:1 core:2", "nabbitc:morph=off");
  EXPECT_EQ(plain.completed(plain.tasks({0, 1, 0, 1}), 1)->color, 0);
  EXPECT_THAT(plain.colors_in_order(1), ElementsAre(0, 1, 1));
}

TEST(nabbitc, a_thief_morphs_what_it_takes) {
  group_bench b("node:1 core:4", "nabbitc");
  EXPECT_EQ(b.completed(b.tasks({0, 1, 2, 3}), 0)->color, 0);
  // The oldest entry has colors 2 and 3. Worker 3 takes it and begins with its own color.
  kith::task* const got = b.next(3);
  ASSERT_NE(got, nullptr);
  EXPECT_EQ(got->color, 3);
  EXPECT_EQ(b.sum(3, event::colored_steal), 1u);
}

TEST(nabbitc, the_first_steal_is_colored_as_long_as_the_budget_lasts) {
  group_bench b("node:1 core:2", "nabbitc:budget=3");  // 6 for two workers
  EXPECT_NE(b.completed(b.tasks({0, 0, 0}), 0), nullptr);
  for (int attempt = 0; attempt < 6; ++attempt) EXPECT_EQ(b.look_once(1).kind, poll_result::retry);
  EXPECT_EQ(b.sum(1, event::colored_attempt), 6u);
  EXPECT_EQ(b.sum(1, event::steal), 0u);
  // From here on, as after the first steal: attempts=4 colored ones, then one that takes anything.
  for (int attempt = 0; attempt < 4; ++attempt) EXPECT_EQ(b.look_once(1).kind, poll_result::retry);
  EXPECT_EQ(b.look_once(1).kind, poll_result::found);
  EXPECT_EQ(b.sum(1, event::colored_attempt), 10u);
  EXPECT_EQ(b.sum(1, event::steal), 1u);
  EXPECT_EQ(b.sum(1, event::colored_steal), 0u);
  // A new run, a new first steal.
  b.chosen->observer()->run_began();
  EXPECT_NE(b.completed(b.tasks({0, 0, 0}), 0), nullptr);
  for (int attempt = 0; attempt < 6; ++attempt) static_cast<void>(b.look_once(1));
  EXPECT_EQ(b.sum(1, event::steal), 1u);
}

TEST(nabbitc, alternates_colored_attempts_and_a_random_one) {
  group_bench b("node:1 core:2", "nabbitc:first=off,attempts=2");
  for (int round = 1; round <= 3; ++round) {
    EXPECT_NE(b.completed(b.tasks({0, 0}), 0), nullptr);
    EXPECT_EQ(b.look_once(1).kind, poll_result::retry);
    EXPECT_EQ(b.look_once(1).kind, poll_result::retry);
    EXPECT_EQ(b.look_once(1).kind, poll_result::found);
    EXPECT_EQ(b.sum(1, event::colored_attempt), 2u * static_cast<unsigned>(round));
    EXPECT_EQ(b.sum(1, event::steal_attempt), 3u * static_cast<unsigned>(round));
  }
}

TEST(nabbitc, empty_is_said_only_when_nothing_is_left) {
  group_bench b("node:1 core:3", "nabbitc");
  EXPECT_EQ(b.next(1), nullptr);
  EXPECT_NE(b.completed(b.tasks({7, 7}), 0), nullptr);  // no worker has these colors
  EXPECT_NE(b.next(2), nullptr);                        // repeats the look until it finds a task
  EXPECT_EQ(b.next(1), nullptr);
}

TEST(nabbitc, colors_may_mean_nodes) {
  group_bench b("node:2 core:2", "nabbitc:colors=node");
  // Worker 3 is on node 1, and so is worker 2, whose color some of the tasks have.
  EXPECT_EQ(b.completed(b.tasks({0, 2, 1, 2}), 3)->color, 2);
  EXPECT_THAT(b.colors_in_order(3), ElementsAre(2, 0, 1));
}

TEST(nabbitc, colors_may_be_found_from_data) {
  group_bench b("node:2 core:1", "nabbitc:colors=data");
  EXPECT_TRUE(b.chosen->needs().homes);
  const std::uint32_t on_0 = b.region(0), on_1 = b.region(1), nowhere = b.region();
  kith::task& far = b.task({{on_0, 100}, {on_1, 60}});
  kith::task& near = b.task({{on_0, 50}, {on_1, 60}, {nowhere, 1000}});
  EXPECT_EQ(b.completed({&far, &near}, 1), &near);
  EXPECT_EQ(b.next(1), &far);
}

/// Random groups of random colors, taken by random workers: no task is lost or given twice, and every
/// colored steal was a colored attempt.
TEST(nabbitc, gives_back_what_it_was_given_whoever_asks) {
  for (const char* policy : {"nabbit", "nabbitc", "nabbitc:morph=off", "nabbitc:first=off", "nabbitc:colors=node"}) {
    for (const char* machine : {"node:1 core:1", "node:3 core:2", "node:10 core:8"}) {
      group_bench b(machine, policy);
      const auto workers = static_cast<std::uint32_t>(b.workers.size());
      kith::rng draw(1, kith::purpose::test, workers);
      std::map<kith::task*, int> seen;
      for (int round = 0; round < 200; ++round) {
        std::vector<kith::task*> group;
        for (std::uint32_t i = 0, n = 1 + draw.below(12); i < n; ++i) {
          group.push_back(&b.task());
          group.back()->color = static_cast<int>(draw.below(3 * workers)) - 1;
          seen[group.back()] = 0;
        }
        if (kith::task* now = b.completed(group, static_cast<int>(draw.below(workers)))) ++seen[now];
        for (std::uint32_t i = 0, n = draw.below(12); i < n; ++i) {
          const poll_result l = b.look_once(static_cast<int>(draw.below(workers)));
          if (l.kind == poll_result::found) ++seen[l.work];
        }
      }
      for (int w = 0; w < b.workers.size(); ++w) {
        while (kith::task* t = b.next(w)) ++seen[t];
      }
      for (const auto& [t, count] : seen) ASSERT_EQ(count, 1) << policy << " on " << machine;
      for (int w = 0; w < b.workers.size(); ++w) {
        EXPECT_LE(b.sum(w, event::colored_steal), b.sum(w, event::colored_attempt));
        EXPECT_LE(b.sum(w, event::colored_steal), b.sum(w, event::steal));
        EXPECT_LE(b.sum(w, event::colored_attempt), b.sum(w, event::steal_attempt));
      }
    }
  }
}

}  // namespace
