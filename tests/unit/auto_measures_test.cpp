// What the policy `auto` measures and then decides, in the sequential world: how many chains a node runs at
// once, and from which end of its queue it takes.
#include "support/policy_bench.hpp"
#include "support/sizes.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <deque>
#include <functional>

namespace {

using kith::ready_reason;
using kith::test::megabyte;
using kith::test::page;
using kith::test::policy_bench;

/// Six chains of tasks at node 0, each on four megabytes, and four workers there that share a cache of ten megabytes. A
/// chain has `length` tasks; another one begins when it has ended. All but `own` bytes are a table that all tasks read.
class chains_at_0 : public policy_bench {
 public:
  explicit chains_at_0(const std::string& policy = "auto", int length = 10'000, std::uint64_t own = 4 * megabyte)
      : policy_bench("node:2 core:4", policy, {}, 10 * megabyte), length_(length), own_(own), table_(region(0)) {
    for (int c = 0; c < 6; ++c) ready(link(region(0)));
  }
  /// Each worker in turn ends its task, which took `nanoseconds` with that many running, and finds another.
  void go_round(int times, const std::function<std::uint64_t(int)>& nanoseconds) {
    for (int i = 0; i < times * 4; ++i) {
      const int w = i % 4;
      kith::task*& t = now[static_cast<std::size_t>(w)];
      kith::task* after = nullptr;
      if (t != nullptr) {
        chosen->observer()->ran(*t, *by[static_cast<std::size_t>(w)], nanoseconds(running()));
        const bool ends = ++ran_[static_cast<std::size_t>(w)] % length_ == 0;
        after = ready(link(ends ? region(0) : (*t->access_list().begin()).region), w,
                      ends ? ready_reason::creation : ready_reason::completion);
      }
      t = after != nullptr ? after : next(w);
    }
  }
  int running() const {
    return static_cast<int>(now.size() - static_cast<std::size_t>(std::ranges::count(now, nullptr)));
  }

  /// One that waits for room gives up before it starts a task all the same.
  kith::task* next(int worker) {
    for (int looks = 0; looks < 4; ++looks) {
      if (kith::task* t = chosen->next(*by[static_cast<std::size_t>(worker)]).work) return t;
    }
    return nullptr;
  }

  std::array<kith::task*, 4> now{};  // what the workers run

 private:
  kith::task& link(std::uint32_t of) {
    if (own_ == 4 * megabyte) return task({{of, own_}});
    return task({{of, own_}, {table_, 4 * megabyte - own_, kith::mode::in}});
  }

  int length_;
  std::uint64_t own_;
  std::uint32_t table_;
  std::array<int, 4> ran_{};  // tasks of each worker
};

/// The fewest chains that ran at once in a hundred rounds, in which all tasks take the same time.
int fewest(chains_at_0& b) {
  int least = 4;
  for (int i = 0; i < 100; ++i) {
    b.go_round(1, [](int) { return 1'000'000; });
    least = std::min(least, b.running());
  }
  return least;
}

TEST(auto_measures, runs_as_many_chains_as_the_cache_holds_if_that_is_faster) {
  const auto falls_out = [](int chains) -> std::uint64_t { return chains > 2 ? 4'000'000 : 500'000; };
  chains_at_0 bound, free("auto:chains=free");
  bound.go_round(8, falls_out);
  EXPECT_EQ(bound.running(), 4);  // it has not tried yet
  bound.go_round(100, falls_out);
  EXPECT_EQ(bound.running(), 2);
  free.go_round(108, falls_out);
  EXPECT_EQ(free.running(), 4);
}

TEST(auto_measures, begins_a_chain_without_room_if_no_other_makes_progress) {
  chains_at_0 b;
  b.go_round(108, [](int chains) -> std::uint64_t { return chains > 2 ? 4'000'000 : 500'000; });
  ASSERT_EQ(b.running(), 2);
  const auto idle = static_cast<int>(std::ranges::find(b.now, nullptr) - b.now.begin());
  for (int looks = 0; looks < 40; ++looks) EXPECT_EQ(b.next(idle), nullptr);
  kith::task* begun = nullptr;
  for (int looks = 0; looks < 40 && begun == nullptr; ++looks) begun = b.next(idle);
  EXPECT_NE(begun, nullptr);
}

TEST(auto_measures, runs_all_chains_if_the_cache_does_not_matter) {
  chains_at_0 b;
  EXPECT_EQ(fewest(b), 2);  // it has tried
  EXPECT_EQ(b.running(), 4);
}

TEST(auto_measures, does_not_try_chains_that_end_before_they_could_count) {
  chains_at_0 short_ones("auto", 6), long_ones("auto", 30);
  EXPECT_EQ(fewest(short_ones), 4);
  EXPECT_EQ(fewest(long_ones), 2);
}

TEST(auto_measures, counts_a_table_that_all_read_for_none_of_the_chains) {
  chains_at_0 mostly_table("auto", 10'000, megabyte), mostly_own("auto", 10'000, 3 * megabyte);
  EXPECT_EQ(fewest(mostly_table), 4);
  EXPECT_EQ(fewest(mostly_own), 2);
}

TEST(auto_measures, whoever_does_something_else_leaves_room_for_a_chain) {
  const auto falls_out = [](int chains) -> std::uint64_t { return chains > 2 ? 4'000'000 : 500'000; };
  for (const bool dataless : {false, true}) {
    chains_at_0 b;
    b.go_round(108, falls_out);
    ASSERT_EQ(b.running(), 2);
    const auto idle = std::ranges::find(b.now, nullptr) - b.now.begin();
    const auto busy = std::ranges::find_if(b.now, [](const kith::task* t) { return t != nullptr; }) - b.now.begin();
    EXPECT_EQ(b.next(static_cast<int>(idle)), nullptr);
    if (dataless) {  // its successor uses no data
      kith::task& one = b.task();
      EXPECT_EQ(b.ready(one, static_cast<int>(busy), ready_reason::completion), &one);
    } else {  // it continues with the code that waited
      b.chosen->observer()->idle(*b.by[static_cast<std::size_t>(busy)]);
    }
    EXPECT_NE(b.next(static_cast<int>(idle)), nullptr);
  }
}

/// Of the last `of` tasks, the number that the worker took from the end of the queue at which tasks run
/// faster by this factor.
int taken_last(const char* machine, double faster, int of, const char* policy = "auto") {
  policy_bench b(machine, policy);
  std::deque<kith::task*> waiting;
  const auto add = [&] {
    waiting.push_back(&b.task({{b.region(0), page}}));
    b.ready(*waiting.back());
  };
  for (int i = 0; i < 20; ++i) add();
  int last = 0;
  for (int i = 0; i < 200 + of; ++i) {
    kith::task* t = b.next(0);
    const bool was_last = t == waiting.back();
    EXPECT_TRUE(was_last || t == waiting.front());
    was_last ? waiting.pop_back() : waiting.pop_front();
    last += was_last && i >= 200;
    b.chosen->observer()->ran(*t, *b.by[0], static_cast<std::uint64_t>(was_last ? 10'000 : 10'000 * faster));
    add();
  }
  return last;
}

TEST(auto_measures, takes_what_was_queued_last_if_that_is_faster) {
  EXPECT_EQ(taken_last("node:2 core:4", 1.5, 80), 70);  // one in eight is from the other end
  EXPECT_EQ(taken_last("node:2 core:4", 1.1, 80), 10);
  EXPECT_EQ(taken_last("node:2 core:4 distance:255", 1.5, 80), 0);  // two machines
  EXPECT_EQ(taken_last("node:2 core:4", 1.5, 80, "auto:recent=off"), 0);
}

TEST(auto_measures, a_short_queue_keeps_its_order) {
  policy_bench b("node:2 core:4", "auto");
  for (int i = 0; i < 50; ++i) {
    kith::task &first = b.task({{b.region(0), page}}), &last = b.task({{b.region(0), page}});
    b.ready(first);
    b.ready(last);
    EXPECT_EQ(b.next(0), &first);
    EXPECT_EQ(b.next(0), &last);
  }
}

}  // namespace
