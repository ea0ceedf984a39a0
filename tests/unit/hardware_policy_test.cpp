// The policies of hardware scheduling, one decision at a time, in both organisations of their queues.
#include "base/rng.hpp"
#include "engine/sim/simulation.hpp"
#include "policy/contract/register_policy.hpp"
#include "policy/reference_history.hpp"
#include "policy/worker_queues.hpp"
#include "support/policy_bench.hpp"
#include "support/recordings.hpp"
#include "support/replays.hpp"

#include <kith/pending_tasks.hpp>

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using kith::mode;
using bench = kith::test::policy_bench;

constexpr const char* four_cores = "node:4 core:1";

void wrote(bench& b, std::uint32_t region, std::int16_t worker) {
  b.regions[region].writer.store(worker, kith::relaxed);
}

// Figure 5: two references from core 1, and one from core 2.
TEST(token, a_task_is_for_the_core_that_passed_most_of_its_references) {
  for (const char* how : {"token", "token:organisation=global"}) {
    bench b(four_cores, how);
    const std::uint32_t x = b.region(), y = b.region(), z = b.region();
    wrote(b, x, 1);
    wrote(b, y, 1);
    wrote(b, z, 2);
    kith::task& other = b.task({{z, 8, mode::in}});
    kith::task& mixed = b.task({{x, 8, mode::in}, {y, 8, mode::inout}, {z, 8, mode::in}});
    b.ready(other);
    b.ready(mixed);
    EXPECT_EQ(b.next(1), &mixed) << how;
    EXPECT_EQ(b.next(1), &other) << how;  // an affinity is only a hint
    EXPECT_EQ(b.next(1), nullptr) << how;
  }
}

TEST(token, the_creator_passes_what_nobody_wrote_and_what_is_only_written) {
  for (const char* how : {"token", "token:organisation=global"}) {
    bench b(four_cores, how);
    const std::uint32_t fresh = b.region(), result = b.region();
    wrote(b, result, 2);  // an earlier value, which the task does not read
    kith::task& of_three = b.task({{fresh, 8, mode::in}, {result, 8, mode::out}}, -1, 3);
    kith::task& of_two = b.task({{fresh, 8, mode::in}}, -1, 2);
    b.ready(of_three, 3);
    b.ready(of_two, 2);
    EXPECT_EQ(b.next(2), &of_two) << how;
    EXPECT_EQ(b.next(3), &of_three) << how;
  }
}

// Data that is only read, passed on by tasks on four cores: what nobody wrote would be the creator's.
TEST(token, references_come_from_the_worker_that_delivered_them) {
  static constexpr std::size_t chains = 4, links = 6;
  kith::runtime_options o;
  o.workers = 1;
  kith::recording recorded = kith::test::record(o, [&](kith::runtime& rt) {
    static std::array<double, chains> shared;
    static std::array<std::array<kith::pending_task, links>, chains> at;
    rt.run([&] {
      kith::pending_tasks tasks;
      for (std::size_t link = 0; link < links; ++link) {
        for (std::size_t c = 0; c < chains; ++c) {
          at[c][link] = tasks.schedule([c, link](const double& x) {
            if (link + 1 < links) at[c][link + 1].deliver(0, kith::in(x));
          });
        }
      }
      for (std::size_t c = 0; c < chains; ++c) at[c][0].deliver(0, kith::in(shared[c]));
      tasks.wait();
    });
  });
  ASSERT_EQ(recorded.tasks.size(), 1 + chains * links);
  for (std::size_t t = 1; t <= chains * links; ++t) {
    ASSERT_EQ(recorded.first_access[t + 1] - recorded.first_access[t], 1U);
    const std::int32_t by = t <= chains ? 0 : static_cast<std::int32_t>(t - chains);
    EXPECT_EQ(recorded.accesses[recorded.first_access[t]].passed_by, by);
    const std::uint64_t first = recorded.first_dependence[t], count = recorded.first_dependence[t + 1] - first;
    ASSERT_EQ(count, t <= chains ? 0U : 1U) << t;  // none on the root, which waits for all
    if (count == 1) {
      EXPECT_EQ(recorded.dependences[first].before, by);
    }
  }
  for (kith::recorded_task& t : recorded.tasks) {
    t.work_ns = 100'000;  // the same for all, and longer than what scheduling costs
    t.ended = std::max(t.ended, t.started + t.work_ns);
  }
  for (const char* how : {"token", "token:organisation=global"}) {
    const kith::recording run = kith::test::simulate_again(recorded, how, chains);
    std::size_t stayed = 0;
    for (std::size_t t = 1 + chains; t <= chains * links; ++t)
      stayed += run.tasks[t].worker == run.tasks[t - chains].worker;
    EXPECT_GE(stayed, chains * (links - 2)) << how;  // a worker that starts with nothing takes what there is
  }
}

TEST(token, of_equal_shares_the_larger_count_is_preferred) {
  bench b(four_cores, "token:organisation=global");
  const std::uint32_t x = b.region(), y = b.region(), z = b.region(), w = b.region();
  for (std::uint32_t region : {x, y}) wrote(b, region, 1);
  for (std::uint32_t region : {z, w}) wrote(b, region, 2);
  std::vector<kith::task*> small;
  kith::task& large = b.task({{x, 8, mode::in}, {y, 8, mode::in}, {z, 8, mode::in}, {w, 8, mode::in}});
  for (int i = 0; i < 8; ++i) small.push_back(&b.task({{x, 8, mode::in}, {z, 8, mode::in}}));
  b.ready(large);
  for (kith::task* t : small) b.ready(*t);
  kith::task& all_of_it = b.task({{x, 8, mode::in}});  // a larger share, of one reference
  b.ready(all_of_it);
  EXPECT_EQ(b.next(1), &all_of_it);
  EXPECT_EQ(b.next(1), &large);  // one of nine by chance, if count did not decide
  EXPECT_THAT(small, testing::Contains(b.next(2)));
}

TEST(token, each_core_gets_its_own_tasks_first) {
  for (const char* how : {"token", "token:organisation=global"}) {
    bench b(four_cores, how);
    std::vector<std::uint32_t> of_core;
    for (std::int16_t core = 0; core < 4; ++core) {
      of_core.push_back(b.region());
      wrote(b, of_core.back(), core);
    }
    std::vector<kith::task*> all;
    for (std::size_t i = 0; i < 40; ++i) {
      all.push_back(&b.task({{of_core[i % 4], 8, mode::in}}));
      b.ready(*all.back());
    }
    for (int round = 0; round < 10; ++round) {
      for (int core = 0; core < 4; ++core) {
        const auto at = std::ranges::find(all, b.next(core)) - all.begin();
        ASSERT_LT(at, 40) << how;
        EXPECT_EQ(at % 4, core) << how;
      }
    }
  }
}

// Figure 6: core 1 was sent a task with X, so the next one with X goes there.
TEST(reference, a_task_is_for_the_core_that_was_sent_its_data) {
  for (const char* how : {"reference", "reference:organisation=global", "reference:kept=filters"}) {
    bench b(four_cores, how);
    const std::uint32_t x = b.region(), y = b.region();
    b.ready(b.task({{x, 1000, mode::in}}));
    EXPECT_NE(b.next(1), nullptr);
    b.ready(b.task({{y, 1000, mode::in}}));
    EXPECT_NE(b.next(2), nullptr);
    kith::task& with_y = b.task({{y, 1000, mode::in}});
    kith::task& with_x = b.task({{x, 1000, mode::in}});
    b.ready(with_x);
    b.ready(with_y);
    EXPECT_EQ(b.next(2), &with_y) << how;
    EXPECT_EQ(b.next(1), &with_x) << how;
  }
}

TEST(reference, references_weigh_by_their_bytes) {
  bench b(four_cores, "reference");
  const std::uint32_t small = b.region(), large = b.region();
  b.ready(b.task({{small, 100, mode::in}}));
  EXPECT_NE(b.next(1), nullptr);
  b.ready(b.task({{large, 100'000, mode::in}}));
  EXPECT_NE(b.next(2), nullptr);
  kith::task& both = b.task({{small, 100, mode::in}, {large, 100'000, mode::in}});
  kith::task& only_small = b.task({{small, 100, mode::in}});
  b.ready(both);
  b.ready(only_small);
  EXPECT_EQ(b.next(1), &only_small);
  EXPECT_EQ(b.next(2), &both);
}

TEST(reference, a_task_with_many_references_does_not_make_the_history_forget_all) {
  bench b(four_cores, "reference:history=8");
  const std::uint32_t x = b.region();
  b.ready(b.task({{x, 1000, mode::in}}));
  EXPECT_NE(b.next(1), nullptr);
  std::vector<bench::use> many;
  for (std::uint64_t i = 0; i < 64; ++i) many.push_back({b.region(), 10 + i, mode::in});
  b.ready(b.task(many));
  EXPECT_NE(b.next(1), nullptr);
  kith::task& with_x = b.task({{x, 1000, mode::in}});
  b.ready(with_x, 0);
  kith::task& other = b.task({{b.region(), 1000, mode::in}});
  b.ready(other, 0);
  EXPECT_EQ(b.next(1), &with_x);
}

// All searches of an index are ready at once, in any order of their shards.
TEST(reference, grouped_tasks_of_the_same_data_leave_one_after_another) {
  constexpr std::size_t groups = 8, tasks = 40;
  const auto changes = [&](const char* how) {
    bench b(four_cores, how);
    std::vector<std::uint32_t> regions;
    for (std::size_t g = 0; g < groups; ++g) regions.push_back(b.region());
    std::vector<kith::task*> all;
    for (std::size_t i = 0; i < tasks; ++i) {
      all.push_back(&b.task({{regions[i % groups], 1000, mode::in}, {b.region(), 10, mode::in}}));
      b.ready(*all.back());
    }
    std::size_t found = 0, last = groups;
    for (std::size_t i = 0; i < tasks; ++i) {
      const auto at = static_cast<std::size_t>(std::ranges::find(all, b.next(0)) - all.begin());
      EXPECT_LT(at, tasks) << how;
      if (at % groups != last) ++found;
      last = at % groups;
    }
    EXPECT_EQ(b.next(0), nullptr) << how;
    return found;
  };
  EXPECT_EQ(changes("reference:cap=1000000,grouped=on"), groups);
  EXPECT_GT(changes("reference:cap=1000000"), 3 * groups);
}

TEST(reference, a_grouped_task_goes_to_the_queue_that_has_its_group) {
  for (const bool grouped : {false, true}) {
    bench b(four_cores, grouped ? "reference:cap=1000000,grouped=on" : "reference:cap=1000000");
    const std::uint32_t x = b.region();
    kith::task& first = b.task({{x, 1000, mode::in}}, -1, 1);
    kith::task& other = b.task({{b.region(), 1000, mode::in}}, -1, 2);
    kith::task& second = b.task({{x, 1000, mode::in}}, -1, 2);
    for (kith::task* t : {&first, &other, &second}) b.ready(*t);
    EXPECT_EQ(b.next(2), grouped ? &other : &second);
    EXPECT_EQ(b.next(1), grouped ? &second : &first);  // of equal ends the one queued last
    EXPECT_EQ(b.next(1), grouped ? &first : &other);
  }
}

// Section 5.2.1: the difference between the two organisations.
TEST(affinity_queues, only_the_ends_of_a_deque_can_be_taken) {
  for (const bool global : {false, true}) {
    bench b(four_cores, global ? "reference:organisation=global" : "reference:cap=1000000");
    const std::uint32_t x = b.region(), y = b.region();
    b.ready(b.task({{x, 1000, mode::in}}, -1, 0));
    EXPECT_NE(b.next(1), nullptr);
    // Core 0 has used `y` so recently that all three are in its queue.
    b.ready(b.task({{y, 1'000'000, mode::in}}, -1, 0));
    EXPECT_NE(b.next(0), nullptr);
    kith::task& first = b.task({{y, 1'000'000, mode::in}});
    kith::task& middle = b.task({{y, 1'000'000, mode::in}, {x, 1000, mode::in}});
    kith::task& last = b.task({{y, 1'000'000, mode::in}});
    for (kith::task* t : {&first, &middle, &last}) b.ready(*t);
    kith::task* const got = b.next(1);
    if (global) {
      EXPECT_EQ(got, &middle);
    } else {
      EXPECT_TRUE(got == &first || got == &last);
    }
  }
}

TEST(affinity_queues, a_queue_that_is_too_long_passes_tasks_on) {
  bench b(four_cores, "token:cap=100");
  const std::uint32_t x = b.region();
  wrote(b, x, 2);
  std::vector<kith::task*> all;
  for (int i = 0; i < 40; ++i) {
    all.push_back(&b.task({{x, 8, mode::in}}, -1, 2));
    b.ready(*all.back());
  }
  // The other end of its own queue, and not one of another: each of the four queues has ten.
  for (int i = 0; i < 10; ++i) {
    for (int core = 0; core < 4; ++core) EXPECT_NE(b.next(core), nullptr);
  }
  EXPECT_EQ(b.next(2), nullptr);
}

TEST(affinity_queues, priorities_come_before_affinity) {
  for (const char* how : {"token", "token:organisation=global", "reference", "reference:organisation=global"}) {
    bench b(four_cores, how);
    const std::uint32_t x = b.region();
    wrote(b, x, 1);
    kith::task& mine = b.task({{x, 8, mode::in}});
    kith::task& urgent = b.task({{b.region(), 8, mode::in}}, -1, 3);
    urgent.priority = 1;
    b.ready(mine);
    b.ready(urgent);
    EXPECT_EQ(b.next(1), &urgent) << how;
    EXPECT_EQ(b.next(1), &mine) << how;
  }
}

/// So many tasks, queued in their order, all created on worker 0.
std::vector<kith::task*> queue_tasks(bench& b, int count) {
  std::vector<kith::task*> all;
  for (int i = 0; i < count; ++i) all.push_back(&b.task());
  for (kith::task* t : all) b.ready(*t);
  return all;
}

/// The numbers of the tasks in the order in which the cores get them, asking in turn.
std::vector<int> order_left(bench& b, const std::vector<kith::task*>& all, std::vector<int> asking) {
  std::vector<int> numbers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto at = std::ranges::find(all, b.next(asking[i % asking.size()]));
    if (at == all.end()) break;
    numbers.push_back(static_cast<int>(at - all.begin()));
  }
  return numbers;
}

// One core alone empties a queue of each core: the oldest of its own, then the oldest end of all.
TEST(fifo, deques_give_their_oldest_task) {
  bench b(four_cores, "fifo:organisation=deques");
  const std::vector<kith::task*> all = queue_tasks(b, 40);
  const std::vector<int> of_one = order_left(b, all, {2});
  ASSERT_EQ(of_one.size(), all.size());
  // Its own queue first, a quarter of the tasks or a third more, in order; the rest in the order of all.
  const auto first_of_others = std::ranges::is_sorted_until(of_one);
  const auto own = first_of_others - of_one.begin();
  EXPECT_GE(own, 7);
  EXPECT_LE(own, 13);
  EXPECT_TRUE(std::is_sorted(first_of_others, of_one.end()));
}

TEST(fifo, the_global_queue_keeps_ready_order) {
  for (const char* how : {"fifo", "fifo:organisation=global"}) {
    bench b(four_cores, how);
    const std::vector<int> left = order_left(b, queue_tasks(b, 40), {3, 0, 2});
    EXPECT_EQ(left.size(), 40u) << how;
    EXPECT_TRUE(std::ranges::is_sorted(left)) << how;
  }
}

TEST(random, deques_give_either_end_and_all_queues_are_filled) {
  bench b(four_cores, "random:organisation=deques");
  const std::vector<int> left = order_left(b, queue_tasks(b, 400), {0, 1, 2, 3});
  ASSERT_EQ(left.size(), 400u);
  std::vector<int> sorted = left;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());  // each left once
  // A task leaves from the old end or from the new one: both kinds are among the first.
  const std::vector<int> first(left.begin(), left.begin() + 40);
  EXPECT_GT(std::ranges::count_if(first, [](int n) { return n < 100; }), 5);
  EXPECT_GT(std::ranges::count_if(first, [](int n) { return n >= 300; }), 5);
  EXPECT_EQ(std::ranges::count_if(first, [](int n) { return n >= 150 && n < 250; }), 0);  // never from the middle
}

TEST(source, prefers_its_own_tasks_in_one_queue_too) {
  bench b(four_cores, "source:organisation=global");
  kith::task& of_one = b.task({}, -1, 1);
  kith::task& of_two = b.task({}, -1, 2);
  kith::task& later_of_one = b.task({}, -1, 1);
  for (kith::task* t : {&of_two, &of_one, &later_of_one}) b.ready(*t);
  EXPECT_EQ(b.next(1), &of_one);        // not the oldest, which is another's
  EXPECT_EQ(b.next(3), &of_two);        // none of its own: the oldest of all
  EXPECT_EQ(b.next(3), &later_of_one);  // an affinity is only a hint
  EXPECT_EQ(b.next(3), nullptr);
}

TEST(affinity_queues, no_request_fails_while_a_task_is_ready) {
  for (const char* name : {"fifo", "random", "source", "token", "reference"}) {
    for (const char* organisation : {"deques", "global"}) {
      const std::string how = std::string(name) + ":organisation=" + organisation +
                              (std::string_view(name) == "reference" ? ",grouped=on" : "");
      bench b(four_cores, how);
      std::vector<std::uint32_t> regions;
      for (std::int16_t core = 0; core < 4; ++core) {
        regions.push_back(b.region());
        wrote(b, regions.back(), core);
      }
      kith::rng random(7, kith::purpose::test, 0);
      std::size_t ready = 0;
      for (int step = 0; step < 2000; ++step) {
        const int worker = static_cast<int>(random.below(4));
        if (random.below(2) == 0) {
          b.ready(b.task({{regions[random.below(4)], 1000, mode::in}}, -1, static_cast<std::uint16_t>(random.below(4))),
                  worker);
          ++ready;
        } else if (b.next(worker) != nullptr) {
          ASSERT_GT(ready, 0u) << how;
          --ready;
        } else {
          ASSERT_EQ(ready, 0u) << how << " in step " << step;
        }
      }
    }
  }
}

/// A policy that notes who wrote what a ready task reads.
std::atomic<int> writer_of_last_read{-2};
template <class World>
class notes_writers final : public kith::policy<World> {
 public:
  using worker = typename World::worker;
  static constexpr kith::policy_entry about{.name = "notes-writers", .summary = "for a test", .options = {}};

  notes_writers(const kith::policy_context& s, const kith::policy_options&)
      : memory_(s.memory), queues_(s, kith::queue_order::fifo, true) {}
  typename kith::policy<World>::data_needs needs() const override { return {.homes = true, .writers = true}; }
  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason) override {
    for (kith::task* t : tasks) {
      for (kith::kept_access a : t->access_list()) {
        if (a.how == mode::in) writer_of_last_read = memory_.region_of(a).writer.load(kith::relaxed);
      }
      queues_[0].push(*t, self);
    }
    return nullptr;
  }
  kith::poll_result next(worker& self) override { return queues_.next(self); }

 private:
  const kith::memory_view memory_;
  kith::worker_queues<World> queues_;
};

TEST(writers, are_kept_by_both_engines_if_the_policy_asks) {
  kith::register_policy<notes_writers>();
  int x = 0;
  const auto program = [&](kith::runtime& rt) {
    rt.run([&] {
      kith::spawn([](int& v) { v = 1; }, kith::out(x));
      kith::spawn([](const int&) {}, kith::in(x));
    });
  };
  const kith::recording r = kith::test::record(kith::test::make_options(1, "notes-writers"), program);
  EXPECT_EQ(writer_of_last_read, 0);

  kith::test::script s;
  s.region(64);
  for (int i = 0; i < 5; ++i) s.task(100'000);  // for the other workers
  const std::int32_t writes = s.task(1000, {}, {{0, static_cast<std::uint8_t>(mode::out), 64, 64}});
  s.task(1000, {writes}, {{0, static_cast<std::uint8_t>(mode::in), 64, 64}});
  kith::sim::settings set;
  set.policy = "notes-writers";
  set.workers = 8;
  set.keep_schedule = true;
  writer_of_last_read = -2;
  const kith::sim::result simulated =
      kith::sim::simulate(kith::sim::program_of(s.finish()), kith::model_by_name("cmp-32"), set);
  const int ran_on = simulated.schedule.tasks[static_cast<std::size_t>(writes)].worker;
  EXPECT_EQ(writer_of_last_read, ran_on);
  EXPECT_GE(ran_on, 0);
}

// Each core keeps its chain: the task that it has just run passed the reference.
TEST(token, tasks_of_a_chain_stay_on_a_core) {
  constexpr std::size_t chains = 8, length = 50;
  kith::test::script s;
  for (std::size_t c = 0; c < chains; ++c) s.region(4096);
  std::vector<std::int32_t> last(chains);
  std::vector<std::vector<std::int32_t>> of_chain(chains);
  for (std::size_t i = 0; i < length; ++i) {
    for (std::size_t c = 0; c < chains; ++c) {
      const kith::recorded_access use{static_cast<std::uint32_t>(c), static_cast<std::uint8_t>(mode::inout), 4096,
                                      4096};
      last[c] = i == 0 ? s.task(10'000, {}, {use}) : s.task(10'000, std::vector<std::int32_t>{last[c]}, {use});
      of_chain[c].push_back(last[c]);
    }
  }
  const kith::sim::program p = kith::sim::program_of(s.finish());
  const auto moves = [&](const char* policy) {
    kith::sim::settings set;
    set.policy = policy;
    set.workers = chains;
    set.keep_schedule = true;
    const kith::sim::result r = kith::sim::simulate(p, kith::model_by_name("cmp-32"), set);
    std::size_t found = 0;
    for (const std::vector<std::int32_t>& tasks : of_chain) {
      for (std::size_t i = 1; i < tasks.size(); ++i) {
        const auto worker = [&](std::size_t k) { return r.schedule.tasks[static_cast<std::size_t>(tasks[k])].worker; };
        if (worker(i) != worker(i - 1)) ++found;
      }
    }
    return found;
  };
  constexpr std::size_t all = chains * (length - 1);
  EXPECT_LT(moves("token"), all / 20);
  EXPECT_LT(moves("reference"), all / 20);
  EXPECT_GT(moves("random"), all / 20);
}

using references = std::vector<std::uint64_t>;

TEST(reference_list, weights_decay_and_the_lightest_leaves) {
  kith::reference_list known(3, 0.5F);
  known.use(references{1});
  known.use(references{2});
  known.use(references{3});
  EXPECT_FLOAT_EQ(known.weight(1), 0.25F);
  EXPECT_FLOAT_EQ(known.weight(2), 0.5F);
  EXPECT_FLOAT_EQ(known.weight(3), 1);
  known.use(references{1});  // used again: as new
  EXPECT_FLOAT_EQ(known.weight(1), 1);
  known.use(references{4});  // 2 is the lightest
  EXPECT_EQ(known.weight(2), 0);
  EXPECT_FLOAT_EQ(known.weight(4), 1);
}

TEST(reference_filters, know_the_last_references_and_forget_old_ones) {
  constexpr std::size_t capacity = 8;
  kith::reference_filters known(capacity);
  for (std::uint64_t r = 1; r <= 1000; ++r) {
    known.use(references{r});
    for (std::uint64_t k = 0; k < capacity && k < r; ++k) ASSERT_GT(known.weight(r - k), 0) << r << " " << k;
    ASSERT_EQ(known.weight(r), 1);
  }
  int found = 0;
  for (std::uint64_t r = 1; r <= 900; ++r) found += known.weight(r) > 0 ? 1 : 0;
  EXPECT_LT(found, 90);  // at most 32 of 256 bits are set twice over: false finds are rare
}

}  // namespace
