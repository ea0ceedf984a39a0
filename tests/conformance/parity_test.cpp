// The same calls in both worlds: programs run natively and in the simulator under a policy that follows a
// script, with 1, 2 and 5 workers, and the calls to the policy are compared one by one.
#include "support/recordings.hpp"

#include "engine/sim/simulation.hpp"
#include "machine/model.hpp"
#include "policy/contract/register_policy.hpp"
#include "task/type_names.hpp"

#include <kith/kith.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

using kith::recording;

/// The calls to a policy. Tasks are told apart by their types: each task has a type of its own, whose name is logged,
/// with the level of its priority.
struct call_log {
  std::mutex guard;
  std::vector<std::string> calls;
  const recording* simulated = nullptr;  // has the types of a simulation's tasks; null: those of this process

  std::string name_of(const kith::task& t) const {
    const std::string name = simulated != nullptr ? simulated->types[t.type] : kith::task_type_name(t.type);
    return name + (t.has_level() ? "@" + std::to_string(t.level()) : "");
  }
};
call_log the_log;

/// Runs one task at a time. After each, a script draws the worker that runs the next task, and which of the
/// queued tasks that is. The other workers find nothing. With `keeps=yes` it also draws which of the tasks that become
/// ready are run at once instead of being queued.
template <class World>
class scripted final : public kith::policy<World>, public kith::observer<World> {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{kith::one_of("keeps", "no|yes", "whether ready() returns tasks")};
  static constexpr kith::policy_entry about{.name = "scripted-by-a-test",
                                            .paper = "",
                                            .section = "",
                                            .summary = "follows a script, one task at a time",
                                            .options = options,
                                            .priorities = false};

  scripted(const kith::policy_context& context, const kith::policy_options& given)
      : workers_(static_cast<std::uint32_t>(context.workers.size())), keeps_(given.is("keeps", "yes")) {}

  kith::observer<World>* observer() noexcept override { return this; }
  /// With several workers, timing decides how often a worker that finds nothing stops looking.
  typename kith::observer<World>::subscriptions subscribes_to() const override {
    return {.created = true, .ran = true, .idle = workers_ == 1};
  }

  void created(kith::task& t, worker& self) override {
    const std::lock_guard lock(the_log.guard);
    note("created", self, the_log.name_of(t));
  }
  void ran(const kith::task& t, worker& self, std::uint64_t) override {
    const std::lock_guard lock(the_log.guard);
    note("ran", self, the_log.name_of(t));
  }
  void idle(worker& self) override {
    const std::lock_guard lock(the_log.guard);
    note("idle", self, "");
  }
  void run_began() override {
    const std::lock_guard lock(the_log.guard);
    the_log.calls.emplace_back("run");
    draw_ = kith::rng(7, kith::purpose::test, ++runs_);
    running_ = kith::worker_id(0);  // the root, which the policy does not give out
  }
  void waiting(worker& self) override {
    const std::lock_guard lock(the_log.guard);
    note("waiting", self, "");
  }
  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason why) override {
    constexpr const char* reasons[] = {"creation", "completion", "arrival", "discovery"};
    const std::lock_guard lock(the_log.guard);
    std::string names = reasons[static_cast<std::size_t>(why)];
    // A task that was given back is queued.
    kith::task* const kept = keeps_ && why != kith::ready_reason::arrival && draw_.below(2) == 0
                                 ? tasks[draw_.below(static_cast<std::uint32_t>(tasks.size()))]
                                 : nullptr;
    for (kith::task* t : tasks) {
      names += (t == kept ? " *" : " ") + the_log.name_of(*t);
      if (t != kept) queued_.push_back(t);
    }
    note("ready", self, names);
    return kept;
  }
  kith::poll_result next(worker& self) override {
    kith::task* found = nullptr;
    kith::worker_id next_one;
    {
      const std::lock_guard lock(the_log.guard);
      // What it was given has ended, or waits. Natively a worker reports to the scopes of others after a search that
      // finds nothing, so another worker goes on only after the second one.
      if (self.id == running_ && (workers_ == 1 || std::exchange(has_searched_, !has_searched_))) draw_next();
      if (running_) return {kith::poll_result::empty};
      std::erase_if(queued_, [&](kith::task* t) { return self.drop_if_dead(*t); });
      if (queued_.empty()) return {kith::poll_result::empty};
      if (self.id == turn_) {
        const auto at = queued_.begin() + draw_.below(static_cast<std::uint32_t>(queued_.size()));
        found = *at;
        queued_.erase(at);
        running_ = self.id;
        note("gave", self, the_log.name_of(*found));
      } else {
        next_one = turn_;
      }
    }
    if (next_one) self.ring(kith::worker_set::only(next_one));
    return kith::poll_result::at(found, kith::poll_result::later);
  }

 private:
  void draw_next() {
    running_ = kith::worker_id();
    turn_ = kith::worker_id(static_cast<int>(draw_.below(workers_)));
  }
  void note(const std::string& call, const worker& self, const std::string& more) {
    the_log.calls.push_back(call + " by " + std::to_string(self.id.value) + " " + more);
  }

  std::uint32_t workers_, runs_ = 0;
  bool keeps_;
  kith::rng draw_{7, kith::purpose::test, 0};
  std::deque<kith::task*> queued_;
  kith::worker_id running_;    // the worker that was given the last task
  bool has_searched_ = false;  // since then, without finding anything
  kith::worker_id turn_{0};
};

/// Returns the first task from ready() whatever the reason is, so that a task that is given back is never queued.
template <class World>
class insistent final : public kith::policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr kith::policy_entry about{.name = "insistent-in-a-test",
                                            .paper = "",
                                            .section = "",
                                            .summary = "queues no task that came alone",
                                            .options = {},
                                            .priorities = false};

  insistent(const kith::policy_context& context, const kith::policy_options&)
      : everybody_(context.workers.everybody()) {}

  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason) override {
    {
      const std::lock_guard lock(guard_);
      queued_.insert(queued_.end(), tasks.begin() + 1, tasks.end());
    }
    if (tasks.size() > 1) self.ring(everybody_);
    return tasks.front();
  }
  kith::poll_result next(worker& self) override {
    const std::lock_guard lock(guard_);
    std::erase_if(queued_, [&](kith::task* t) { return self.drop_if_dead(*t); });
    if (queued_.empty()) return {kith::poll_result::empty};
    kith::task* const found = queued_.front();
    queued_.pop_front();
    return {kith::poll_result::found, found};
  }

 private:
  kith::worker_set everybody_;
  std::mutex guard_;
  std::deque<kith::task*> queued_;
};

/// A type for the task of this number.
kith::task_type type_of(int i) {
  static std::deque<kith::task_type> types = [] {
    std::deque<kith::task_type> all;
    for (int t = 0; t < 200; ++t) all.emplace_back(("parity" + std::to_string(t)).c_str());
    return all;
  }();
  return types[static_cast<std::size_t>(i)];
}

void data_flow(kith::runtime& rt) {
  static std::array<int, 5> data;
  rt.run([] {
    kith::rng draw(3, kith::purpose::test, 1);
    for (int i = 0; i < 60; ++i) {
      int& a = data[draw.below(5)];
      int& b = data[draw.below(5)];
      switch (draw.below(4)) {
        case 0: kith::spawn([] {}, kith::in(a), kith::out(b), type_of(i)); break;
        case 1: kith::spawn([] {}, kith::inout(a), type_of(i)); break;
        case 2: kith::spawn([] {}, kith::commutative(a), type_of(i)); break;
        default: kith::spawn([] {}, type_of(i)); break;
      }
    }
  });
}

/// Tasks that end after their children, without a wait for them; and a second run.
void left_children(kith::runtime& rt) {
  static int data;
  for (int run = 0; run < 2; ++run) {
    rt.run([run] {
      for (int i = 0; i < 6; ++i) {
        const int mine = run * 50 + i * 5;
        kith::spawn(
            [mine] {
              for (int c = 1; c < 4; ++c) kith::spawn([] {}, type_of(mine + c));
            },
            kith::inout(data), type_of(mine));
      }
    });
  }
}

/// Groups that are filled by their own tasks; only the root waits for them.
void filled_group(kith::runtime& rt) {
  rt.run([] {
    kith::group g;
    for (int i = 0; i < 5; ++i) {
      g.spawn(
          [&g, i] {
            for (int c = 1; c < 3; ++c) g.spawn([] {}, type_of(100 + i * 10 + c));
          },
          type_of(100 + i * 10));
    }
    g.wait();
  });
}

struct grid {
  using key = int;
  void predecessors(key k, kith::keys<key>& all) {
    if (k % 6 != 0) all.add(k - 1);
    if (k >= 6) all.add(k - 6);
  }
  void compute(key) {}
  kith::task_type type(key k) const { return type_of(k); }
};
void keyed(kith::runtime& rt) {
  rt.run([] {
    grid g;
    kith::explore(g, 35);
  });
}

void run_static_graph(kith::runtime& rt) {
  kith::static_graph g;
  for (std::size_t n = 0; n < 30; ++n) {
    g.add([] {}, type_of(static_cast<int>(n)));
    if (n > 2) g.edge(n - 3, n);
    if (n > 6) g.edge(n / 2, n);
  }
  rt.run([&] { g.run(); });
}

/// Parents whose children have priorities, or not. With `MayWait`, some wait for them, and may then claim those
/// without.
template <bool MayWait>
void prioritised(kith::runtime& rt) {
  static std::array<int, 3> data;
  constexpr kith::priority levels[] = {kith::priority::normal, kith::priority::high, kith::priority::low};
  rt.run([&] {
    kith::rng draw(5, kith::purpose::test, 1);
    for (int i = 0; i < 24; ++i) {
      const bool leveled = i % 3 != 0, waits = MayWait && draw.below(2) == 0;
      const auto parent = [=] {
        for (int c = 1; c < 5; ++c) {
          if (leveled) {
            kith::spawn([] {}, levels[static_cast<std::size_t>(c + i) % 3], type_of(i * 5 + c));
          } else {
            kith::spawn([] {}, type_of(i * 5 + c));
          }
        }
        if (waits) kith::wait();
      };
      const kith::priority own = levels[draw.below(3)];
      int& a = data[draw.below(3)];
      if (draw.below(2) == 0) {
        kith::spawn(parent, kith::inout(a), own, type_of(i * 5));
      } else {
        kith::spawn(parent, own, type_of(i * 5));
      }
    }
  });
}

void prioritised_graph(kith::runtime& rt) {
  constexpr kith::priority levels[] = {kith::priority::low, kith::priority::high, kith::priority::normal};
  kith::static_graph g;
  for (std::size_t n = 0; n < 30; ++n) {
    g.add([] {}, levels[n * 7 / 3 % 3], type_of(static_cast<int>(n)));
    if (n > 5) g.edge(n - 6, n);
    if (n > 6) g.edge(n / 3, n);
  }
  rt.run([&] { g.run(); });
}

/// A wait for tasks that have all ended is no wait for the policy.
void waits_for_nothing(kith::runtime& rt) {
  rt.run([] {
    for (int i = 0; i < 15; ++i) {
      kith::spawn([] {}, type_of(i));
      kith::wait();
      kith::wait();
    }
    kith::group g;
    g.wait();
  });
}

class parity : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(workers, parity, testing::Values(1, 2, 5));

/// `throttle`: how many unfinished tasks a creator may have; 0: more than these programs make.
void compare(void (*program)(kith::runtime&), int workers, const char* keeps, std::uint32_t throttle) {
  static const bool registered = (kith::register_policy<scripted>(), true);
  ASSERT_TRUE(registered);
  the_log.calls.clear();
  the_log.simulated = nullptr;
  kith::runtime_options o =
      kith::test::make_options(workers, std::string(scripted<kith::native::world>::about.name) + ":keeps=" + keeps);
  o.throttle = throttle;
  const recording r = kith::test::record(o, program);
  const std::vector<std::string> native = std::exchange(the_log.calls, {});
  the_log.simulated = &r;
  kith::sim::run_options s;
  s.policy = *o.policy;
  s.workers = workers;
  s.throttle = throttle;
  const kith::sim::result of_simulation =
      kith::sim::simulate(kith::sim::program_of(r), kith::model_by_name("bullion-s16-8"), s);
  const std::vector<std::string>& simulated = the_log.calls;
  EXPECT_EQ(of_simulation.throttled != 0, throttle != 0);
  ASSERT_GT(native.size(), 30u);
  std::size_t next = 0, reported = 0;  // the native call that the next simulated one is compared with; calls of ran()
  // Natively a worker is also idle between runs and when the program is over, and may stop looking twice in one wait.
  const auto skip_idle = [&](const std::string& unless) {
    while (next < native.size() && native[next].starts_with("idle") && native[next] != unless) ++next;
  };
  for (const std::string& call : simulated) {
    const bool reports = call.starts_with("ran");
    if (!reports) skip_idle(call);
    const bool same = next < native.size() && native[next] == call;
    if (!same && reports) continue;  // natively, one task in 17 is reported
    ASSERT_TRUE(same) << "call " << next << " of " << native.size() << ": natively "
                      << (next < native.size() ? native[next] : "there is none") << ", simulated " << call;
    reported += reports;
    ++next;
  }
  skip_idle("");
  EXPECT_EQ(next, native.size());
  EXPECT_GT(reported, 0u);
}

void compare(void (*program)(kith::runtime&), int workers, std::uint32_t throttle = 0) {
  for (const char* keeps : {"no", "yes"}) {
    SCOPED_TRACE(std::string("keeps=") + keeps + ", throttle=" + std::to_string(throttle));
    compare(program, workers, keeps, throttle);
  }
}

TEST_P(parity, of_data_flow) { compare(data_flow, GetParam()); }
TEST_P(parity, of_children_that_are_left) { compare(left_children, GetParam()); }
TEST_P(parity, of_a_group_that_its_tasks_fill) { compare(filled_group, GetParam()); }
TEST_P(parity, of_keyed_graphs) { compare(keyed, GetParam()); }
TEST_P(parity, of_static_graphs) { compare(run_static_graph, GetParam()); }
TEST_P(parity, of_priorities) {
  compare(prioritised<false>, GetParam());
  compare(prioritised_graph, GetParam());
}

/// Each makes the next one as its last act: run on top of each other, they would need more stack than there is.
void last_acts(kith::runtime& rt) {
  struct link {
    static void run(int left) {
      if (left > 0) kith::spawn([left] { run(left - 1); });
    }
  };
  rt.run([] { link::run(20000); });
}

// One worker: while a task runs on after a wait, the script does not know that it does.
TEST(parity_of_one_worker, of_waits_for_nothing) { compare(waits_for_nothing, 1); }
TEST(parity_of_one_worker, of_waits_for_children_with_priorities) { compare(prioritised<true>, 1); }

// One worker: with several, timing decides how long a creator helps while another worker runs a task. No task waits
// inside: a wait that is over continues in a simulation while its worker helps, and natively afterwards.
TEST(parity_of_one_worker, of_creators_at_the_throttle) {
  for (const std::uint32_t throttle : {1u, 2u, 3u, 5u}) {
    for (const auto program : {data_flow, left_children, filled_group}) compare(program, 1, throttle);
  }
}

TEST_P(parity, of_a_policy_that_queues_no_task_that_came_alone) {
  static const bool registered = (kith::register_policy<insistent>(), true);
  ASSERT_TRUE(registered);
  for (const auto program : {data_flow, left_children, filled_group, keyed, run_static_graph, last_acts}) {
    kith::runtime_options o = kith::test::make_options(GetParam(), insistent<kith::native::world>::about.name);
    const recording r = kith::test::record(o, program);
    ASSERT_GT(r.tasks.size(), 15u);
    kith::sim::run_options s;
    s.policy = *o.policy;
    s.workers = GetParam();
    const kith::sim::result simulated =
        kith::sim::simulate(kith::sim::program_of(r), kith::model_by_name("bullion-s16-8"), s);
    const auto ran = std::ranges::count_if(r.tasks, [](const kith::recorded_task& t) {
      return !t.has(kith::recorded_task::root) && !t.has(kith::recorded_task::fence);
    });
    EXPECT_EQ(simulated.total.tasks, static_cast<std::uint64_t>(ran));
  }
}

}  // namespace
