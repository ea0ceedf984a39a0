// Priorities in the sequential world: a worker prefers a higher level among what it sees.
#include "support/policy_bench.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

namespace {

using kith::event;
using kith::ready_reason;
using kith::task;
using kith::test::megabyte;
using kith::test::page;

enum level { high, normal, low };

class level_bench : public kith::test::policy_bench {
 public:
  using policy_bench::policy_bench;

  kith::task& made_at(level l, std::vector<use> uses = {}) {
    kith::task& t = task(std::move(uses));
    if (l != normal) t.priority = l == high ? 1 : 2;
    return t;
  }
  kith::task& queued(level l, int worker = 0) {
    kith::task& t = made_at(l);
    ready(t, worker);
    return t;
  }
  kith::task* completed(std::vector<kith::task*> tasks, int worker = 0) {
    return chosen->ready(tasks, *by[static_cast<std::size_t>(worker)], ready_reason::completion);
  }
};

class with_deques : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(all, with_deques,
                         testing::Values("auto", "steal", "steal:end=fifo", "steal:batch=1", "nabbit", "nabbitc"));

TEST_P(with_deques, its_own_of_the_highest_level_first) {
  level_bench b("node:2 core:2", GetParam());
  task &below = b.queued(low), &above = b.queued(high), &between = b.queued(normal);
  EXPECT_EQ(b.next(0), &above);
  EXPECT_EQ(b.next(0), &between);
  EXPECT_EQ(b.next(0), &below);
  EXPECT_EQ(b.next(0), nullptr);
}

TEST_P(with_deques, a_thief_takes_of_the_highest_level_first) {
  level_bench b("node:1 core:2", GetParam());
  b.queued(low);
  b.queued(normal);
  task& above = b.queued(high);
  EXPECT_EQ(b.next(1), &above);
  int left = 0;
  for (int w = 0; w < 2; ++w) {
    while (b.next(w) != nullptr) ++left;
  }
  EXPECT_EQ(left, 2);
}

TEST_P(with_deques, of_what_became_ready_the_highest_is_run_next) {
  level_bench b("node:2 core:1", GetParam());
  task &below = b.made_at(low), &above = b.made_at(high), &between = b.made_at(normal);
  EXPECT_EQ(b.completed({&between, &above, &below}), &above);
  EXPECT_EQ(b.next(0), &between);
  EXPECT_EQ(b.next(0), &below);
}

/// A worker that is rung takes the task at once, and the task's slot is reused.
class hurried_bench : public level_bench {
 public:
  explicit hurried_bench(const std::string& policy) : level_bench("node:2 core:1", policy) {
    by[0] = std::make_unique<pusher>(*this);
  }
  void take() {
    kith::task* const t = next(1);
    if (t == nullptr) return;
    taken.push_back(t);
    t->priority = 2;
  }
  std::vector<kith::task*> taken;

 private:
  struct pusher : kith::sequential::worker_view {
    explicit pusher(hurried_bench& of) : worker_view(kith::worker_id(0), kith::node_id(0)), bench(of) {}
    bool ring(const kith::worker_set& /*audience*/) override {
      bench.take();
      return true;
    }
    hurried_bench& bench;
  };
};

TEST_P(with_deques, what_was_pushed_is_looked_at_no_more) {
  hurried_bench b(GetParam());
  std::vector<task*> made;
  for (level l : {high, normal, low, high, normal, low}) made.push_back(&b.made_at(l));
  std::vector<task*> seen;
  if (task* const t = b.completed(made)) seen.push_back(t);
  seen.insert(seen.end(), b.taken.begin(), b.taken.end());
  while (task* const t = b.next(0)) seen.push_back(t);
  EXPECT_FALSE(b.taken.empty());
  EXPECT_THAT(seen, testing::UnorderedElementsAreArray(made));
}

TEST_P(with_deques, what_became_ready_waits_where_a_higher_one_does) {
  level_bench b("node:2 core:1", GetParam());
  task &above = b.queued(high), &between = b.made_at(normal);
  task* const first = b.completed({&between});
  EXPECT_EQ(first != nullptr ? first : b.next(0), &above);
  EXPECT_EQ(b.next(0), &between);
  // This holds for the first task with a level as well, while normal tasks wait.
  level_bench c("node:2 core:1", GetParam());
  task &waits = c.queued(normal), &below = c.made_at(low);
  task* const then = c.completed({&below});
  EXPECT_EQ(then != nullptr ? then : c.next(0), &waits);
  EXPECT_EQ(c.next(0), &below);
}

TEST(priorities, a_colored_thief_takes_the_highest_of_its_color) {
  level_bench b("node:2 core:1", "nabbitc");
  const auto colored = [&](level l, int color) {
    task& t = b.made_at(l);
    t.color = color;
    b.ready(t);
    return &t;
  };
  colored(high, 0);
  task *mine = colored(normal, 1), *later = colored(low, 1);
  EXPECT_EQ(b.next(1), mine);
  EXPECT_EQ(b.next(1), later);
}

TEST(priorities, auto_compares_tasks_with_data_and_without) {
  level_bench b("node:2 core:1", "auto");
  task &plain = b.made_at(normal), &data = b.made_at(high, {{b.region(0), megabyte}}),
       &last = b.made_at(low, {{b.region(0), megabyte}}), &below = b.made_at(low);
  for (task* t : {&plain, &data, &last, &below}) b.ready(*t);
  EXPECT_EQ(b.next(0), &data);
  EXPECT_EQ(b.next(0), &plain);
  EXPECT_NE(b.next(0), nullptr);
  EXPECT_NE(b.next(0), nullptr);
  // A task made ready here by a completion continues only if nothing higher waits.
  b.ready(b.made_at(high));
  task& next = b.made_at(normal, {{b.region(0), page}});
  EXPECT_EQ(b.completed({&next}), nullptr);
  EXPECT_NE(b.next(0), &next);
  EXPECT_EQ(b.next(0), &next);
}

TEST(priorities, auto_robs_a_node_of_the_highest_level) {
  level_bench b("node:2 core:1 distance:20", "auto");
  task& known = b.made_at(normal, {{b.region(0), megabyte}});
  b.ready(known);
  ASSERT_EQ(b.next(0), &known);
  b.chosen->observer()->ran(known, *b.by[0], 10'000'000);
  for (int i = 0; i < 5; ++i) b.ready(b.made_at(normal, {{b.region(0), megabyte}}));
  task& above = b.made_at(high, {{b.region(0), megabyte}});
  b.ready(above);
  EXPECT_EQ(b.next(1), &above);
}

}  // namespace
