// A policy that throws from ready(), next() or waiting(), for example because it has no memory for its queue.
#include "policy/contract/register_policy.hpp"
#include "policy/worker_queues.hpp"
#include "support/workers.hpp"

#include <kith/kith.hpp>

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

namespace {

using kith::test::make_options;
using testing::ThrowsMessage;

std::atomic<bool> waited{false};   // somebody has called waiting()
std::atomic<bool> members{false};  // what becomes ready was created in a group by its members
std::atomic<int> vain_looks{-1};   // of worker 0, before next() throws there; below 0: it does not

/// With armed=on, throws once, when it has queued several tasks that the end of another one has made ready, with
/// armed=found, when it has queued the first nodes of a graph; with armed=waits, whenever a task waits; with
/// armed=full, std::bad_alloc for every other new task, also of members of a group, which it does not queue; with
/// armed=search, from next() on worker 0, after so many vain_looks. Other tests run every policy with its defaults.
template <class World>
class throws_once final : public kith::policy<World> {
 public:
  using worker = typename World::worker;

  static constexpr std::array options{kith::one_of("armed", "off|on|found|waits|full|search", "when it throws")};
  static constexpr kith::policy_entry about{
      .name = "throws-once", .summary = "throws once from ready()", .options = options};

  throws_once(const kith::policy_context& context, const kith::policy_options& given)
      : queues_(context, kith::queue_order::fifo, true),
        throws_(given.is("armed", "on") || given.is("armed", "found")),
        at_(given.is("armed", "on") ? kith::ready_reason::completion : kith::ready_reason::discovery),
        throws_at_waits_(given.is("armed", "waits")),
        full_(given.is("armed", "full")),
        throws_in_search_(given.is("armed", "search")) {}

  kith::task* ready(std::span<kith::task* const> tasks, worker& self, kith::ready_reason why) override {
    const bool is_new = why == kith::ready_reason::creation || members.load();
    if (full_ && is_new && ++created_ % 2 == 0) throw std::bad_alloc();
    for (kith::task* t : tasks) queues_[0].push(*t, self);
    if (tasks.size() > 1 && why == at_ && std::exchange(throws_, false))
      throw std::runtime_error("no room in the queue");
    return nullptr;
  }
  kith::poll_result next(worker& self) override {
    if (throws_in_search_ && self.id.value == 0 && vain_looks >= 0) {
      if (vain_looks-- == 0) throw std::runtime_error("no room to look");
      return {kith::poll_result::later};
    }
    return queues_.next(self);
  }
  void waiting(worker&) override {
    waited.store(true);
    if (throws_at_waits_) throw std::runtime_error("no room to wait");
  }

 private:
  kith::worker_queues<World> queues_;
  bool throws_;
  kith::ready_reason at_;
  bool throws_at_waits_, full_, throws_in_search_;
  std::atomic<int> created_{0};
};

void register_it() {
  static const bool registered = (kith::register_policy<throws_once>(), true);
  ASSERT_TRUE(registered);
}

TEST(throwing_policy, its_exception_arrives_at_the_wait_and_no_task_is_lost) {
  register_it();
  kith::runtime rt(make_options(1, "throws-once:armed=on"));  // another worker has no wait at which it could arrive
  std::array<int, 5> ran{};
  int cell = 0;
  rt.run([&] {
    kith::spawn([&] { ++ran[0]; }, kith::out(cell));
    for (std::size_t i = 1; i < 4; ++i) kith::spawn([&ran, i] { ++ran[i]; }, kith::in(cell));
    EXPECT_THAT([] { kith::wait(); }, ThrowsMessage<std::runtime_error>("no room in the queue"));
    kith::spawn([&] { ++ran[4]; });  // behind the others in the queue
    kith::wait();
  });
  EXPECT_THAT(ran, testing::Each(1));
  EXPECT_EQ(rt.statistics().total.tasks, 5u);

  rt.run([&] {  // and everything goes on as before, also where several tasks become ready
    kith::spawn([&] { ++ran[0]; }, kith::out(cell));
    for (std::size_t i = 1; i < 5; ++i) kith::spawn([&ran, i] { ++ran[i]; }, kith::in(cell));
  });
  EXPECT_THAT(ran, testing::Each(2));
}

TEST(throwing_policy, a_task_for_which_there_is_no_room_runs_at_its_creation) {
  register_it();
  for (const int workers : {1, 3}) {
    kith::runtime_options o = make_options(workers, "throws-once:armed=full");
    o.inline_limit = 0;
    kith::runtime rt(o);
    std::atomic<int> ran{0};
    rt.run([&] {
      int cell = 0;
      for (int i = 0; i < 50; ++i) kith::spawn([&] { ++ran; }, kith::inout(cell));
      for (int i = 0; i < 50; ++i) kith::spawn([&] { ++ran; });
      if (workers == 1) {  // no other worker runs what is queued
        EXPECT_EQ(ran, 25);
      }
      kith::wait();
    });
    EXPECT_EQ(ran, 100);
  }
}

TEST(throwing_policy, a_member_of_a_group_for_which_there_is_no_room_runs_at_its_creation) {
  register_it();
  kith::runtime rt(make_options(1, "throws-once:armed=full"));
  int ran = 0, at_creation = 0;
  rt.run([&] {
    kith::group g;
    g.spawn([&] {
      members = true;
      for (int i = 0; i < 50; ++i) g.spawn([&] { ++ran; });
      at_creation = ran;
      members = false;
    });
    g.wait();
  });
  EXPECT_EQ(ran, 50);
  EXPECT_EQ(at_creation, 25);
}

/// A task that ends once a task waits for it, on whatever worker.
void end_when_waited() {
  while (!waited.load()) std::this_thread::yield();
}

/// Nodes above 0 wait for node 0.
struct wide_graph {
  using key = int;
  void predecessors(int k, kith::keys<int>& all) const {
    if (k > 0) all.add(0);
  }
  void compute(int) { ++computed; }
  int computed = 0;
};

TEST(throwing_policy, its_exception_fails_a_graph_whose_nodes_then_end) {
  register_it();
  const std::array wanted{1, 2, 3, 4, 5};
  for (const auto& [policy, computed] : {std::pair{"throws-once:armed=on", 1}, {"throws-once:armed=found", 0}}) {
    kith::runtime rt(make_options(1, policy));
    rt.run([&] {
      wide_graph first, second;
      EXPECT_THAT([&] { kith::explore(first, std::span<const int>(wanted)); },
                  ThrowsMessage<std::runtime_error>("no room in the queue"));
      EXPECT_EQ(first.computed, computed) << "the others are skipped";
      EXPECT_EQ(kith::explore(second, std::span<const int>(wanted)).nodes, 6u);
      EXPECT_EQ(second.computed, 6);
    });
  }
}

/// On any worker, an exception of waiting() is thrown where tasks are waited for, and nothing is left behind.
TEST(throwing_policy, its_exception_at_a_wait_arrives_there) {
  register_it();
  for (const int workers : {1, 3}) {
    kith::runtime rt(make_options(workers, "throws-once:armed=waits"));
    const auto expect_throws = [](const auto& f) {
      waited.store(false);
      EXPECT_THROW(f(), std::runtime_error);
    };
    expect_throws([&] { rt.run([] { kith::spawn(end_when_waited); }); });
    rt.run([&] {
      expect_throws([] {
        kith::spawn(end_when_waited);
        kith::wait();
      });
      expect_throws([] {
        kith::group g;
        g.spawn(end_when_waited);
        g.wait();
      });
    });
    expect_throws(
        [&] { rt.run([] { kith::spawn([] { kith::spawn(end_when_waited); }); }); });  // a body leaves its child
    expect_throws([&] {
      rt.run([] {
        kith::group g;
        g.spawn(end_when_waited);
      });
    });
  }
}

/// Wherever a search ends by an exception, its worker no longer counts as one that looks or sleeps: the wake for the
/// next task goes to another one, and busy time is counted once.
TEST(throwing_policy, its_exception_in_a_search_leaves_the_worker_awake) {
  using clock = std::chrono::steady_clock;
  register_it();
  for (int looks = 0; looks < 12 && !HasFailure(); ++looks) {  // before the worker announces its sleep, and after that
    kith::runtime_options o = make_options(3, "throws-once:armed=search");
    o.spin = 0;
    o.awake = 0;  // else a worker may sleep although the policy has answered `later`
    o.inline_limit = 0;
    std::atomic<bool> began{false}, may_end{false}, ran{false};  // outlive the first task, for which nothing waits
    kith::runtime rt(o);
    const auto start = clock::now();
    rt.run([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // busy
      kith::spawn([&] {
        began = true;
        while (!may_end.load()) std::this_thread::yield();
      });
      while (!began.load()) std::this_thread::yield();
      vain_looks = looks;
      EXPECT_THAT([] { kith::wait(); }, ThrowsMessage<std::runtime_error>("no room to look"));
      kith::spawn([&] { ran = true; });
      const auto end = clock::now() + std::chrono::seconds(20);
      while (!ran.load() && clock::now() < end) std::this_thread::yield();
      EXPECT_TRUE(ran) << "nobody was woken; looks: " << looks;
      may_end = true;
      kith::wait();
    });
    const std::chrono::duration<double> took = clock::now() - start;
    EXPECT_LE(rt.statistics().workers[0].busy_seconds, took.count() + 0.0025) << looks;  // 5 ms would count twice
  }
}

}  // namespace
