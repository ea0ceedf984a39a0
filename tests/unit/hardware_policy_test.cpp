// `token` and `reference`, one decision at a time, in both organisations of their queues
// (queue_organisations_test.cpp tests the queues).
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
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace {

using kith::mode;
using bench = kith::test::policy_bench;

constexpr const char* four_cores = "node:4 core:1";

// Figure 5: two references from core 1, and one from core 2.
TEST(token, a_task_is_for_the_core_that_passed_most_of_its_references) {
  for (const char* how : {"token", "token:organisation=global"}) {
    bench b(four_cores, how);
    const std::uint32_t x = b.region(), y = b.region(), z = b.region();
    b.wrote(x, 1);
    b.wrote(y, 1);
    b.wrote(z, 2);
    kith::task& other = b.task({{z, 8, mode::in}});
    kith::task& mixed = b.task({{x, 8, mode::in}, {y, 8, mode::inout}, {z, 8, mode::in}});
    b.ready(other);
    b.ready(mixed);
    EXPECT_EQ(b.next(1), &mixed) << how;
    EXPECT_EQ(b.next(1), &other) << how;  // an affinity only guides
    EXPECT_EQ(b.next(1), nullptr) << how;
  }
}

TEST(token, a_region_that_is_declared_twice_is_one_reference) {
  for (const char* how : {"token", "token:organisation=global"}) {
    bench b(four_cores, how);
    const std::uint32_t x = b.region(), y = b.region(), z = b.region();
    b.wrote(x, 1);
    b.wrote(y, 2);
    b.wrote(z, 2);
    kith::task& mixed =
        b.task({{x, 8, mode::inout}, {x, 0, mode::in}, {x, 0, mode::in}, {y, 8, mode::in}, {z, 8, mode::in}});
    kith::task& other = b.task({{x, 8, mode::in}});
    b.ready(mixed);
    b.ready(other);
    EXPECT_EQ(b.next(1), &other) << how;
    EXPECT_EQ(b.next(2), &mixed) << how;
  }
}

TEST(token, the_creator_passes_what_nobody_wrote_and_what_is_only_written) {
  for (const char* how : {"token", "token:organisation=global"}) {
    bench b(four_cores, how);
    const std::uint32_t fresh = b.region(), result = b.region();
    b.wrote(result, 2);  // an earlier value, which the task does not read
    kith::task& of_three = b.task({{fresh, 8, mode::in}, {result, 8, mode::out}}, -1, 3);
    kith::task& of_two = b.task({{fresh, 8, mode::in}}, -1, 2);
    b.ready(of_three, 3);
    b.ready(of_two, 2);
    EXPECT_EQ(b.next(2), &of_two) << how;
    EXPECT_EQ(b.next(3), &of_three) << how;
  }
}

// Data that is only read, passed on by tasks on four cores: data that no task wrote would be the creator's.
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
  for (std::uint32_t region : {x, y}) b.wrote(region, 1);
  for (std::uint32_t region : {z, w}) b.wrote(region, 2);
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
      b.wrote(of_core.back(), core);
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

/// A policy that records the last writers of a ready task's input.
std::atomic<int> writer_of_last_read{-2};
template <class World>
class notes_writers final : public kith::policy<World> {
 public:
  using worker = typename World::worker;
  static constexpr kith::policy_entry about{.name = "notes-writers", .summary = "for a test", .options = {}};

  notes_writers(const kith::policy_context& context, const kith::policy_options&)
      : memory_(context.memory), queues_(context, kith::queue_order::fifo, true) {}
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
  kith::sim::run_options set;
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

/// A policy that records the accesses of a ready task, as "MODE BYTES".
std::vector<std::string> declared_last;
template <class World>
class notes_accesses final : public kith::policy<World> {
 public:
  using worker = typename World::worker;
  static constexpr kith::policy_entry about{.name = "notes-accesses", .summary = "for a test", .options = {}};

  notes_accesses(const kith::policy_context& context, const kith::policy_options&)
      : queues_(context, kith::queue_order::fifo, true) {}
  typename kith::policy<World>::data_needs needs() const override { return {.homes = true}; }
  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason) override {
    for (kith::task* t : tasks) {
      declared_last.clear();
      for (kith::kept_access a : t->access_list())
        declared_last.push_back(std::to_string(static_cast<int>(a.how)) + " " + std::to_string(a.bytes()));
      queues_[0].push(*t, self);
    }
    return nullptr;
  }
  kith::poll_result next(worker& self) override { return queues_.next(self); }

 private:
  kith::worker_queues<World> queues_;
};

TEST(accesses, of_a_region_that_is_named_twice_are_counted_once_by_both_engines) {
  kith::register_policy<notes_accesses>();
  static char x[100];
  const auto small = [] { return kith::in(x, 40); };
  const auto expect_both = [](const std::function<void()>& spawn, const std::vector<std::string>& expected) {
    const kith::recording r = kith::test::record(kith::test::make_options(1, "notes-accesses"), [&](kith::runtime& rt) {
      rt.run([&] {
        spawn();
        kith::wait();
      });
    });
    EXPECT_EQ(declared_last, expected) << "natively";
    std::vector<std::string> recorded;
    const std::size_t t = r.tasks.size() - 1;
    for (std::uint64_t a = r.first_access[t]; a < r.first_access[t + 1]; ++a)
      recorded.push_back(std::to_string(r.accesses[a].mode) + " " + std::to_string(r.accesses[a].bytes));
    EXPECT_EQ(recorded, expected) << "in the recording";
    declared_last.clear();
    kith::test::simulate_again(r, "notes-accesses", 2);
    EXPECT_EQ(declared_last, expected) << "in the simulator";
  };
  const std::string in = "0 ", out = "1 ", inout = "2 ", commutative = "4 ";
  expect_both([&] { kith::spawn([] {}, kith::in(x), kith::out(x)); }, {inout + "100", out + "0"});
  expect_both([&] { kith::spawn([] {}, kith::out(x), kith::in(x)); }, {inout + "100", in + "0"});
  expect_both([&] { kith::spawn([] {}, kith::out(x), kith::out(x)); }, {out + "100", out + "0"});
  expect_both([&] { kith::spawn([] {}, kith::in(x), kith::commutative(x)); }, {commutative + "100", commutative + "0"});
  expect_both(
      [&] {  // a third reader, which two others precede
        for (int i = 0; i < 3; ++i) kith::spawn([] {}, kith::in(x), kith::in(x));
      },
      {in + "100", in + "0"});
  expect_both(
      [&] {
        kith::pending_tasks tasks;
        const kith::pending_task one = tasks.schedule([](std::span<const char>, std::span<char>) {});
        one.deliver(0, small());
        one.deliver(1, kith::inout(x));
        tasks.wait();
      },
      {inout + "100", inout + "0"});
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
    kith::sim::run_options set;
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
